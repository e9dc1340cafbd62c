package run

import (
	"math"
	"math/big"
	"time"

	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

// foldSteps bounds the work of constant folding for a whole template.
const foldSteps = 200_000

// The original computes constant expressions at compile time (constant folding). The rules differ slightly from those
// at run time: invalid slices are undefined, concatenation loses Markup, and infinity is an unknown name. An expression
// whose folding fails is evaluated at run time.

// fold evaluates a constant expression; false if that is not possible.
func (c *compiler) fold(n syntax.Node, f *frame) (v py.Value, r *render, ok bool) {
	if c.folding || c.foldSteps <= 0 || !c.mayFold(n) {
		return nil, nil, false
	}
	line := c.line
	limits := py.Limits{Steps: max(1, min(20_000, c.foldSteps)), Memory: 64 << 10, Depth: 150, Time: time.Second}
	r = newRender(limits, c.opts.Marks, nil)
	defer func() {
		c.folding, c.line = false, line
		c.foldSteps -= limits.Steps - max(0, r.Left())
		if p := recover(); p != nil {
			if e, ok := p.(*py.Error); ok && e.Kind == assertionError {
				panic(p)
			}
			v, ok = nil, false
		}
	}()
	c.folding = true
	value := c.expr(n, f)
	r.Autoescape = c.autoescape
	return value(r, &env{}), r, true
}

// folded returns the text of a printed constant.
func (c *compiler) folded(n syntax.Node, f *frame) (text string, ok bool) {
	v, r, ok := c.fold(n, f)
	if !ok {
		return "", false
	}
	err := py.Try(func() {
		if c.autoescape {
			text = string(py.Escape(r.Budget, v))
		} else {
			text = py.Str(r.Budget, v)
		}
	})
	return text, err == nil
}

// foldedExpr returns a folded expression. Only values that the original can write into its program are folded.
func (c *compiler) foldedExpr(n syntax.Node, f *frame) (expr, bool) {
	switch n.(type) {
	case *syntax.Bin, *syntax.Unary, *syntax.Compare, *syntax.Concat, *syntax.GetAttr, *syntax.GetItem,
		*syntax.Filter, *syntax.Test, *syntax.Cond:
	default:
		return nil, false
	}
	if c.volatile {
		return nil, false
	}
	v, _, ok := c.fold(n, f)
	if !ok {
		return nil, false
	}
	switch x := v.(type) {
	case nil, bool, int64, *big.Int, string, py.Markup, *py.Range:
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return func(*render, *env) py.Value {
				py.Raise("NameError", "%s is no constant", py.FloatRepr(x))
				return nil
			}, true
		}
	default: // a template may change lists and dictionaries
		return nil, false
	}
	return func(*render, *env) py.Value { return v }, true
}

// contextFilters cannot be folded.
var contextFilters = map[string]bool{
	"map": true, "select": true, "reject": true, "selectattr": true, "rejectattr": true, "random": true,
}

// notConstant is the panic that ends the folding of an expression that is not constant.
type notConstant struct{}

// depends reports whether an expression cannot be folded, whatever its operands are. Filters and tests cannot be folded
// if escaping is known only at run time.
func (c *compiler) depends(n syntax.Node) bool {
	switch x := n.(type) {
	case *syntax.Name, *syntax.Call:
		return true
	case *syntax.Filter:
		return c.volatile || x.Obj == nil || contextFilters[x.Name]
	case *syntax.Test:
		return c.volatile
	}
	return false
}

// depends is the code of an expression that cannot be folded.
func depends(*render, *env) py.Value { panic(notConstant{}) }

// mayFold reports whether folding may succeed: the expression is constant, or its variable parts may not be evaluated.
// Reading the tree counts as work.
func (c *compiler) mayFold(n syntax.Node) bool {
	named, lazy := false, false
	syntax.Walk(n, func(x syntax.Node) bool {
		c.foldSteps--
		switch y := x.(type) {
		case *syntax.Name, *syntax.Call:
			named = true
		case *syntax.Cond:
			lazy = true
		case *syntax.Compare:
			lazy = lazy || len(y.Ops) > 1
		case *syntax.Bin:
			lazy = lazy || y.Op == "and" || y.Op == "or"
		}
		return !named || !lazy
	})
	return !named || lazy
}

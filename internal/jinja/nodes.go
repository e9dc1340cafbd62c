package jinja

import "github.com/iris-oncall/iris/internal/jinja/py"

// node is a part of a parsed template.
type node interface {
	lineno() int
	children() []node
}

type at int

func (a at) lineno() int { return int(a) }

// How a name is used.
const (
	ctxLoad  = "load"
	ctxStore = "store"
	ctxParam = "param"
)

// Expressions.
type (
	nameNode struct {
		at
		name, ctx string
	}
	nsRefNode struct { // ns.attr as a target of set
		at
		name, attr string
	}
	constNode struct {
		at
		value py.Value
	}
	dataNode struct {
		at
		text string
	}
	tupleNode struct {
		at
		items []node
	}
	listNode struct {
		at
		items []node
	}
	pairNode struct{ key, value node }
	dictNode struct {
		at
		pairs []pairNode
	}
	condNode struct {
		at
		test, yes, no node // no may be nil
	}
	binNode struct {
		at
		op          string // + - * / // % ** and or
		left, right node
	}
	unaryNode struct {
		at
		op      string // + - not
		operand node
	}
	operand struct {
		op   string // == != < <= > >= in notin
		expr node
	}
	compareNode struct {
		at
		expr node
		ops  []operand
	}
	concatNode struct {
		at
		items []node
	}
	getattrNode struct {
		at
		obj  node
		attr string
	}
	getitemNode struct {
		at
		obj, arg node // arg may be a sliceNode
	}
	sliceNode struct {
		at
		start, stop, step node // each may be nil
	}
	keyword struct {
		name  string
		value node
	}
	// callArgs are the arguments of calls, filters and tests.
	callArgs struct {
		args     []node
		kwargs   []keyword
		dynArgs  node
		dynKwarg node
	}
	callNode struct {
		at
		fn node
		callArgs
	}
	filterNode struct {
		at
		obj  node // nil inside filter blocks and block assignments
		name string
		callArgs
	}
	testNode struct {
		at
		obj  node
		name string
		callArgs
	}
)

// Statements.
type (
	outputNode struct {
		at
		items []node
	}
	forNode struct {
		at
		target, iter node
		body, orelse []node
		test         node // may be nil
		recursive    bool
	}
	ifNode struct {
		at
		test   node
		body   []node
		elifs  []*ifNode
		orelse []node
	}
	macroNode struct {
		at
		name     string // "" for call blocks
		args     []*nameNode
		defaults []node // of the last arguments
		body     []node
	}
	callBlockNode struct {
		at
		call  *callNode
		macro *macroNode // the caller
	}
	filterBlockNode struct {
		at
		filter *filterNode
		body   []node
	}
	withNode struct {
		at
		targets, values []node
		body            []node
	}
	assignNode struct {
		at
		target, value node
	}
	assignBlockNode struct {
		at
		target node
		filter *filterNode // may be nil
		body   []node
	}
	autoescapeNode struct {
		at
		value node
		body  []node
	}
	templateNode struct {
		at
		body []node
	}
)

// The children of a node, in the order in which names are looked for.

func (n *nameNode) children() []node  { return nil }
func (n *nsRefNode) children() []node { return nil }
func (n *constNode) children() []node { return nil }
func (n *dataNode) children() []node  { return nil }
func (n *tupleNode) children() []node { return n.items }
func (n *listNode) children() []node  { return n.items }
func (n *dictNode) children() []node {
	var out []node
	for _, p := range n.pairs {
		out = append(out, p.key, p.value)
	}
	return out
}
func (n *condNode) children() []node  { return some(n.test, n.yes, n.no) }
func (n *binNode) children() []node   { return []node{n.left, n.right} }
func (n *unaryNode) children() []node { return []node{n.operand} }
func (n *compareNode) children() []node {
	out := []node{n.expr}
	for _, o := range n.ops {
		out = append(out, o.expr)
	}
	return out
}
func (n *concatNode) children() []node  { return n.items }
func (n *getattrNode) children() []node { return []node{n.obj} }
func (n *getitemNode) children() []node { return []node{n.obj, n.arg} }
func (n *sliceNode) children() []node   { return some(n.start, n.stop, n.step) }

func (c *callArgs) nodes() []node {
	out := append([]node(nil), c.args...)
	for _, k := range c.kwargs {
		out = append(out, k.value)
	}
	return append(out, some(c.dynArgs, c.dynKwarg)...)
}
func (n *callNode) children() []node   { return append([]node{n.fn}, n.nodes()...) }
func (n *filterNode) children() []node { return append(some(n.obj), n.nodes()...) }
func (n *testNode) children() []node   { return append([]node{n.obj}, n.nodes()...) }

func (n *outputNode) children() []node { return n.items }
func (n *forNode) children() []node {
	return join([]node{n.target, n.iter}, n.body, n.orelse, some(n.test))
}
func (n *ifNode) children() []node {
	out := join([]node{n.test}, n.body)
	for _, e := range n.elifs {
		out = append(out, e)
	}
	return append(out, n.orelse...)
}
func (n *macroNode) children() []node {
	var args []node
	for _, a := range n.args {
		args = append(args, a)
	}
	return join(args, n.defaults, n.body)
}
func (n *callBlockNode) children() []node {
	return append([]node{n.call}, n.macro.children()...)
}
func (n *filterBlockNode) children() []node { return join(n.body, []node{n.filter}) }
func (n *withNode) children() []node        { return join(n.targets, n.values, n.body) }
func (n *assignNode) children() []node      { return []node{n.target, n.value} }
func (n *assignBlockNode) children() []node {
	out := []node{n.target}
	if n.filter != nil {
		out = append(out, n.filter)
	}
	return append(out, n.body...)
}
func (n *autoescapeNode) children() []node { return join([]node{n.value}, n.body) }
func (n *templateNode) children() []node   { return n.body }

func some(nodes ...node) []node {
	var out []node
	for _, n := range nodes {
		if n != nil {
			out = append(out, n)
		}
	}
	return out
}

func join(lists ...[]node) []node {
	var out []node
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// walk calls f for n and everything below it, until f returns false for a node, whose children are then left out.
func walk(n node, f func(node) bool) {
	if !f(n) {
		return
	}
	for _, c := range n.children() {
		walk(c, f)
	}
}

// undeclared returns those of names that nodes read without having declared them before, in reading order.
func undeclared(nodes []node, names ...string) map[string]bool {
	open := map[string]bool{}
	for _, n := range names {
		open[n] = true
	}
	found := map[string]bool{}
	for _, n := range nodes {
		walk(n, func(n node) bool {
			if name, ok := n.(*nameNode); ok && open[name.name] {
				if name.ctx == ctxLoad {
					found[name.name] = true
				} else {
					delete(open, name.name)
				}
			}
			return true
		})
	}
	return found
}

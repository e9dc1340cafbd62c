package run

import (
	"github.com/iris-oncall/iris/jinja/internal/builtins"
	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

func (c *compiler) assignBlock(n *syntax.AssignBlock, f *frame) stmt {
	store := c.target(n.Target, f)
	return c.captured(n, n.Body, n.Filter, f, func(r *render, e *env, v py.Value) {
		if r.Autoescape {
			v = builtins.ToMarkup(r.Budget, v)
		}
		store(r, e, v)
	})
}

func (c *compiler) filterBlock(n *syntax.FilterBlock, f *frame) stmt {
	return c.captured(n, n.Body, n.Filter, f, func(r *render, _ *env, v py.Value) { r.writeValue(v) })
}

// captured compiles a block that collects its text. by filters the text, unless it is nil; then use gets the text.
func (c *compiler) captured(n syntax.Node, nodes []syntax.Node, by *syntax.Filter, f *frame, use func(*render, *env, py.Value)) stmt {
	in := f.inner()
	in.visitAll(nodes)
	if by != nil {
		in.visit(by)
	}
	enter, body := c.enter(in), c.block(nodes, in)
	line := c.mark(n)
	var filter expr
	if by != nil {
		filter = c.filter(by, in)
	}
	leave, escapes := c.leave(in), c.escapes()
	return func(r *render, e *env) {
		enter(r, e)
		text := r.capture(line, func() { body(r, e) })
		v := py.Value(text)
		if filter != nil {
			r.filterInput = py.MarkupIf(escapes(r), text)
			v = filter(r, e)
		}
		use(r, e, v)
		leave(r, e)
	}
}

func (c *compiler) with(n *syntax.With, f *frame) stmt {
	in := f.inner()
	in.visitAll(n.Targets)
	in.visitAll(n.Body)
	enter := c.enter(in)
	line := c.line
	var sets []stmt
	for i := range n.Targets {
		store, value := c.target(n.Targets[i], in), c.expr(n.Values[i], f)
		sets = append(sets, func(r *render, e *env) { store(r, e, value(r, e)) })
	}
	body, leave := c.block(n.Body, in), c.leave(in)
	return func(r *render, e *env) {
		enter(r, e)
		r.line = line
		for _, s := range sets {
			s(r, e)
		}
		body(r, e)
		leave(r, e)
	}
}

func (c *compiler) autoescapeBlock(n *syntax.Autoescape, f *frame) stmt {
	in := f.inner()
	in.visit(n.Value)
	in.visitAll(n.Body)
	enter := c.enter(in)
	line, savedOn, savedVolatile := c.line, c.autoescape, c.volatile
	value := c.expr(n.Value, in)
	if v, r, ok := c.fold(n.Value, in); ok {
		c.autoescape = py.Truth(r.Budget, v)
	} else {
		c.volatile = true
	}
	body := c.block(n.Body, in)
	c.autoescape, c.volatile = savedOn, savedVolatile
	leave := c.leave(in)
	return func(r *render, e *env) {
		enter(r, e)
		saved := r.Autoescape
		r.line = line
		r.Autoescape = py.Truth(r.Budget, value(r, e))
		body(r, e)
		r.Autoescape = saved
		leave(r, e)
	}
}

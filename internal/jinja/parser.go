package jinja

import (
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// maxNesting bounds brackets within brackets and blocks within blocks of a source.
const maxNesting = 100

// parser builds the tree of a template by recursive descent. It fails by panicking with *Error.
type parser struct {
	tokens []token
	i      int
	tags   []string   // open tags, innermost last
	ends   [][]string // what the open blocks wait for
	depth  int
}

func parse(src string) (tree *templateNode, err *Error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			tree, err = nil, e
		}
	}()
	p := &parser{tokens: tokenize(src)}
	p.raiseAt(0)
	body := p.subparse()
	return &templateNode{at: 1, body: body}, nil
}

func (p *parser) raiseAt(i int) {
	if t := p.tokens[i]; t.kind == tokError {
		panic(t.err)
	}
}

func (p *parser) cur() token { return p.tokens[p.i] }

// next returns the current token and moves on.
func (p *parser) next() token {
	t := p.tokens[p.i]
	if t.kind != tokEOF {
		p.i++
		p.raiseAt(p.i)
	}
	return t
}

// look returns the token after the current one.
func (p *parser) look() token {
	if p.cur().kind == tokEOF {
		return p.cur()
	}
	p.raiseAt(p.i + 1)
	return p.tokens[p.i+1]
}

func (p *parser) skipIf(expr string) bool {
	if !p.cur().is(expr) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(expr string) token {
	t := p.cur()
	if !t.is(expr) {
		want := py.Quote(describeExpr(expr))
		if t.kind == tokEOF {
			p.failAt(t.line, "unexpected end of template, expected %s.", want)
		}
		p.failAt(t.line, "expected token %s, got %s", want, py.Quote(t.describe()))
	}
	return p.next()
}

func (p *parser) failAt(line int, format string, args ...any) {
	panic(syntaxError(line, format, args...))
}

func (p *parser) fail(format string, args ...any) { p.failAt(p.cur().line, format, args...) }

// enter bounds the recursion; leave is deferred.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		panic(&Error{Kind: py.LimitError, Message: "the template is nested too deeply", Line: p.cur().line})
	}
}

func (p *parser) leave() { p.depth-- }

// failBlock reports an unknown tag, or with name "" the end of the template, where a block waits for its end.
func (p *parser) failBlock(name string, ends [][]string, line int) {
	var looking []string
	expected := false
	for i, end := range ends {
		for _, e := range end {
			if describeExpr(e) == name {
				expected = true
			}
			if i == len(ends)-1 {
				looking = append(looking, py.Quote(describeExpr(e)))
			}
		}
	}
	msg := []string{"Unexpected end of template."}
	if name != "" {
		msg[0] = "Encountered unknown tag " + py.Quote(name) + "."
	}
	if looking != nil {
		list := strings.Join(looking, " or ")
		if name != "" && expected {
			msg = append(msg, "You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for "+list+".")
		} else {
			msg = append(msg, "Jinja was looking for the following tags: "+list+".")
		}
	}
	if n := len(p.tags); n > 0 {
		msg = append(msg, "The innermost block that needs to be closed is "+py.Quote(p.tags[n-1])+".")
	}
	p.failAt(line, "%s", strings.Join(msg, " "))
}

// subparse reads text and tags until one of the end tags is the current token, or the end of the template.
func (p *parser) subparse(ends ...string) []node {
	p.enter()
	defer p.leave()
	if ends != nil {
		p.ends = append(p.ends, ends)
		defer func() { p.ends = p.ends[:len(p.ends)-1] }()
	}
	var body, out []node
	flush := func() {
		if out != nil {
			body = append(body, &outputNode{at: at(out[0].lineno()), items: out})
			out = nil
		}
	}
	for {
		switch t := p.cur(); t.kind {
		case tokEOF:
			flush()
			return body
		case tokData:
			out = append(out, &dataNode{at: at(t.line), text: t.text})
			p.next()
		case tokVariableBegin:
			p.next()
			out = append(out, p.parseTuple(tupleOptions{condexpr: true}))
			p.expect(tokVariableEnd)
		default:
			flush()
			p.next()
			if ends != nil && p.cur().isAny(ends...) {
				return body
			}
			body = append(body, p.parseStatement())
			p.expect(tokBlockEnd)
		}
	}
}

// parseStatements reads the body of a block up to one of ends, which is the current token afterwards; with drop it is
// passed over.
func (p *parser) parseStatements(drop bool, ends ...string) []node {
	p.skipIf(":")
	p.expect(tokBlockEnd)
	body := p.subparse(ends...)
	if p.cur().kind == tokEOF {
		p.failBlock("", append(p.ends[:len(p.ends):len(p.ends)], ends), p.cur().line)
	}
	if drop {
		p.next()
	}
	return body
}

func (p *parser) parseStatement() node {
	t := p.cur()
	if t.kind != tokName {
		p.failAt(t.line, "tag name expected")
	}
	parse, ok := map[string]func(*parser) node{
		"for": (*parser).parseFor, "if": (*parser).parseIf, "print": (*parser).parsePrint, "macro": (*parser).parseMacro,
		"set": (*parser).parseSet, "with": (*parser).parseWith, "autoescape": (*parser).parseAutoescape,
		"call": (*parser).parseCallBlock, "filter": (*parser).parseFilterBlock,
	}[t.text]
	if !ok {
		p.failBlock(t.text, p.ends, t.line)
	}
	p.tags = append(p.tags, t.text)
	n := parse(p)
	p.tags = p.tags[:len(p.tags)-1]
	return n
}

func (p *parser) parsePrint() node {
	n := &outputNode{at: at(p.next().line)}
	for p.cur().kind != tokBlockEnd {
		if n.items != nil {
			p.expect(",")
		}
		n.items = append(n.items, p.parseExpression(true))
	}
	return n
}

func (p *parser) parseSet() node {
	line := p.next().line
	target := p.parseAssignTarget(targetOptions{namespace: true})
	if p.skipIf("=") {
		return &assignNode{at: at(line), target: target, value: p.parseTuple(tupleOptions{condexpr: true})}
	}
	n := &assignBlockNode{at: at(line), target: target}
	if f := p.parseFilter(nil, false); f != nil {
		n.filter = f.(*filterNode)
	}
	n.body = p.parseStatements(true, "name:endset")
	return n
}

func (p *parser) parseFor() node {
	n := &forNode{at: at(p.expect("name:for").line)}
	n.target = p.parseAssignTarget(targetOptions{})
	p.expect("name:in")
	n.iter = p.parseTuple(tupleOptions{})
	if p.skipIf("name:if") {
		n.test = p.parseExpression(true)
	}
	n.recursive = p.skipIf("name:recursive")
	n.body = p.parseStatements(false, "name:endfor", "name:else")
	if p.next().text != "endfor" {
		n.orelse = p.parseStatements(true, "name:endfor")
	}
	return n
}

func (p *parser) parseIf() node {
	result := &ifNode{at: at(p.expect("name:if").line)}
	n := result
	for {
		n.test = p.parseTuple(tupleOptions{})
		n.body = p.parseStatements(false, "name:elif", "name:else", "name:endif")
		t := p.next()
		if t.is("name:elif") {
			n = &ifNode{at: at(p.cur().line)}
			result.elifs = append(result.elifs, n)
			continue
		}
		if t.is("name:else") {
			result.orelse = p.parseStatements(true, "name:endif")
		}
		return result
	}
}

func (p *parser) parseWith() node {
	n := &withNode{at: at(p.next().line)}
	for p.cur().kind != tokBlockEnd {
		if n.targets != nil {
			p.expect(",")
		}
		target := p.parseAssignTarget(targetOptions{})
		setCtx(target, ctxParam)
		n.targets = append(n.targets, target)
		p.expect("=")
		n.values = append(n.values, p.parseExpression(true))
	}
	n.body = p.parseStatements(true, "name:endwith")
	return n
}

func (p *parser) parseAutoescape() node {
	n := &autoescapeNode{at: at(p.next().line)}
	n.value = p.parseExpression(true)
	n.body = p.parseStatements(true, "name:endautoescape")
	return n
}

func (p *parser) parseSignature(m *macroNode) {
	p.expect("(")
	for p.cur().kind != ")" {
		if m.args != nil {
			p.expect(",")
		}
		arg := p.parseAssignTarget(targetOptions{nameOnly: true}).(*nameNode)
		arg.ctx = ctxParam
		if p.skipIf("=") {
			m.defaults = append(m.defaults, p.parseExpression(true))
		} else if m.defaults != nil {
			p.fail("non-default argument follows default argument")
		}
		m.args = append(m.args, arg)
	}
	p.expect(")")
}

func (p *parser) parseMacro() node {
	n := &macroNode{at: at(p.next().line)}
	n.name = p.parseAssignTarget(targetOptions{nameOnly: true}).(*nameNode).name
	p.parseSignature(n)
	n.body = p.parseStatements(true, "name:endmacro")
	return n
}

func (p *parser) parseCallBlock() node {
	line := p.next().line
	n := &callBlockNode{at: at(line), macro: &macroNode{at: at(line)}}
	if p.cur().kind == "(" {
		p.parseSignature(n.macro)
	}
	call, ok := p.parseExpression(true).(*callNode)
	if !ok {
		p.failAt(line, "expected call")
	}
	n.call = call
	n.macro.body = p.parseStatements(true, "name:endcall")
	return n
}

func (p *parser) parseFilterBlock() node {
	n := &filterBlockNode{at: at(p.next().line)}
	n.filter = p.parseFilter(nil, true).(*filterNode)
	n.body = p.parseStatements(true, "name:endfilter")
	return n
}

type targetOptions struct {
	nameOnly  bool
	namespace bool
}

func (p *parser) parseAssignTarget(o targetOptions) node {
	var target node
	if o.nameOnly {
		t := p.expect(tokName)
		target = &nameNode{at: at(t.line), name: t.text, ctx: ctxStore}
	} else {
		target = p.parseTuple(tupleOptions{simplified: true, namespace: o.namespace})
		setCtx(target, ctxStore)
	}
	if !canAssign(target) {
		p.failAt(target.lineno(), "can't assign to %s", py.Quote(className(target)))
	}
	return target
}

func setCtx(n node, ctx string) {
	switch x := n.(type) {
	case *nameNode:
		x.ctx = ctx
	case *tupleNode:
		for _, it := range x.items {
			setCtx(it, ctx)
		}
	}
}

func canAssign(n node) bool {
	switch x := n.(type) {
	case *nameNode:
		switch x.name {
		case "true", "false", "none", "True", "False", "None":
			return false
		}
		return true
	case *nsRefNode:
		return true
	case *tupleNode:
		for _, it := range x.items {
			if !canAssign(it) {
				return false
			}
		}
		return true
	}
	return false
}

func className(n node) string {
	switch n.(type) {
	case *nameNode:
		return "name"
	case *constNode:
		return "const"
	case *tupleNode:
		return "tuple"
	case *listNode:
		return "list"
	case *dictNode:
		return "dict"
	}
	return "expr"
}

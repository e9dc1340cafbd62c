package jinja

import (
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// Expressions, from the loosest to the tightest binding.

func (p *parser) parseExpression(condexpr bool) node {
	p.enter()
	defer p.leave()
	if condexpr {
		return p.parseCondExpr()
	}
	return p.parseOr()
}

func (p *parser) parseCondExpr() node {
	line := p.cur().line
	expr := p.parseOr()
	for p.skipIf("name:if") {
		n := &condNode{at: at(line), yes: expr, test: p.parseOr()}
		if p.skipIf("name:else") {
			p.enter()
			n.no = p.parseCondExpr()
			p.leave()
		}
		expr = n
		line = p.cur().line
	}
	return expr
}

func (p *parser) parseOr() node {
	line := p.cur().line
	left := p.parseAnd()
	for p.skipIf("name:or") {
		left = &binNode{at: at(line), op: "or", left: left, right: p.parseAnd()}
		line = p.cur().line
	}
	return left
}

func (p *parser) parseAnd() node {
	line := p.cur().line
	left := p.parseNot()
	for p.skipIf("name:and") {
		left = &binNode{at: at(line), op: "and", left: left, right: p.parseNot()}
		line = p.cur().line
	}
	return left
}

func (p *parser) parseNot() node {
	if p.cur().is("name:not") {
		p.enter()
		defer p.leave()
		line := p.next().line
		return &unaryNode{at: at(line), op: "not", operand: p.parseNot()}
	}
	return p.parseCompare()
}

func (p *parser) parseCompare() node {
	line := p.cur().line
	expr := p.parseMath1()
	var ops []operand
	for {
		switch t := p.cur(); {
		case strings.Contains(" == != < <= > >= ", " "+t.kind+" "):
			p.next()
			ops = append(ops, operand{t.kind, p.parseMath1()})
		case t.is("name:in"):
			p.next()
			ops = append(ops, operand{"in", p.parseMath1()})
		case t.is("name:not") && p.look().is("name:in"):
			p.next()
			p.next()
			ops = append(ops, operand{"notin", p.parseMath1()})
		default:
			if ops == nil {
				return expr
			}
			return &compareNode{at: at(line), expr: expr, ops: ops}
		}
		line = p.cur().line
	}
}

func (p *parser) parseMath1() node {
	line := p.cur().line
	left := p.parseConcat()
	for p.cur().isAny("+", "-") {
		op := p.next().kind
		left = &binNode{at: at(line), op: op, left: left, right: p.parseConcat()}
		line = p.cur().line
	}
	return left
}

func (p *parser) parseConcat() node {
	line := p.cur().line
	items := []node{p.parseMath2()}
	for p.skipIf("~") {
		items = append(items, p.parseMath2())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &concatNode{at: at(line), items: items}
}

func (p *parser) parseMath2() node {
	line := p.cur().line
	left := p.parsePow()
	for p.cur().isAny("*", "/", "//", "%") {
		op := p.next().kind
		left = &binNode{at: at(line), op: op, left: left, right: p.parsePow()}
		line = p.cur().line
	}
	return left
}

func (p *parser) parsePow() node {
	line := p.cur().line
	left := p.parseUnary(true)
	for p.skipIf("**") {
		left = &binNode{at: at(line), op: "**", left: left, right: p.parseUnary(true)}
		line = p.cur().line
	}
	return left
}

func (p *parser) parseUnary(withFilter bool) node {
	p.enter()
	defer p.leave()
	var n node
	switch t := p.cur(); t.kind {
	case "-", "+":
		p.next()
		n = &unaryNode{at: at(t.line), op: t.kind, operand: p.parseUnary(false)}
	default:
		n = p.parsePrimary(false)
	}
	n = p.parsePostfix(n)
	if withFilter {
		n = p.parseFilterExpr(n)
	}
	return n
}

func (p *parser) parsePrimary(namespace bool) node {
	t := p.cur()
	switch t.kind {
	case tokName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constNode{at: at(t.line), value: true}
		case "false", "False":
			return &constNode{at: at(t.line), value: false}
		case "none", "None":
			return &constNode{at: at(t.line)}
		}
		if namespace && p.skipIf(".") {
			return &nsRefNode{at: at(t.line), name: t.text, attr: p.expect(tokName).text}
		}
		return &nameNode{at: at(t.line), name: t.text, ctx: ctxLoad}
	case tokString:
		p.next()
		s := t.value.(string)
		for p.cur().kind == tokString {
			s += p.next().value.(string)
		}
		return &constNode{at: at(t.line), value: s}
	case tokInteger, tokFloat:
		p.next()
		return &constNode{at: at(t.line), value: t.value}
	case "(":
		p.next()
		n := p.parseTuple(tupleOptions{condexpr: true, parens: true})
		p.expect(")")
		return n
	case "[":
		return p.parseList()
	case "{":
		return p.parseDict()
	}
	p.failAt(t.line, "unexpected %s", py.Quote(t.describe()))
	return nil
}

type tupleOptions struct {
	simplified bool // names and literals only
	condexpr   bool
	parens     bool // an empty tuple is an expression
	namespace  bool
}

func (p *parser) parseTuple(o tupleOptions) node {
	line := p.cur().line
	var items []node
	isTuple := false
	for {
		if items != nil {
			p.expect(",")
		}
		if p.cur().isAny(tokVariableEnd, tokBlockEnd, ")") {
			break
		}
		if o.simplified {
			items = append(items, p.parsePrimary(o.namespace))
		} else {
			items = append(items, p.parseExpression(o.condexpr))
		}
		if p.cur().kind != "," {
			break
		}
		isTuple = true
		line = p.cur().line
	}
	if !isTuple {
		if items != nil {
			return items[0]
		}
		if !o.parens {
			p.fail("Expected an expression, got %s", py.Quote(p.cur().describe()))
		}
	}
	return &tupleNode{at: at(line), items: items}
}

func (p *parser) parseList() node {
	n := &listNode{at: at(p.expect("[").line)}
	for p.cur().kind != "]" {
		if n.items != nil {
			p.expect(",")
		}
		if p.cur().kind == "]" {
			break
		}
		n.items = append(n.items, p.parseExpression(true))
	}
	p.expect("]")
	return n
}

func (p *parser) parseDict() node {
	n := &dictNode{at: at(p.expect("{").line)}
	for p.cur().kind != "}" {
		if n.pairs != nil {
			p.expect(",")
		}
		if p.cur().kind == "}" {
			break
		}
		key := p.parseExpression(true)
		p.expect(":")
		n.pairs = append(n.pairs, pairNode{key, p.parseExpression(true)})
	}
	p.expect("}")
	return n
}

func (p *parser) parsePostfix(n node) node {
	for {
		switch p.cur().kind {
		case ".", "[":
			n = p.parseSubscript(n)
		case "(":
			n = p.parseCall(n)
		default:
			return n
		}
	}
}

func (p *parser) parseFilterExpr(n node) node {
	for {
		switch t := p.cur(); {
		case t.kind == "|":
			n = p.parseFilter(n, false)
		case t.is("name:is"):
			n = p.parseTest(n)
		case t.kind == "(":
			n = p.parseCall(n)
		default:
			return n
		}
	}
}

func (p *parser) parseSubscript(n node) node {
	t := p.next()
	if t.kind == "." {
		attr := p.next()
		switch attr.kind {
		case tokName:
			return &getattrNode{at: at(t.line), obj: n, attr: attr.text}
		case tokInteger:
			return &getitemNode{at: at(t.line), obj: n, arg: &constNode{at: at(attr.line), value: attr.value}}
		}
		p.failAt(attr.line, "expected name or number")
	}
	var args []node
	for p.cur().kind != "]" {
		if args != nil {
			p.expect(",")
		}
		args = append(args, p.parseSubscribed())
	}
	p.expect("]")
	arg := node(&tupleNode{at: at(t.line), items: args})
	if len(args) == 1 {
		arg = args[0]
	}
	return &getitemNode{at: at(t.line), obj: n, arg: arg}
}

func (p *parser) parseSubscribed() node {
	n := &sliceNode{at: at(p.cur().line)}
	if p.cur().kind != ":" {
		n.start = p.parseExpression(true)
		if p.cur().kind != ":" {
			return n.start
		}
	}
	p.next()
	if !p.cur().isAny(":", "]", ",") {
		n.stop = p.parseExpression(true)
	}
	if p.skipIf(":") && !p.cur().isAny("]", ",") {
		n.step = p.parseExpression(true)
	}
	return n
}

func (p *parser) parseCallArgs() (c callArgs) {
	open := p.expect("(")
	ensure := func(ok bool) {
		if !ok {
			p.failAt(open.line, "invalid syntax for function call expression")
		}
	}
	for first := true; p.cur().kind != ")"; first = false {
		if !first {
			p.expect(",")
			if p.cur().kind == ")" {
				break
			}
		}
		switch t := p.cur(); {
		case t.kind == "*":
			ensure(c.dynArgs == nil && c.dynKwarg == nil)
			p.next()
			c.dynArgs = p.parseExpression(true)
		case t.kind == "**":
			ensure(c.dynKwarg == nil)
			p.next()
			c.dynKwarg = p.parseExpression(true)
		case t.kind == tokName && p.look().kind == "=":
			ensure(c.dynKwarg == nil)
			p.next()
			p.next()
			c.kwargs = append(c.kwargs, keyword{t.text, p.parseExpression(true)})
		default:
			ensure(c.dynArgs == nil && c.dynKwarg == nil && c.kwargs == nil)
			c.args = append(c.args, p.parseExpression(true))
		}
	}
	p.expect(")")
	return c
}

func (p *parser) parseCall(n node) node {
	line := p.cur().line
	return &callNode{at: at(line), fn: n, callArgs: p.parseCallArgs()}
}

func (p *parser) dottedName() token {
	t := p.expect(tokName)
	for p.skipIf(".") {
		t.text += "." + p.expect(tokName).text
	}
	return t
}

// parseFilter reads the filters that follow n. In a filter block the first has no bar.
func (p *parser) parseFilter(n node, inline bool) node {
	for p.cur().kind == "|" || inline {
		if !inline {
			p.next()
		}
		inline = false
		t := p.dottedName()
		f := &filterNode{at: at(t.line), obj: n, name: t.text}
		if p.cur().kind == "(" {
			f.callArgs = p.parseCallArgs()
		}
		n = f
	}
	return n
}

func (p *parser) parseTest(n node) node {
	line := p.next().line
	negated := p.skipIf("name:not")
	test := &testNode{at: at(line), obj: n, name: p.dottedName().text}
	switch t := p.cur(); {
	case t.kind == "(":
		test.callArgs = p.parseCallArgs()
	case t.isAny(tokName, tokString, tokInteger, tokFloat, "[", "{") && !t.isAny("name:else", "name:or", "name:and"):
		if t.is("name:is") {
			p.fail("You cannot chain multiple tests with is")
		}
		test.args = []node{p.parsePostfix(p.parsePrimary(false))}
	}
	if negated {
		return &unaryNode{at: at(line), op: "not", operand: test}
	}
	return test
}

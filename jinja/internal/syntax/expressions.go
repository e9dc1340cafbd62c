package syntax

import "strings"

// Expressions, from the lowest to the highest precedence.

func (p *parser) parseExpression(condexpr bool) Node {
	p.enter()
	defer p.leave()
	if condexpr {
		return p.parseCond()
	}
	return p.parseOr()
}

func (p *parser) parseCond() Node {
	line := p.cur().line
	expr := p.parseOr()
	for p.skipIf("name:if") {
		n := &Cond{at: at(line), Yes: expr, Test: p.parseOr()}
		if p.skipIf("name:else") {
			p.enter()
			n.No = p.parseCond()
			p.leave()
		}
		expr = n
		line = p.cur().line
	}
	return expr
}

// binary reads operators of one precedence and their operands.
func (p *parser) binary(operand func() Node, operators ...string) Node {
	line := p.cur().line
	left := operand()
	for p.cur().isAny(operators...) {
		left = &Bin{at: at(line), Op: p.next().text, Left: left, Right: operand()}
		line = p.cur().line
	}
	return left
}

func (p *parser) parseOr() Node  { return p.binary(p.parseAnd, "name:or") }
func (p *parser) parseAnd() Node { return p.binary(p.parseNot, "name:and") }
func (p *parser) parseSum() Node { return p.binary(p.parseConcat, "+", "-") }
func (p *parser) parseProduct() Node {
	return p.binary(p.parsePower, "*", "/", "//", "%")
}

func (p *parser) parsePower() Node {
	return p.binary(func() Node { return p.parseUnary(true) }, "**")
}

func (p *parser) parseNot() Node {
	if !p.cur().is("name:not") {
		return p.parseCompare()
	}
	p.enter()
	defer p.leave()
	line := p.next().line
	return &Unary{at: at(line), Op: "not", Operand: p.parseNot()}
}

func (p *parser) parseCompare() Node {
	n := &Compare{at: at(p.cur().line), First: p.parseSum()}
	for {
		t := p.cur()
		op := t.text
		switch {
		case t.kind == op && strings.Contains(" == != < <= > >= ", " "+op+" "), t.is("name:in"):
		case t.is("name:not") && p.peek().is("name:in"):
			op = "notin"
			p.next()
		case n.Ops == nil:
			return n.First
		default:
			return n
		}
		p.next()
		n.Ops, n.Rest = append(n.Ops, op), append(n.Rest, p.parseSum())
	}
}

func (p *parser) parseConcat() Node {
	n := &Concat{sequence{at(p.cur().line), []Node{p.parseProduct()}}}
	for p.skipIf("~") {
		n.Items = append(n.Items, p.parseProduct())
	}
	if len(n.Items) == 1 {
		return n.Items[0]
	}
	return n
}

func (p *parser) parseUnary(withFilter bool) Node {
	p.enter()
	defer p.leave()
	var n Node
	if t := p.cur(); t.isAny("-", "+") {
		p.next()
		n = &Unary{at: at(t.line), Op: t.kind, Operand: p.parseUnary(false)}
	} else {
		n = p.parsePrimary(false)
	}
	n = p.parsePostfix(n)
	for withFilter {
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
	return n
}

func (p *parser) parsePrimary(namespace bool) Node {
	t := p.cur()
	line := at(t.line)
	switch t.kind {
	case tokName:
		p.next()
		switch t.text {
		case "true", "True", "false", "False":
			return &Const{at: line, Value: strings.EqualFold(t.text, "true")}
		case "none", "None":
			return &Const{at: line}
		}
		if namespace && p.skipIf(".") {
			return &NSRef{at: line, Name: t.text, Attr: p.expect(tokName).text}
		}
		return &Name{at: line, Name: t.text}
	case tokString:
		p.next()
		s := t.value.(string)
		for p.cur().kind == tokString {
			s += p.next().value.(string)
		}
		return &Const{at: line, Value: s}
	case tokInteger, tokFloat:
		p.next()
		return &Const{at: line, Value: t.value}
	case "(":
		p.next()
		n := p.parseTuple(tupleOptions{condexpr: true, parens: true})
		p.expect(")")
		return n
	case "[":
		n := &List{sequence{at: line}}
		p.list("[", "]", func() { n.Items = append(n.Items, p.parseExpression(true)) })
		return n
	case "{":
		n := &Dict{at: line}
		p.list("{", "}", func() {
			n.Keys = append(n.Keys, p.parseExpression(true))
			p.expect(":")
			n.Values = append(n.Values, p.parseExpression(true))
		})
		return n
	}
	p.failAt(t, "unexpected '%s'", t.describe())
	return nil
}

// list reads elements between brackets, with commas between them and perhaps one at the end.
func (p *parser) list(open, end string, element func()) {
	p.expect(open)
	for first := true; p.cur().kind != end; first = false {
		if !first {
			p.expect(",")
			if p.cur().kind == end {
				break
			}
		}
		element()
	}
	p.next()
}

// until reads elements with commas between them, up to a token that ends them.
func (p *parser) until(end string, element func()) {
	for first := true; p.cur().kind != end; first = false {
		if !first {
			p.expect(",")
		}
		element()
	}
}

type tupleOptions struct {
	simplified bool // names and literals only
	condexpr   bool
	parens     bool // an empty tuple is an expression
	namespace  bool
}

func (p *parser) parseTuple(o tupleOptions) Node {
	line := p.cur().line
	var items []Node
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
	switch {
	case !isTuple && items != nil:
		return items[0]
	case !isTuple && !o.parens:
		p.failAt(p.cur(), "Expected an expression, got '%s'", p.cur().describe())
	}
	return &Tuple{sequence{at(line), items}}
}

func (p *parser) parsePostfix(n Node) Node {
	for {
		switch p.cur().kind {
		case ".":
			n = p.parseDot(n)
		case "[":
			n = p.parseSubscript(n)
		case "(":
			n = p.parseCall(n)
		default:
			return n
		}
	}
}

func (p *parser) parseDot(n Node) Node {
	line := at(p.next().line)
	attr := p.next()
	switch attr.kind {
	case tokName:
		return &GetAttr{at: line, Obj: n, Attr: attr.text}
	case tokInteger:
		return &GetItem{at: line, Obj: n, Arg: &Const{at: at(attr.line), Value: attr.value}}
	}
	p.failAt(attr, "expected a name or a number after the dot, got '%s'", attr.describe())
	return nil
}

func (p *parser) parseSubscript(n Node) Node {
	line := at(p.next().line)
	var args []Node
	p.until("]", func() { args = append(args, p.parseSubscribed()) })
	p.next()
	if len(args) == 1 {
		return &GetItem{at: line, Obj: n, Arg: args[0]}
	}
	return &GetItem{at: line, Obj: n, Arg: &Tuple{sequence{line, args}}}
}

func (p *parser) parseSubscribed() Node {
	n := &Slice{at: at(p.cur().line)}
	if p.cur().kind != ":" {
		n.Start = p.parseExpression(true)
		if p.cur().kind != ":" {
			return n.Start
		}
	}
	p.next()
	if !p.cur().isAny(":", "]", ",") {
		n.Stop = p.parseExpression(true)
	}
	if p.skipIf(":") && !p.cur().isAny("]", ",") {
		n.Step = p.parseExpression(true)
	}
	return n
}

func (p *parser) parseArguments() (a Arguments) {
	line := p.cur().line
	p.list("(", ")", func() {
		t := p.cur()
		ok := a.DynKwargs == nil
		switch {
		case t.kind == "*":
			ok = ok && a.DynArgs == nil
			p.next()
			a.DynArgs = p.parseExpression(true)
		case t.kind == "**":
			p.next()
			a.DynKwargs = p.parseExpression(true)
		case t.kind == tokName && p.peek().kind == "=":
			p.next()
			p.next()
			a.Kwargs = append(a.Kwargs, Keyword{t.text, p.parseExpression(true)})
		default:
			ok = ok && a.DynArgs == nil && a.Kwargs == nil
			a.Args = append(a.Args, p.parseExpression(true))
		}
		if !ok {
			p.failAt(token{line: line}, "the arguments are in the wrong order")
		}
	})
	return a
}

func (p *parser) parseCall(n Node) Node {
	line := p.cur().line
	return &Call{at: at(line), Fn: n, Arguments: p.parseArguments()}
}

func (p *parser) dottedName() token {
	t := p.expect(tokName)
	for p.skipIf(".") {
		t.text += "." + p.expect(tokName).text
	}
	return t
}

// parseFilter reads the filters that follow n. If inline is true, as in a filter block, the first filter has no bar
// before it.
func (p *parser) parseFilter(n Node, inline bool) Node {
	for inline || p.skipIf("|") {
		inline = false
		t := p.dottedName()
		f := &Filter{at: at(t.line), Obj: n, Name: t.text}
		if p.cur().kind == "(" {
			f.Arguments = p.parseArguments()
		}
		n = f
	}
	return n
}

func (p *parser) parseTest(n Node) Node {
	line := at(p.next().line)
	negated := p.skipIf("name:not")
	test := &Test{at: line, Obj: n, Name: p.dottedName().text}
	switch t := p.cur(); {
	case t.kind == "(":
		test.Arguments = p.parseArguments()
	case t.is("name:is"):
		p.failAt(t, "one test cannot follow another")
	case t.isAny(tokName, tokString, tokInteger, tokFloat, "[", "{") && !t.isAny("name:else", "name:or", "name:and"):
		test.Args = []Node{p.parsePostfix(p.parsePrimary(false))}
	}
	if negated {
		return &Unary{at: line, Op: "not", Operand: test}
	}
	return test
}

package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// MaxNesting bounds brackets within brackets and blocks within blocks of a source.
const MaxNesting = 100

// parser builds the tree of a template by recursive descent. It fails by panicking with *py.Error.
type parser struct {
	tokens []token
	i      int
	tags   []string // open tags, innermost last
	depth  int
}

// Parse reads the source of a template. It panics with *py.Error.
func Parse(src string) *Template {
	p := &parser{tokens: tokenize(src)}
	p.check(0)
	return &Template{at: 1, Body: p.subparse()}
}

// check raises an error of the lexer when the parser reaches it, so that an earlier error of the parser is reported
// first.
func (p *parser) check(i int) {
	if t := p.tokens[i]; t.err != nil {
		panic(t.err)
	}
}

func (p *parser) cur() token { return p.tokens[p.i] }

// next returns the current token and moves on.
func (p *parser) next() token {
	t := p.tokens[p.i]
	if t.kind != tokEOF {
		p.i++
		p.check(p.i)
	}
	return t
}

// peek returns the token after the current one.
func (p *parser) peek() token {
	if p.cur().kind == tokEOF {
		return p.cur()
	}
	p.check(p.i + 1)
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
	if t := p.cur(); !t.is(expr) {
		p.failAt(t, "expected '%s', got '%s'", describe(expr), t.describe())
	}
	return p.next()
}

func (p *parser) failAt(t token, format string, args ...any) {
	panic(mistake(t, format, args...))
}

func mistake(at token, format string, args ...any) *py.Error {
	return &py.Error{Kind: "TemplateSyntaxError", Message: fmt.Sprintf(format, args...), Line: at.line, Column: at.col}
}

// enter bounds the recursion; each call is paired with leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > MaxNesting {
		panic(&py.Error{Kind: py.LimitError, Message: "the template is nested too deeply", Line: p.cur().line})
	}
}

func (p *parser) leave() { p.depth-- }

// subparse reads text and tags until one of the end tags is the current token, or the end of the template.
func (p *parser) subparse(ends ...string) []Node {
	p.enter()
	defer p.leave()
	var body []Node
	var out *Output
	add := func(n Node) {
		if out == nil {
			out = &Output{sequence{at: at(n.Line())}}
			body = append(body, out)
		}
		out.Items = append(out.Items, n)
	}
	for {
		switch t := p.cur(); t.kind {
		case tokEOF:
			return body
		case tokData:
			add(&Data{at: at(t.line), Text: t.text})
			p.next()
		case tokVariableBegin:
			p.next()
			add(p.parseTuple(tupleOptions{condexpr: true}))
			p.expect(tokVariableEnd)
		default:
			out = nil
			p.next()
			if p.cur().isAny(ends...) {
				return body
			}
			body = append(body, p.parseStatement())
			p.expect(tokBlockEnd)
		}
	}
}

// parseStatements reads the body of a block up to one of ends, which is the current token afterwards.
func (p *parser) parseStatements(ends ...string) []Node {
	p.skipIf(":")
	p.expect(tokBlockEnd)
	body := p.subparse(ends...)
	if p.cur().kind == tokEOF {
		p.failAt(p.cur(), "unexpected end of template: the tag '%s' is not closed", p.tags[len(p.tags)-1])
	}
	return body
}

// parseBody is parseStatements up to one end tag. It also reads that tag.
func (p *parser) parseBody(end string) []Node {
	body := p.parseStatements(end)
	p.next()
	return body
}

func (p *parser) parseStatement() Node {
	t := p.cur()
	if t.kind != tokName {
		p.failAt(t, "expected the name of a tag, got '%s'", t.describe())
	}
	parse, ok := map[string]func(*parser) Node{
		"for": (*parser).parseFor, "if": (*parser).parseIf, "print": (*parser).parsePrint, "macro": (*parser).parseMacro,
		"set": (*parser).parseSet, "with": (*parser).parseWith, "autoescape": (*parser).parseAutoescape,
		"call": (*parser).parseCallBlock, "filter": (*parser).parseFilterBlock,
	}[t.text]
	switch {
	case !ok && len(p.tags) > 0:
		p.failAt(t, "unexpected tag '%s': the tag '%s' is still open", t.text, p.tags[len(p.tags)-1])
	case !ok:
		p.failAt(t, "unknown tag '%s'", t.text)
	}
	p.tags = append(p.tags, t.text)
	n := parse(p)
	p.tags = p.tags[:len(p.tags)-1]
	return n
}

func (p *parser) parsePrint() Node {
	n := &Output{sequence{at: at(p.next().line)}}
	p.until(tokBlockEnd, func() { n.Items = append(n.Items, p.parseExpression(true)) })
	return n
}

func (p *parser) parseSet() Node {
	line := at(p.next().line)
	target := p.parseTarget(true, Store)
	if p.skipIf("=") {
		return &Assign{at: line, Target: target, Value: p.parseTuple(tupleOptions{condexpr: true})}
	}
	n := &AssignBlock{at: line, Target: target}
	if p.cur().kind == "|" {
		n.Filter = p.parseFilter(nil, false).(*Filter)
	}
	n.Body = p.parseBody("name:endset")
	return n
}

func (p *parser) parseFor() Node {
	n := &For{at: at(p.next().line)}
	n.Target = p.parseTarget(false, Store)
	p.expect("name:in")
	n.Iter = p.parseTuple(tupleOptions{})
	if p.skipIf("name:if") {
		n.Test = p.parseExpression(true)
	}
	n.Recursive = p.skipIf("name:recursive")
	n.Body = p.parseStatements("name:endfor", "name:else")
	if p.next().text == "else" {
		n.Else = p.parseBody("name:endfor")
	}
	return n
}

func (p *parser) parseIf() Node {
	result := &If{at: at(p.next().line)}
	for n := result; ; {
		n.Test = p.parseTuple(tupleOptions{})
		n.Body = p.parseStatements("name:elif", "name:else", "name:endif")
		switch p.next().text {
		case "elif":
			n = &If{at: at(p.cur().line)}
			result.Elifs = append(result.Elifs, n)
			continue
		case "else":
			result.Else = p.parseBody("name:endif")
		}
		return result
	}
}

func (p *parser) parseWith() Node {
	n := &With{at: at(p.next().line)}
	p.until(tokBlockEnd, func() {
		n.Targets = append(n.Targets, p.parseTarget(false, Param))
		p.expect("=")
		n.Values = append(n.Values, p.parseExpression(true))
	})
	n.Body = p.parseBody("name:endwith")
	return n
}

func (p *parser) parseAutoescape() Node {
	n := &Autoescape{at: at(p.next().line)}
	n.Value = p.parseExpression(true)
	n.Body = p.parseBody("name:endautoescape")
	return n
}

func (p *parser) parseSignature(m *Macro) {
	p.expect("(")
	p.until(")", func() {
		arg := p.parseName(Param)
		if p.skipIf("=") {
			m.Defaults = append(m.Defaults, p.parseExpression(true))
		} else if m.Defaults != nil {
			p.failAt(p.cur(), "the argument '%s' needs a default, since one before it has one", arg.Name)
		}
		m.Args = append(m.Args, arg)
	})
	p.next()
}

func (p *parser) parseMacro() Node {
	n := &Macro{at: at(p.next().line)}
	n.Name = p.parseName(Store).Name
	p.parseSignature(n)
	n.Body = p.parseBody("name:endmacro")
	return n
}

func (p *parser) parseCallBlock() Node {
	line := p.next().line
	n := &CallBlock{at: at(line), Macro: &Macro{at: at(line)}}
	if p.cur().kind == "(" {
		p.parseSignature(n.Macro)
	}
	call, ok := p.parseExpression(true).(*Call)
	if !ok {
		p.failAt(token{line: line}, "expected a call")
	}
	n.Call = call
	n.Macro.Body = p.parseBody("name:endcall")
	return n
}

func (p *parser) parseFilterBlock() Node {
	n := &FilterBlock{at: at(p.next().line)}
	n.Filter = p.parseFilter(nil, true).(*Filter)
	n.Body = p.parseBody("name:endfilter")
	return n
}

// parseName reads one name that is set.
func (p *parser) parseName(use Use) *Name {
	t := p.expect(tokName)
	n := &Name{at: at(t.line), Name: t.text}
	p.assign(n, use)
	return n
}

// parseTarget reads the target of an assignment: a name, a tuple of names or, with namespace, an attribute.
func (p *parser) parseTarget(namespace bool, use Use) Node {
	target := p.parseTuple(tupleOptions{simplified: true, namespace: namespace})
	p.assign(target, use)
	return target
}

var constants = []string{"true", "false", "none", "True", "False", "None"}

// assign records what the template does with the names of a target, and checks that they can be set.
func (p *parser) assign(n Node, use Use) {
	switch x := n.(type) {
	case *Name:
		x.Use = use
		if !slices.Contains(constants, x.Name) {
			return
		}
	case *NSRef:
		return
	case *Tuple:
		for _, it := range x.Items {
			p.assign(it, use)
		}
		return
	}
	p.failAt(token{line: n.Line()}, "only names can be set, not %s",
		strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")))
}

package jinja

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/jinja/internal/py"
	"github.com/iris-oncall/iris/jinja/internal/run"
	"github.com/iris-oncall/iris/jinja/internal/syntax"
)

// Error is a template's failure: at compile time when it is malformed, at run time as Python would raise it.
type Error = py.Error

// Marks says how output of expressions is escaped. See Mark.
type Marks = py.Marks

// The ways of escaping.
const (
	NoMarks   = py.NoMarks   // as HTML, inside autoescape blocks only
	MarksText = py.MarksText // marked
	MarksHTML = py.MarksHTML // marked; tojson writes JSON that is safe in a script element
	MarksJSON = py.MarksJSON // marked, also inside the texts that tojson writes
)

// Mark replaces the punctuation of data by marked characters, which no markup language gives a meaning. Marked
// characters in the data itself are replaced by U+FFFD.
func Mark(s string) string { return py.Mark(s) }

// Unmark replaces each marked character by the escape of its plain character.
func Unmark(s string, escape func(c byte) string) string { return py.Unmark(s, escape) }

// Raw is Unmark without any escape.
func Raw(s string) string { return py.Raw(s) }

// Limits bound a template. Zero values mean the defaults.
type Limits = py.Limits

func withDefaults(l Limits) Limits {
	return Limits{
		Source: cmp.Or(l.Source, 32<<10), Output: cmp.Or(l.Output, 64<<10), Steps: cmp.Or(l.Steps, 1_000_000),
		Memory: cmp.Or(l.Memory, 16<<20), Depth: cmp.Or(l.Depth, 150), Time: cmp.Or(l.Time, time.Second),
	}
}

// Options says how a template is compiled. With the zero value it renders as in Jinja2.
type Options = run.Options

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct {
	program *run.Program
	tree    *syntax.Template
}

// Compile compiles a template. The error, if any, is an *Error with the line.
func Compile(src string, limits Limits) (*Template, error) {
	return CompileWith(src, Options{Limits: limits})
}

// CompileWith is Compile with all options.
func CompileWith(src string, o Options) (t *Template, err error) {
	o.Limits = withDefaults(o.Limits)
	if len(src) > o.Limits.Source {
		return nil, &Error{Kind: py.LimitError, Message: fmt.Sprintf("the template is longer than %d bytes",
			o.Limits.Source)}
	}
	defer func() {
		if r := recover(); r != nil {
			t, err = nil, failure(r, 0)
		}
	}()
	tree := syntax.Parse(strings.ToValidUTF8(src, "\ufffd"))
	return &Template{program: run.Compile(tree, o), tree: tree}, nil
}

// failure converts a panic in a line to an error. A bug of the engine is also reported as a failure of the template, so
// that it affects only this template.
func failure(r any, line int) *Error {
	e, ok := r.(*Error)
	if !ok {
		return &Error{Kind: "InternalError", Message: fmt.Sprintf("%v\n%s", r, debug.Stack()), Line: line}
	}
	if e.Line > 0 {
		line = e.Line
	}
	return &Error{Kind: e.Kind, Message: e.Message, Line: line, Column: e.Column}
}

// Render renders the template. The error, if any, is an *Error. If it is Truncated, Render also returns the output up
// to the limit; with any other error the output is empty.
func (t *Template) Render(vars Vars) (string, error) {
	out, _, err := t.RenderInformative(vars)
	return out, err
}

// RenderInformative is Render. informative is false when the template prints variables other than the metadata of its
// Options, and none of them had a letter, a digit or a symbol.
func (t *Template) RenderInformative(vars Vars) (out string, informative bool, err error) {
	var result run.Result
	defer func() {
		if r := recover(); r != nil {
			e := failure(r, result.Line)
			if e.Truncated = result.Truncated; !e.Truncated {
				result = run.Result{}
			}
			out, informative, err = result.Text, result.Informative, e
		}
	}()
	t.program.Render(vars.dict, &result)
	return result.Text, result.Informative, nil
}

// RenderString compiles src and renders it with the variables of a JSON object; empty JSON means no variables.
func RenderString(src string, contextJSON []byte) (string, error) {
	t, err := Compile(src, Limits{})
	if err != nil {
		return "", err
	}
	vars, err := DecodeVars(contextJSON)
	if err != nil {
		return "", fmt.Errorf("read context: %w", err)
	}
	return t.Render(vars)
}

// MentionsFirst reports whether the first output at the top level of the template is or contains the attribute of a
// variable, as in {{ name.attr }} or {{ name['attr'] }}. It examines the first output only, up to the first tag.
func (t *Template) MentionsFirst(name, attr string) bool {
	for _, n := range t.tree.Body {
		if out, ok := n.(*syntax.Output); ok {
			return slices.ContainsFunc(out.Items, func(it syntax.Node) bool { return mentions(it, name, attr) })
		}
	}
	return false
}

// StartsObject reports whether the template's source begins a JSON object: its first output is text that starts with {,
// or a dictionary written in the template that tojson prints. Assignments and macros before it do not count. For a
// condition, the first branch is examined.
func (t *Template) StartsObject() bool {
	for body := t.tree.Body; len(body) > 0; {
		switch n := body[0].(type) {
		case *syntax.Assign, *syntax.AssignBlock, *syntax.Macro:
		case *syntax.If:
			if len(n.Body) > 0 {
				body = n.Body
				continue
			}
		case *syntax.Output:
			for _, it := range n.Items {
				if d, ok := it.(*syntax.Data); !ok || strings.TrimSpace(d.Text) != "" {
					return startsObject(it)
				}
			}
		default:
			return false
		}
		body = body[1:]
	}
	return false
}

func startsObject(n syntax.Node) bool {
	switch x := n.(type) {
	case *syntax.Data:
		return strings.HasPrefix(strings.TrimSpace(x.Text), "{")
	case *syntax.Filter:
		_, isDict := x.Obj.(*syntax.Dict)
		return isDict && x.Name == "tojson"
	}
	return false
}

func mentions(n syntax.Node, name, attr string) bool {
	isName := func(n syntax.Node) bool { x, ok := n.(*syntax.Name); return ok && x.Name == name }
	switch x := n.(type) {
	case *syntax.GetAttr:
		return isName(x.Obj) && x.Attr == attr
	case *syntax.GetItem:
		c, ok := x.Arg.(*syntax.Const)
		return ok && isName(x.Obj) && c.Value == attr
	}
	return false
}

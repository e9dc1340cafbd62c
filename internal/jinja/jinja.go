// Package jinja renders Jinja2 templates: those of Jinja2 3.1 with the defaults of its SandboxedEnvironment, without
// the tags that read other templates (include, import, from, extends, block) and without trans and do. Output and
// errors are those of the original, byte for byte; test/jinja holds the proof.
//
// Templates are written by users and must harm nobody: every rendering has a budget of work, memory, nesting, time and
// output that the evaluator spends as it goes (see package py), and nothing in a template reaches files, the network or
// the process. A Template is compiled once and rendered from many goroutines at a time.
package jinja

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// Limits bound a template. Zero values mean the defaults.
type Limits struct {
	Source int           // bytes of source; 32 KiB
	Output int           // bytes of output; 64 KiB
	Steps  int64         // units of work, some tens of nanoseconds each; 1,000,000
	Memory int64         // bytes allocated by one rendering in all; 16 MiB
	Depth  int           // nested calls and nesting of data; 150
	Time   time.Duration // by the clock; 1 s
}

func (l Limits) withDefaults() Limits {
	set := func(v *int64, def int64) {
		if *v <= 0 {
			*v = def
		}
	}
	if l.Source <= 0 {
		l.Source = 32 << 10
	}
	if l.Output <= 0 {
		l.Output = 64 << 10
	}
	if l.Depth <= 0 {
		l.Depth = 150
	}
	if l.Time <= 0 {
		l.Time = time.Second
	}
	set(&l.Steps, 1_000_000)
	set(&l.Memory, 16<<20)
	return l
}

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct {
	run    stmt
	fn     *function
	tree   *templateNode
	limits Limits
	marks  py.Marks
	asks   bool // it prints variables other than iris
}

// Compile compiles a template. The error, if any, is an *Error with the line.
func Compile(src string, limits Limits) (*Template, error) {
	return CompileMarked(src, limits, py.NoMarks)
}

// CompileMarked is Compile for a template whose output keeps data and source distinct: what expressions print is marked (see
// py.Mark) as Jinja2's autoescape would escape it, so Markup and autoescape blocks are exempt. NoMarks escapes nothing.
func CompileMarked(src string, limits Limits, marks py.Marks) (t *Template, err error) {
	limits = limits.withDefaults()
	if len(src) > limits.Source {
		return nil, &Error{Kind: py.LimitError, Message: fmt.Sprintf("the template is longer than %d bytes", limits.Source)}
	}
	defer func() {
		if r := recover(); r != nil {
			t, err = nil, internalError(r)
		}
	}()
	tree, perr := parse(strings.ToValidUTF8(src, "\ufffd"))
	if perr != nil {
		return nil, perr
	}
	run, fn, asks, perr := compile(tree, marks)
	if perr != nil {
		return nil, perr
	}
	return &Template{run: run, fn: fn, tree: tree, limits: limits, marks: marks, asks: asks}, nil
}

// internalError reports a defect of the engine as the template's failure, so that it stays local.
func internalError(r any) *Error {
	return &Error{Kind: "InternalError", Message: fmt.Sprintf("%v\n%s", r, debug.Stack())}
}

// Vars are the variables a template is rendered with. A rendering may change the lists and dictionaries in them, so
// they serve one rendering, or several that are meant to share.
type Vars struct{ dict *py.Dict }

// DecodeVars reads the variables from a JSON object; empty data stands for none.
func DecodeVars(data []byte) (Vars, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return Vars{dict: py.NewDict()}, nil
	}
	v, err := py.DecodeJSON(data)
	if err != nil {
		return Vars{}, err
	}
	d, ok := v.(*py.Dict)
	if !ok {
		return Vars{}, fmt.Errorf("the context is not a JSON object")
	}
	return Vars{dict: d}, nil
}

// Field is a named value: a string, int64, bool or nil.
type Field struct {
	Name  string
	Value any
}

// Set gives a variable a dictionary of fields.
func (v Vars) Set(name string, fields []Field) {
	b := py.NewBudget(py.Limits{Steps: 1 << 40, Memory: 1 << 40, Depth: 10, Time: time.Hour})
	d := py.NewDict()
	for _, f := range fields {
		d.Set(b, f.Name, f.Value)
	}
	v.dict.Set(b, name, d)
}

// Get returns a variable as text, as a template would print it; false if there is none.
func (v Vars) Get(name string) (string, bool) {
	x, ok := v.dict.GetString(name)
	if !ok {
		return "", false
	}
	return Text(x), true
}

// Each calls f for every variable, in order, with its value as a template would print it, cut to a few kilobytes.
func (v Vars) Each(f func(name, text string)) {
	v.dict.Each(func(k, x py.Value) bool {
		if name, ok := py.AsString(k); ok {
			f(name, Text(x))
		}
		return true
	})
}

// Text is how a template prints a value; what is very large or deep is left out.
func Text(x any) string {
	if s, ok := py.AsString(x); ok {
		return s
	}
	s := "..."
	func() {
		defer func() { _ = recover() }()
		s = py.Str(py.NewBudget(py.Limits{Steps: 100_000, Memory: 16 << 10, Depth: 20, Time: time.Second}), x)
	}()
	return s
}

// Render renders the template. The error, if any, is an *Error; only with a Truncated one there is output too.
func (t *Template) Render(vars Vars) (out string, err error) {
	out, _, err = t.RenderTold(vars)
	return out, err
}

// RenderTold is Render. told is false when the template prints variables other than iris, and none of them had a letter, a digit
// or a symbol.
func (t *Template) RenderTold(vars Vars) (out string, told bool, err error) {
	r := newRender(t.limits, vars.dict)
	r.Marking(t.marks)
	r.autoescape = t.marks != py.NoMarks
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *py.Error:
			e := &Error{Kind: p.Kind, Message: p.Message, Line: r.line, Truncated: r.full}
			if out, err = "", e; r.full {
				out, told = r.root.String(), true
			}
		default:
			e := internalError(p)
			e.Line = r.line
			out, err = "", e
		}
	}()
	t.run(r, t.fn.newEnv(nil))
	if r.root.wrong != "" {
		r.line = 0 // the original finds out when the template is over
	}
	return r.root.text(), r.told || !t.asks, nil
}

// RenderString compiles src and renders it with the variables of a JSON object; empty JSON stands for none.
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

// MentionsFirst reports whether the first thing the template prints at its top level is, or contains, the attribute of
// a variable, as in {{ name.attr }} or {{ name['attr'] }}: the first output decides, up to the first tag.
func (t *Template) MentionsFirst(name, attr string) bool {
	for _, n := range t.tree.body {
		out, ok := n.(*outputNode)
		if !ok {
			continue
		}
		for _, it := range out.items {
			if mentions(it, name, attr) {
				return true
			}
		}
		return false
	}
	return false
}

// StartsObject reports whether the template's source begins a JSON object: its first output is text that starts with {, or a
// dictionary written in the template that tojson prints. Assignments and macros before it print nothing; of a condition the
// first branch decides.
func (t *Template) StartsObject() bool {
	for body := t.tree.body; len(body) > 0; {
		switch n := body[0].(type) {
		case *assignNode, *assignBlockNode, *macroNode:
		case *ifNode:
			if len(n.body) > 0 {
				body = n.body
				continue
			}
		case *outputNode:
			for _, it := range n.items {
				if d, ok := it.(*dataNode); !ok || strings.TrimSpace(d.text) != "" {
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

func startsObject(n node) bool {
	switch x := n.(type) {
	case *dataNode:
		return strings.HasPrefix(strings.TrimSpace(x.text), "{")
	case *filterNode:
		_, isDict := x.obj.(*dictNode)
		return isDict && x.name == "tojson"
	}
	return false
}

func mentions(n node, name, attr string) bool {
	isName := func(n node) bool { x, ok := n.(*nameNode); return ok && x.name == name }
	switch x := n.(type) {
	case *getattrNode:
		return isName(x.obj) && x.attr == attr
	case *getitemNode:
		c, ok := x.arg.(*constNode)
		return ok && isName(x.obj) && c.value == attr
	}
	return false
}

func itoa(i int) string { return strconv.Itoa(i) }

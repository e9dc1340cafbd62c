package run

import (
	"math/rand/v2"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/methods"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

const maxRange = 100000

// globals are the functions that every template can call. They are constant.
var globals = map[string]py.Value{
	"range":  py.NewFunc("range(start, stop=, step=1, /)", makeRange),
	"lipsum": py.NewFunc("lipsum(n=5, html=true, min=20, max=100)", lipsum),
	"joiner": py.NewFunc("joiner(sep=)", newJoiner),
	"cycler": class("cycler(...)", newCycler),
	"namespace": class("namespace(...)",
		func(b *py.Budget, a []py.Value) py.Value { return &namespace{attrs: newDict(b, a)} }),
	"dict": dictClass(),
}

func class(signature string, body py.Body) *py.Func {
	f := py.NewFunc(signature, body)
	f.Class = true
	return f
}

func dictClass() *py.Func {
	f := class("dict(...)", func(b *py.Budget, a []py.Value) py.Value { return newDict(b, a) })
	f.Attrs = map[string]py.Value{"fromkeys": methods.FromKeys}
	return f
}

func newDict(b *py.Budget, a []py.Value) *py.Dict {
	d := py.NewDict()
	methods.Update(b, d, a[0].(py.Args))
	return d
}

func makeRange(_ *py.Budget, a []py.Value) py.Value {
	r := &py.Range{Stop: py.IntArg(a[0]), Step: py.IntArg(a[2])}
	if a[1] != py.Absent {
		r.Start, r.Stop = r.Stop, py.IntArg(a[1])
	}
	py.RaiseIf(r.Step == 0, "ValueError", "the step of a range cannot be zero")
	if l := r.Len(); l < 0 || l > maxRange {
		py.Raise("OverflowError", "a range may have at most %d elements", maxRange)
	}
	return r
}

// object implements py.Object with a class name and a function that finds attributes.
type object struct {
	class string
	attr  func(name string) (py.Value, bool)
}

func (o *object) TypeName() string                                { return o.class }
func (o *object) Attr(_ *py.Budget, name string) (py.Value, bool) { return o.attr(name) }
func (o *object) Repr(*py.Budget) string                          { return "<" + o.class + " None>" }

// templateReference is the value of self; without blocks it has no attributes.
var templateReference = &object{"TemplateReference", func(string) (py.Value, bool) { return nil, false }}

func newCycler(b *py.Budget, a []py.Value) py.Value {
	args := a[0].(py.Args)
	py.RaiseIf(len(args.Kw) > 0, "TypeError", "cycler takes no named arguments")
	py.RaiseIf(len(args.Pos) == 0, "RuntimeError", "cycler needs at least one item")
	items, pos := py.Items(b, &py.Tuple{Items: args.Pos}), 0
	return &object{"Cycler", func(name string) (py.Value, bool) {
		v, ok := map[string]py.Value{
			"items": &py.Tuple{Items: items}, "pos": int64(pos), "current": items[pos],
			"reset": py.NewFunc("reset()", func(*py.Budget, []py.Value) py.Value { pos = 0; return nil }),
			"next": py.NewFunc("next()", func(*py.Budget, []py.Value) py.Value {
				v := items[pos]
				pos = (pos + 1) % len(items)
				return v
			}),
		}[name]
		return v, ok
	}}
}

// joiner returns its separator at every call but the first.
type joiner struct {
	object
	sep  py.Value
	used bool
}

func newJoiner(_ *py.Budget, a []py.Value) py.Value {
	j := &joiner{sep: a[0]}
	if j.sep == py.Absent {
		j.sep = ", "
	}
	j.object = object{"Joiner", func(name string) (py.Value, bool) {
		v, ok := map[string]py.Value{"sep": j.sep, "used": j.used}[name]
		return v, ok
	}}
	return j
}

func (j *joiner) Call(*py.Budget, py.Args) py.Value {
	if !j.used {
		j.used = true
		return ""
	}
	return j.sep
}

// namespace has attributes that a template can set.
type namespace struct{ attrs *py.Dict }

func (n *namespace) TypeName() string { return "Namespace" }

func (n *namespace) Repr(b *py.Budget) string { return "<Namespace " + py.Repr(b, n.attrs) + ">" }

func (n *namespace) Attr(_ *py.Budget, name string) (py.Value, bool) { return n.attrs.GetString(name) }

const loremWords = `ad adipiscing amet consectetuer cras cursus dapibus diam dignissim dolor donec eget elit erat etiam
	felis fusce habitant hendrerit integer ipsum justo lacus lectus libero lorem magna mattis metus molestie nulla odio ornare
	pede pharetra porta praesent quam quisque rutrum sapien sed sit tellus tempor turpis ultrices urna varius velit vivamus`

// lipsum returns filler text: n paragraphs of min to max words.
func lipsum(b *py.Budget, a []py.Value) py.Value {
	low, high, html := py.IntArg(a[2]), py.IntArg(a[3]), py.Truth(b, a[1])
	n := py.IntArg(a[0])
	py.RaiseIf(n > 0 && low >= high, "ValueError", "the minimum of %d words must be less than the maximum of %d", low,
		high)
	words, separator := strings.Fields(loremWords), "\n\n"
	if html {
		separator = "\n"
	}
	paragraphs := py.NewJoiner(b, separator)
	for range n {
		p := py.NewJoiner(b, " ")
		for range low + rand.Int64N(high-low) {
			b.Step(4)
			p.Add(words[rand.IntN(len(words))])
		}
		text := py.Capitalize(b, p.String()) + "."
		if html {
			text = "<p>" + text + "</p>"
		}
		paragraphs.Add(text)
	}
	return py.MarkupIf(html, paragraphs.String())
}

package jinja

import (
	"math/rand/v2"
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

const maxRange = 100000

// globals are the functions every template can call. They are assigned once; nothing changes them.
var globals = map[string]py.Value{
	"range":     &py.Func{Name: "safe_range", Python: true, Fn: safeRange},
	"dict":      dictClass,
	"lipsum":    &py.Func{Name: "generate_lorem_ipsum", Python: true, Fn: lipsum},
	"cycler":    &py.Func{Name: "jinja2.utils.Cycler", Class: true, Fn: newCycler},
	"joiner":    &py.Func{Name: "jinja2.utils.Joiner", Class: true, Fn: newJoiner},
	"namespace": &py.Func{Name: "jinja2.utils.Namespace", Class: true, Fn: newNamespace},
}

var dictClass = &py.Func{Name: "dict", Class: true, Fn: func(b *py.Budget, args py.Args) py.Value {
	d := py.NewDict()
	py.Update(b, d, "dict", args)
	return d
}, Attrs: map[string]py.Value{"fromkeys": &py.Func{Name: "fromkeys", Fn: func(b *py.Budget, args py.Args) py.Value {
	f, _ := py.Attr(b, py.NewDict(), "fromkeys")
	return py.Call(b, f, args)
}}}}

func safeRange(_ *py.Budget, args py.Args) py.Value {
	if len(args.Kw) > 0 {
		py.Raise("TypeError", "safe_range() got an unexpected keyword argument '%s'", args.Kw[0].Name)
	}
	n := len(args.Pos)
	switch {
	case n == 0:
		py.Raise("TypeError", "range expected at least 1 argument, got 0")
	case n > 3:
		py.Raise("TypeError", "range expected at most 3 arguments, got %d", n)
	}
	ints := make([]int64, n)
	for i, a := range args.Pos {
		ints[i] = toInt(a)
	}
	r := &py.Range{Stop: ints[0], Step: 1}
	if n > 1 {
		r.Start, r.Stop = ints[0], ints[1]
	}
	if n > 2 {
		if r.Step = ints[2]; r.Step == 0 {
			py.Raise("ValueError", "range() arg 3 must not be zero")
		}
	}
	if l := r.Len(); l < 0 || l > maxRange {
		py.Raise("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return r
}

// toInt returns an argument that must be an integer.
func toInt(v py.Value) int64 {
	i, ok := py.Index(v)
	if !ok {
		py.Raise("TypeError", "'%s' object cannot be interpreted as an integer", py.TypeName(v))
	}
	return i
}

// object is the base of our objects that are not from the engine's core.
type object struct{ class string }

func (o object) TypeName() string { return o.class }
func (o object) Module() string   { return "jinja2.utils" }

func plainObject(class string, v any) string {
	return "<jinja2.utils." + class + " object at " + py.Address(v) + ">"
}

// templateRef is what the name self stands for; without blocks it has nothing to offer.
type templateRef struct{}

func (templateRef) TypeName() string                         { return "TemplateReference" }
func (templateRef) Module() string                           { return "jinja2.runtime" }
func (templateRef) Attr(*py.Budget, string) (py.Value, bool) { return nil, false }
func (templateRef) Repr(*py.Budget) string                   { return "<TemplateReference None>" }

type cycler struct {
	object
	items []py.Value
	pos   int
}

var (
	cyclerNext  = py.ParseSignature("Cycler.next(@self)")
	cyclerReset = py.ParseSignature("Cycler.reset(@self)")
)

func newCycler(b *py.Budget, args py.Args) py.Value {
	if len(args.Kw) > 0 {
		py.Raise("TypeError", "Cycler.__init__() got an unexpected keyword argument '%s'", args.Kw[0].Name)
	}
	if len(args.Pos) == 0 {
		py.Raise("RuntimeError", "at least one item has to be provided")
	}
	b.Grow(int64(24 * len(args.Pos)))
	return &cycler{object: object{"Cycler"}, items: append([]py.Value(nil), args.Pos...)}
}

func (c *cycler) Repr(*py.Budget) string { return plainObject("Cycler", c) }

func (c *cycler) Attr(_ *py.Budget, name string) (py.Value, bool) {
	switch name {
	case "items":
		return &py.Tuple{Items: c.items}, true
	case "pos":
		return int64(c.pos), true
	case "current":
		return c.items[c.pos], true
	case "next":
		return method(c, name, func(b *py.Budget, args py.Args) py.Value {
			cyclerNext.Bind(args)
			v := c.items[c.pos]
			c.pos = (c.pos + 1) % len(c.items)
			return v
		}), true
	case "reset":
		return method(c, name, func(_ *py.Budget, args py.Args) py.Value {
			cyclerReset.Bind(args)
			c.pos = 0
			return nil
		}), true
	}
	return nil, false
}

type joiner struct {
	object
	sep  py.Value
	used bool
}

var joinerSig = py.ParseSignature("Joiner.__init__(@self, sep=)")

func newJoiner(_ *py.Budget, args py.Args) py.Value {
	a, _ := joinerSig.Bind(args)
	j := &joiner{object: object{"Joiner"}, sep: ", "}
	if a[0] != py.Absent {
		j.sep = a[0]
	}
	return j
}

func (j *joiner) Repr(*py.Budget) string { return plainObject("Joiner", j) }

func (j *joiner) Call(*py.Budget, py.Args) py.Value {
	if !j.used {
		j.used = true
		return ""
	}
	return j.sep
}

func (j *joiner) Attr(_ *py.Budget, name string) (py.Value, bool) {
	switch name {
	case "sep":
		return j.sep, true
	case "used":
		return j.used, true
	}
	return nil, false
}

type namespace struct {
	object
	attrs *py.Dict
}

func newNamespace(b *py.Budget, args py.Args) py.Value {
	ns := &namespace{object: object{"Namespace"}, attrs: py.NewDict()}
	py.Update(b, ns.attrs, "dict", args)
	return ns
}

func (n *namespace) Repr(b *py.Budget) string { return "<Namespace " + py.Repr(b, n.attrs) + ">" }

func (n *namespace) Attr(_ *py.Budget, name string) (py.Value, bool) { return n.attrs.GetString(name) }

const loremWords = `a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue bibendum
blandit class commodo condimentum congue consectetuer consequat conubia convallis cras cubilia cum curabitur curae
cursus dapibus diam dictum dictumst dignissim dis dolor donec dui duis egestas eget eleifend elementum elit enim erat
eros est et etiam eu euismod facilisi facilisis fames faucibus felis fermentum feugiat fringilla fusce gravida habitant
habitasse hac hendrerit hymenaeos iaculis id imperdiet in inceptos integer interdum ipsum justo lacinia lacus laoreet
lectus leo libero ligula litora lobortis lorem luctus maecenas magna magnis malesuada massa mattis mauris metus mi
molestie mollis montes morbi mus nam nascetur natoque nec neque netus nibh nisi nisl non nonummy nostra nulla nullam
nunc odio orci ornare parturient pede pellentesque penatibus per pharetra phasellus placerat platea porta porttitor
posuere potenti praesent pretium primis proin pulvinar purus quam quis quisque rhoncus ridiculus risus rutrum sagittis
sapien scelerisque sed sem semper senectus sit sociis sociosqu sodales sollicitudin suscipit suspendisse taciti tellus
tempor tempus tincidunt torquent tortor tristique turpis ullamcorper ultrices ultricies urna ut varius vehicula vel
velit venenatis vestibulum vitae vivamus viverra volutpat vulputate`

var lipsumSig = py.ParseSignature("generate_lorem_ipsum(n=, html=, min=, max=)")

// lipsum is filler text: n paragraphs of min to max words.
func lipsum(b *py.Budget, args py.Args) py.Value {
	a, _ := lipsumSig.Bind(args)
	n, low, high, html := int64(5), int64(20), int64(100), true
	for i, p := range map[int]*int64{0: &n, 2: &low, 3: &high} {
		if a[i] != py.Absent {
			*p = toInt(a[i])
		}
	}
	if a[1] != py.Absent {
		html = py.Truth(b, a[1])
	}
	if n > 0 && low >= high {
		py.Raise("ValueError", "empty range for randrange() (%d, %d, %d)", low, high, high-low)
	}
	words := strings.Fields(loremWords)
	sep := "\n\n"
	if html {
		sep = "\n"
	}
	j := py.NewJoiner(b, sep)
	for range n {
		p := paragraph(b, words, low+rand.Int64N(high-low))
		if html {
			p = "<p>" + p + "</p>"
		}
		j.Add(p)
	}
	if html {
		return py.Markup(j.String())
	}
	return j.String()
}

func paragraph(b *py.Budget, words []string, n int64) string {
	j := py.NewJoiner(b, " ")
	capital, comma, stop, last := true, int64(0), int64(0), ""
	for i := range n {
		b.Step(4)
		word := last
		for word == last {
			word = words[rand.IntN(len(words))]
		}
		last = word
		if capital {
			word = strings.ToUpper(word[:1]) + word[1:]
			capital = false
		}
		if i-(3+rand.Int64N(5)) > comma {
			comma = i
			stop += 2
			word += ","
		}
		if i-(10+rand.Int64N(10)) > stop {
			comma, stop = i, i
			word += "."
			capital = true
		}
		j.Add(word)
	}
	p := strings.TrimSuffix(j.String(), ",")
	if !strings.HasSuffix(p, ".") {
		p += "."
	}
	return p
}

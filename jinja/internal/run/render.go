package run

import (
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// Program is a compiled template. It is immutable and safe for concurrent use.
type Program struct {
	run  stmt
	fn   *function
	opts Options
	// asks reports whether an output prints a variable other than the metadata.
	asks bool
}

// Options configure the compilation and the renderings of a template.
type Options struct {
	Limits py.Limits
	// Marks says how printed expressions are marked where Jinja2's autoescape would escape them. Markup and autoescape
	// blocks are exempt. NoMarks marks nothing.
	Marks py.Marks
	// Metadata is a variable that describes the rendering and not its subject, except for the attribute MetadataTitle.
	// It matters to Result.Informative only.
	Metadata, MetadataTitle string
}

// Result is the output of a rendering.
type Result struct {
	Text string
	// Line is the number of the line that was executed last.
	Line int
	// Informative is false if the template prints variables other than the metadata, and none of them had a letter, a
	// digit or a symbol.
	Informative bool
	// Truncated reports whether the output reached its limit.
	Truncated bool
}

// Render renders the program into out. It panics with *py.Error; out then holds the output so far.
func (p *Program) Render(vars *py.Dict, out *Result) {
	r := newRender(p.opts.Limits, p.opts.Marks, vars)
	r.limit = p.opts.Limits.Output
	r.Autoescape = p.opts.Marks != py.NoMarks
	defer func() {
		*out = Result{r.root.String(), r.line, r.informative || !p.asks, r.truncated}
	}()
	p.run(r, p.fn.newEnv(nil))
	if r.root.nonTextType != "" {
		r.line = 0 // Jinja2 raises this error at the end of the template
	}
	r.root.text()
}

// render is the state of one rendering.
type render struct {
	*py.Budget
	vars        *py.Dict
	root        sink  // the output
	out         *sink // current destination of text: root, or the capture of a macro or block
	limit       int
	truncated   bool     // the output reached its limit
	informative bool     // a printed value had content
	line        int      // the line being executed
	filterInput py.Value // text of the block that a filter chain processes
}

// sink collects the output of a template, macro or block.
type sink struct {
	strings.Builder
	nonTextType string // type of the first piece that is not text; "" = none
}

// text returns the collected text. As in Jinja2, it raises if a piece is not text.
func (s *sink) text() string {
	py.RaiseIf(s.nonTextType != "", "TypeError", "a block must end in text, not in a value of type %s", s.nonTextType)
	return s.String()
}

func newRender(limits py.Limits, marks py.Marks, vars *py.Dict) *render {
	r := &render{Budget: py.NewBudget(limits), vars: vars, line: 1}
	r.Marks = marks
	r.out = &r.root
	return r
}

func (r *render) write(s string) {
	r.Grow(int64(len(s)))
	if r.out == &r.root && r.root.Len()+len(s) > r.limit {
		r.truncated = true
		s = s[:r.limit-r.root.Len()]
		for s != "" && !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		r.root.WriteString(s)
		py.Raise(py.LimitError, "the template makes too much text (more than %d bytes)", r.limit)
	}
	r.out.WriteString(s)
}

// writeValue writes the result of a filter or call block, which should be text.
func (r *render) writeValue(v py.Value) {
	if s, ok := py.AsString(v); ok {
		r.write(s)
	} else if r.out.nonTextType == "" {
		r.out.nonTextType = py.TypeName(v)
	}
}

// capture returns the text that f writes. Afterwards last is the current line.
func (r *render) capture(last int, f func()) string {
	saved := r.out
	var s sink
	r.out = &s
	f()
	r.out = saved
	r.line = last
	return s.text()
}

// call is capture for a macro or a recursive loop, which begins in a line of its own.
func (r *render) call(line, last int, f func()) string {
	r.Enter()
	defer r.Leave()
	saved := r.line
	r.line = line
	text := r.capture(last, f)
	r.line = saved
	return text
}

// resolve returns the value of a context variable or a global.
func (r *render) resolve(name string) py.Value {
	if r.vars != nil {
		if v, ok := r.vars.GetString(name); ok {
			return v
		}
	}
	if v, ok := globals[name]; ok {
		return v
	}
	return missing
}

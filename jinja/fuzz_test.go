package jinja_test

import (
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/jinja"
)

// FuzzParse checks that compiling any source returns a template or an *Error with a line, and never panics.
func FuzzParse(f *testing.F) {
	for _, c := range loadGolden(f).Cases {
		f.Add(c.Template)
	}
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := jinja.Compile(src, jinja.Limits{})
		if err != nil {
			checkError(t, src, err)
			return
		}
		tpl.MentionsFirst("iris", "message_id")
	})
}

// FuzzRender checks that rendering any template with any context returns valid text of bounded size, or an *Error.
func FuzzRender(f *testing.F) {
	g := loadGolden(f)
	for _, c := range g.Cases {
		context := c.Context
		if context == "" {
			context = g.Context
		}
		f.Add(c.Template, context)
	}
	for _, src := range hostile {
		f.Add(src, hostileContext)
	}
	limits := jinja.Limits{Steps: 100_000, Memory: 2 << 20, Output: 8 << 10, Time: time.Second}
	f.Fuzz(func(t *testing.T, src, context string) {
		vars, err := jinja.DecodeVars([]byte(context))
		if err != nil {
			return
		}
		tpl, err := jinja.Compile(src, limits)
		if err != nil {
			checkError(t, src, err)
			return
		}
		start := time.Now()
		out, err := tpl.Render(vars)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q took %v", src, took)
		}
		if len(out) > limits.Output || !utf8.ValidString(out) {
			t.Errorf("%q made %d bytes, valid UTF-8 %v", src, len(out), utf8.ValidString(out))
		}
		if err != nil {
			checkError(t, src, err)
		}
	})
}

func checkError(t *testing.T, src string, err error) {
	t.Helper()
	var e *jinja.Error
	if !errors.As(err, &e) || e.Kind == "InternalError" || e.Line < 0 {
		t.Errorf("%q ended in %v", src, err)
	}
}

package messages

import (
	"errors"
	"fmt"
	"sort"

	"github.com/iris-oncall/iris/internal/messages/jinja"
)

// PartError is a mistake in one part of a template.
type PartError struct {
	Part string // subject, body or email_html
	Err  *jinja.Error
}

func (e *PartError) Error() string { return fmt.Sprintf("%s: %s", e.Part, e.Err.Error()) }

func (e *PartError) Unwrap() error { return e.Err }

// Validate checks the syntax of a template's parts. The error, if any, is a *PartError with the line of the mistake.
func Validate(c TemplateContent) error {
	for _, p := range []struct{ name, src string }{
		{"subject", c.Subject}, {"body", c.Body}, {"email_html", c.EmailHTML},
	} {
		var mistake *jinja.Error
		if _, err := jinja.Compile(p.src, jinja.Limits{}); errors.As(err, &mistake) {
			return &PartError{Part: p.name, Err: mistake}
		}
	}
	return nil
}

// UndeclaredVariables returns the variables that a template uses and the application does not declare, sorted. What it
// uses only as a default is among them: it is a hint, not a mistake. Parts with mistakes are left out.
func UndeclaredVariables(c TemplateContent, declared []string) []string {
	known := map[string]bool{"iris": true}
	for _, d := range declared {
		known[d] = true
	}
	found := map[string]bool{}
	for _, src := range []string{c.Subject, c.Body, c.EmailHTML} {
		t, err := jinja.Compile(src, jinja.Limits{})
		if err != nil {
			continue
		}
		for _, v := range t.Variables() {
			if !known[v] {
				found[v] = true
			}
		}
	}
	out := make([]string, 0, len(found))
	for v := range found {
		out = append(out, v)
	}
	sort.Strings(out)
	return out
}

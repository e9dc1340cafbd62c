package sources

import (
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
)

// Recipes returns the recipes of this program and those in a folder; "" = none. An error names the file, or the sample
// that does not become what its recipe says.
func Recipes(folder string) (*recipes.Book, error) {
	builtin := recipes.Builtin()
	book, err := builtin.With(folder)
	if err != nil {
		return nil, err
	}
	for _, r := range book.All() {
		if known, ok := builtin.Named(r.Name); ok && known == r {
			continue // a test tries them
		}
		if err := TrySamples(book, r); err != nil {
			return nil, err
		}
	}
	return book, nil
}

// SampleRequest is the delivery of a sample.
func SampleRequest(s recipes.Sample) intake.Request {
	if s.At.IsZero() {
		s.At = time.Now()
	}
	return intake.Request{Body: []byte(s.Body), At: s.At, Query: func(string) string { return "" }, Header: func(name string) string {
		if name == "Content-Type" {
			return s.ContentType
		}
		return ""
	}}
}

// TrySamples returns an error if a sample of a recipe does not become what it says, is read by another recipe, or has
// another key than the other samples of its alert.
func TrySamples(book *recipes.Book, r *recipes.Recipe) error {
	for _, s := range r.Samples {
		decode := Generic(book)
		if s.Mail {
			decode = Email(book)
		}
		events, err := decode(SampleRequest(s))
		if err != nil {
			return fmt.Errorf("recipe %s, sample %s: %w", r.Name, s.Name, err)
		}
		if len(events) != len(s.Events) {
			return fmt.Errorf("recipe %s, sample %s: it becomes %d events and must become %d", r.Name, s.Name, len(events), len(s.Events))
		}
		for k, e := range events {
			if why := differs(r.Name, s.Events[k], e); why != "" {
				return fmt.Errorf("recipe %s, sample %s: %s", r.Name, s.Name, why)
			}
		}
	}
	return nil
}

// differs says in what an event is not what is expected of the recipe with the name; "" = in nothing.
func differs(name string, want recipes.Expected, e intake.Event) string {
	link := ""
	if len(e.Links) > 0 {
		link = e.Links[0].URL
	}
	for _, f := range []struct{ field, want, got string }{
		{"status", string(want.Status), string(e.Status)}, {"severity", string(want.Severity), string(e.Severity)},
		{"key", want.Key, e.Key}, {"title", want.Title, e.Title}, {"summary", want.Summary, e.Summary},
		{"link", want.Link, link},
	} {
		if f.want != "" && f.want != f.got {
			return fmt.Sprintf("%s is %q and must be %q", f.field, f.got, f.want)
		}
	}
	for label, value := range want.Labels {
		if e.Labels[label] != value {
			return fmt.Sprintf("labels.%s is %q and must be %q", label, e.Labels[label], value)
		}
	}
	if why := e.FailureText(); why != "" {
		return why
	}
	if e.Recipe == nil || e.Recipe.Name != name {
		return fmt.Sprintf("no recipe or another one recognises it: %v", e.ReadBy())
	}
	return ""
}

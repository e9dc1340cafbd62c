package page

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
)

// maxForm is the largest form, in bytes.
const maxForm = 4 << 20

// Form reads a form. Its values have no spaces around them. If it cannot be read, Form has answered the request and returns false.
func (p *Pages) Form(rw http.ResponseWriter, r *http.Request) (url.Values, bool) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		refusal := fault.New(fault.Invalid, "the form cannot be read")
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			refusal = fault.New(fault.TooLarge, "the form is too large")
		}
		p.Fail(rw, r, refusal)
		return nil, false
	}
	out := url.Values{}
	for name, values := range r.PostForm {
		for _, v := range values {
			out.Add(name, strings.TrimSpace(Storable(v)))
		}
	}
	return out, true
}

// Field is a value of a form that is sent again.
type Field struct{ Name, Value string }

// Fields returns the values of a form, ordered by name.
func Fields(form url.Values) []Field {
	var all []Field
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			all = append(all, Field{name, value})
		}
	}
	return all
}

// maxKept is the largest form that KeepForm keeps, in bytes.
const maxKept = 256 << 10

// KeepForm answers a form of somebody whose session has ended: the page keeps what was typed, and the person can send it again after the
// log-in. It returns false if the request is no form, or if the form is too large.
func (p *Pages) KeepForm(rw http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || IsRefresh(r) {
		return false
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxKept)
	if r.ParseForm() != nil {
		return false
	}
	p.Render(rw, r, http.StatusUnauthorized, "session-ended", struct {
		Frame
		Action string
		Fields []Field
	}{Frame{Title: "Your session has ended"}, r.URL.RequestURI(), Fields(r.PostForm)})
	return true
}

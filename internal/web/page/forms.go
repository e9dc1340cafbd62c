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

// maxForm is the largest form of a page, in encoded bytes.
const maxForm = 1 << 20

// ReadForms parses the forms of requests for next. A form that is too large or broken is refused.
func (p *Pages) ReadForms(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				kind, text := fault.Invalid, "The form cannot be read. Go back and send it again."
				if large := new(http.MaxBytesError); errors.As(err, &large) {
					kind, text = fault.TooLarge, "The form has more than 1 MB. Go back and shorten it."
				}
				p.Fail(rw, r, fault.New(kind, text))
				return
			}
		}
		next.ServeHTTP(rw, r)
	})
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

// Offer is a page with a form that sends a change again.
type Offer struct {
	Frame
	Problem string
	Action  string // the form's address
	Fields  []Field
	Label   string
	Leave   string // text of the link that leaves without the change
	Back    string // address of that link
}

// offerAgain answers a form that failed for a reason that passes: the page keeps what was typed, and the person sends it again. It returns
// false if the request is no form, or one that is too large or has a password.
func (p *Pages) offerAgain(rw http.ResponseWriter, r *http.Request, f Frame, status int, text string) bool {
	if r.Method != http.MethodPost || IsRefresh(r) {
		return false
	}
	if r.PostForm == nil {
		r.Body = http.MaxBytesReader(rw, r.Body, maxKept)
	}
	if r.ParseForm() != nil {
		return false
	}
	for name := range r.PostForm {
		if strings.Contains(name, "password") || strings.Contains(name, "secret") {
			return false
		}
	}
	back := "/"
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host && strings.HasPrefix(from.Path, "/") {
		back = from.RequestURI()
	}
	p.Render(rw, r, status, "confirm", Offer{Frame: f, Problem: text + " What you sent is kept on this page.", Action: r.URL.RequestURI(),
		Fields: Fields(r.PostForm), Label: "Send it again", Leave: "Leave it as it is", Back: back})
	return true
}

package page

import (
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Typed returns the values of the form of r, storable and without spaces around them.
func Typed(r *http.Request) url.Values {
	out := url.Values{}
	for name, values := range r.PostForm {
		for _, v := range values {
			out.Add(name, strings.TrimSpace(Storable(v)))
		}
	}
	return out
}

// maxForm is the largest form of a page, in bytes.
const maxForm = 4 << 20

// readForm reads the form of a request once, within maxForm. It returns an error if the body is incomplete or not a
// form.
func readForm(rw http.ResponseWriter, r *http.Request) error {
	if r.PostForm != nil {
		return nil
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	err := r.ParseForm()
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fault.Newf(fault.TooLarge,
			"The form is larger than %d KB. Nothing was changed: go back and make it shorter", maxForm>>10)
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.ContentLength != 0 && kind != "application/x-www-form-urlencoded" {
		return fault.Invalidf("", "The form did not arrive completely. Nothing was changed: go back and send it again")
	}
	return nil
}

// ReadForm is a middleware that reads the form of each POST. A form that cannot be read is refused, so that handlers
// see all its values.
func (p *Pages) ReadForm(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if err := readForm(rw, r); err != nil {
				p.Fail(rw, r, err)
				return
			}
		}
		next.ServeHTTP(rw, r)
	})
}

// Again is a refused form that the page of the object shows again.
type Again struct {
	Form    string // name of the form; "" = none was refused
	Typed   url.Values
	Refusal Refusal
}

// Problem is the refusal of a form, if it is that form.
func (a Again) Problem(form string) Refusal {
	if a.Form == form {
		return a.Refusal
	}
	return Refusal{}
}

// Value is the value of a field: the typed value if the form was refused, otherwise the stored one. A zero value
// becomes "".
func (a Again) Value(form, field string, stored any) string {
	if a.Problem(form).Text != "" && a.Typed.Has(field) {
		return a.Typed.Get(field)
	}
	if n, ok := stored.(int); ok && n == 0 {
		return ""
	}
	return fmt.Sprint(stored)
}

// Status is the status of the page.
func (a Again) Status() int { return max(a.Refusal.Status, http.StatusOK) }

// Done leads to another page, which shows a text once.
func (p *Pages) Done(rw http.ResponseWriter, r *http.Request, to, text string) {
	p.Sessions.Put(r.Context(), "flash", text)
	http.Redirect(rw, r, to, http.StatusSeeOther)
}

// Finish answers a form that err may have refused. A success leads to another page, which shows the text done once. A
// refusal that the person can correct is shown by again.
func (p *Pages) Finish(rw http.ResponseWriter, r *http.Request, done, to string, err error, again func(Refusal)) {
	if err == nil {
		p.Done(rw, r, to, done)
		return
	}
	if refusal, ok := p.Refused(rw, r, err); ok {
		again(refusal)
	}
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

// KeepForm answers a form of somebody whose session has ended: the page keeps what was typed, and the person can send
// it again after the log-in. It returns false if the request is no form.
func (p *Pages) KeepForm(rw http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || IsRefresh(r) {
		return false
	}
	err := readForm(rw, r)
	if fault.Is(err, fault.TooLarge) {
		p.Fail(rw, r, err)
		return true
	}
	if err != nil || !offerable(r.PostForm) {
		p.Problem(rw, r, Frame{Title: "Your session has ended"}, http.StatusUnauthorized,
			"Nothing was changed. Log in, go back, and send the form again.")
		return true
	}
	p.Render(rw, r, http.StatusUnauthorized, "session-ended", struct {
		Frame
		Action string
		Fields []Field
	}{Frame{Title: "Your session has ended"}, r.URL.RequestURI(), Fields(r.PostForm)})
	return true
}

// ConfirmPassword is the field in which a person confirms the log-in. A kept form does not have it.
const ConfirmPassword = "confirm_password"

// offerable reports whether a page may keep the values of a form, which it may not if one is a secret. It removes the
// confirmation of the log-in.
func offerable(form url.Values) bool {
	form.Del(ConfirmPassword)
	for name := range form {
		if strings.Contains(name, "password") || strings.Contains(name, "secret") {
			return false
		}
	}
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

// offerAgain answers a form that failed for a temporary reason: the page keeps what was typed, and the person sends it
// again. It returns false if the request is no form, or one that is too large or has a password.
func (p *Pages) offerAgain(rw http.ResponseWriter, r *http.Request, f Frame, status int, text string) bool {
	if r.Method != http.MethodPost || IsRefresh(r) || readForm(rw, r) != nil || !offerable(r.PostForm) {
		return false
	}
	back := "/"
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host && strings.HasPrefix(from.Path, "/") {
		back = from.RequestURI()
	}
	p.Render(rw, r, status, "confirm", Offer{Frame: f, Problem: text + " What you entered is kept on this page.",
		Action: r.URL.RequestURI(),
		Fields: Fields(r.PostForm), Label: "Send it again", Leave: "Leave it as it is", Back: back})
	return true
}

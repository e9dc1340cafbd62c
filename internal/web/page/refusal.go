package page

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Path formats a path. Each name is escaped as one segment.
func Path(format string, names ...any) string {
	escaped := make([]any, len(names))
	for i, n := range names {
		escaped[i] = url.PathEscape(fmt.Sprint(n))
	}
	return fmt.Sprintf(format, escaped...)
}

// Query returns an address with parameters: names and values in turns. Empty values are left out.
func Query(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// Suggest returns the names of the first page of a list, for suggestions. If the list cannot be read, there are none.
func Suggest[In, T any](r *http.Request, list operation.Op[In, operation.Page[T]], in In, name func(T) string) (names []string) {
	found, _ := list.Do(r.Context(), Actor(r), in) // a form works without suggestions
	for _, one := range found.Items {
		names = append(names, name(one))
	}
	return names
}

// ETag returns the ETag of an object, as forms carry it.
func ETag(o interface{ Tag() string }) string { return operation.In(o.Tag()).IfMatch }

// Longest is how many items the longest page of a list has.
const Longest = 500

// toReader returns the error of an operation as pages show it. Some answer Unauthenticated to callers who may
// not do something. The reader of a page has logged in, so for pages that is Forbidden.
func toReader(err error) error {
	if fault.Is(err, fault.Unauthenticated) {
		return fault.Wrap(fault.Forbidden, err, fault.Public(err))
	}
	return err
}

// Refusal is what a form shows about an error that the person can correct.
type Refusal struct {
	Status int
	Field  string // the field that is wrong, in the spelling of the operation; "" = none
	Text   string // "" = there is no error
	Others []fault.Field
}

// At returns what is wrong with a field; "" = nothing.
func (f Refusal) At(field string) string {
	if f.Text == "" || f.Field == field {
		return f.Text
	}
	for _, other := range f.Others {
		if other.Name == field {
			return other.Message
		}
	}
	return ""
}

// Tag returns the ETag for a refused form. It is now, the ETag that was just read, if the form was refused because of
// another person's change, so that the person can compare and save again. Otherwise it is sent, the ETag of the form.
func (f Refusal) Tag(sent, now string) string {
	if f.Status == http.StatusPreconditionFailed {
		return now
	}
	return sent
}

// Refused returns what a form shows about err. If the person cannot correct the error, Refused has answered the request
// and returns false.
func (p *Pages) Refused(rw http.ResponseWriter, r *http.Request, err error) (Refusal, bool) {
	err = toReader(err)
	switch kind := fault.KindOf(err); kind {
	case fault.Invalid, fault.Conflict, fault.Mismatch, fault.Stale, fault.TooLarge, fault.Forbidden, fault.Throttled, fault.NotFound:
		refusal := Refusal{Status: wire.Status(err), Field: fault.FieldOf(err), Text: fault.Public(err)}
		if f := (*fault.Error)(nil); errors.As(err, &f) {
			refusal.Others = f.Others
		}
		if kind == fault.NotFound && refusal.Field == "" {
			break
		}
		if kind == fault.Stale {
			refusal.Text = "Somebody else has changed this in the meantime. Open it again in another tab, compare, and save again."
		}
		return refusal, true
	}
	p.Fail(rw, r, err)
	return Refusal{}, false
}

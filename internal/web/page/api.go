package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// API calls the JSON APIs of this server in the process, as the reader of a page (docs/adr/0065). The APIs decide what
// is valid and who may do it, and they write the audit log, so a page has no rules of its own. An error is the fault of
// the API, with the field that is wrong.
type API struct {
	handler http.Handler
	r       *http.Request
	token   string // the CSRF token of the session, which the calendar's APIs want
	match   string
	create  bool
}

// API returns the APIs for the reader of r. Its calls end when r ends.
func (p *Pages) API(r *http.Request) API {
	return API{handler: p.apis, r: r, token: wire.SessionToken(r.Context(), p.Sessions)}
}

// Reader returns the name of the reader.
func (a API) Reader() string { return Reader(a.r).Name }

// Listed is a page of a list of /v1.
type Listed[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"` // cursor of the next page; "" = there is none
}

// Named is an object of an API of which only the name is read.
type Named struct {
	Name string `json:"name"`
}

// Path formats a path of an API. Each name is escaped as one segment.
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

// IfMatch returns an API whose calls change an object only in the state that etag names; another state is a Stale
// fault.
func (a API) IfMatch(etag string) API {
	a.match = etag
	return a
}

// New returns an API whose PUTs only create: if there is an object with the name already, they change nothing and
// return a Stale fault.
func (a API) New() API {
	a.create = true
	return a
}

// Get reads an object into out. path may have a query.
func (a API) Get(path string, out any) error {
	_, err := a.Read(path, out)
	return err
}

// Read is Get, and returns the ETag of the object; "" = it has none.
func (a API) Read(path string, out any) (etag string, err error) {
	h, err := a.call(http.MethodGet, path, nil, out)
	return h.Get("ETag"), err
}

// Send sends a request with in as JSON and decodes the answer into out. nil = no body, or an answer that is not
// decoded.
func (a API) Send(method, path string, in, out any) error {
	_, err := a.call(method, path, in, out)
	return err
}

// List reads the first page of a list of /v1.
func List[T any](a API, path string, out *[]T) error {
	var found Listed[T]
	err := a.Get(path, &found)
	*out = found.Items
	return err
}

// Names returns the first names of a list of /v1, for suggestions. If the list cannot be read, there are none.
func (a API) Names(list string) (names []string) {
	var found Listed[Named]
	_ = a.Get(list+"?limit=500", &found) // a form works without suggestions
	for _, one := range found.Items {
		names = append(names, one.Name)
	}
	return names
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

func (a API) call(method, path string, in, out any) (http.Header, error) {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return nil, err
		}
	}
	var refusal error
	ctx := wire.WithRefusal(context.WithValue(a.r.Context(), chi.RouteCtxKey, nil),
		&refusal) // the router of the APIs begins anew
	r, err := http.NewRequestWithContext(ctx, method, path, &body)
	if err != nil {
		return nil, err
	}
	r.RequestURI, r.Host, r.RemoteAddr = path, a.r.Host, a.r.RemoteAddr
	r.Header.Set("Cookie", a.r.Header.Get("Cookie")) // has the session. Pages check for themselves that no other site sent the request
	r.Header.Set("X-CSRF-TOKEN", a.token)
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.match != "" {
		r.Header.Set("If-Match", a.match)
	}
	if a.create {
		r.Header.Set("If-None-Match", "*")
	}
	w := &answer{header: http.Header{}, status: http.StatusOK}
	a.handler.ServeHTTP(w, r)
	switch {
	case refusal != nil:
		return w.header, toReader(refusal)
	case w.status >= http.StatusBadRequest:
		return w.header, fmt.Errorf("%s %s: status %d", method, path, w.status)
	case out == nil || w.body.Len() == 0:
		return w.header, nil
	}
	return w.header, json.Unmarshal(w.body.Bytes(), out)
}

// toReader returns the error of an API or an operation as pages show it. Some answer Unauthenticated to callers who may
// not do something. The reader of a page has logged in, so for pages that is Forbidden.
func toReader(err error) error {
	if fault.Is(err, fault.Unauthenticated) {
		return fault.Wrap(fault.Forbidden, err, fault.Public(err))
	}
	return err
}

// answer keeps the answer of an API.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// Refusal is what a form shows about an error that the person can correct.
type Refusal struct {
	Status int
	Field  string // the field that is wrong, in the spelling of the API; "" = none
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

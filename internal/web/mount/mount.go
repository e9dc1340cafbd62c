package mount

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// API collects the routes of operations and their description. Mount is not safe for concurrent use.
type API struct {
	who    func(context.Context) operation.Actor
	huma   huma.API
	routes []routing.Route
	docs   []operation.Doc
	open   bool
}

// New returns an API without routes. who returns the caller of a request.
func New(who func(context.Context) operation.Actor) *API {
	c := huma.DefaultConfig("Iris", "1")
	c.OpenAPIPath, c.DocsPath, c.SchemasPath, c.CreateHooks = "", "", "", nil
	c.Formats = map[string]huma.Format{"application/json": {Marshal: marshal, Unmarshal: json.Unmarshal}}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	a := &API{who: who}
	a.huma = huma.NewAPI(c, a)
	return a
}

// Open returns the API with reads that everybody may use if anonymous reads are on: those that are for all callers.
func (a *API) Open() *API {
	a.open = true
	return a
}

// marshal writes JSON as all other routes do.
func marshal(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
	return err
}

// schemaName keeps types of the same name in two packages apart: silences.Draft is SilencesDraft.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	pkg := path.Base(t.PkgPath())
	if t.PkgPath() == "" || pkg == "operation" || strings.HasPrefix(strings.ToLower(name), strings.TrimSuffix(pkg, "s")) {
		return name
	}
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

// Routes returns the routes of the operations.
func (a *API) Routes() []routing.Route {
	a.schemas()
	return a.routes
}

// Outputs may say that they were made (201) and not replaced (200), and have what belongs into headers: an address
// (Location, of a 201), the tag of their state (ETag), and warnings.
type (
	made    interface{ Made() bool }
	located interface{ Location() string }
	tagged  interface{ Tag() string }
	warned  interface{ Warnings() []string }
)

type answer[T any] struct {
	Status   int
	Location string   `header:"Location"`
	Tag      string   `header:"ETag"`
	Warnings []string `header:"X-Iris-Warning"`
	Body     T
}

// Mount adds an operation. In is the body of a request, or its members say where they come from, see operation.IsBody.
func Mount[In, Out any](a *API, o operation.Op[In, Out]) {
	if operation.IsBody(o.Method, reflect.TypeFor[In]()) {
		type input struct{ Body In }
		register(a, o, func(in *input) In { return in.Body })
		return
	}
	register(a, o, func(in *In) In { return *in })
}

func register[Input, In, Out any](a *API, o operation.Op[In, Out], read func(*Input) In) {
	a.docs = append(a.docs, o.Doc)
	_, makes := any(*new(Out)).(made)
	about := huma.Operation{OperationID: o.Name, Method: o.Method, Path: o.Path, DefaultStatus: o.Status,
		Metadata: map[string]any{"doc": o.Doc, "makes": makes}}
	if operation.IsNone(reflect.TypeFor[Out]()) {
		huma.Register(a.huma, about, func(ctx context.Context, in *Input) (*struct{}, error) {
			_, err := o.DoValid(ctx, a.who(ctx), read(in))
			return nil, err
		})
		return
	}
	if reflect.TypeFor[Out]() == reflect.TypeFor[operation.Lines]() {
		about.Metadata["lines"] = true
		huma.Register(a.huma, about, func(ctx context.Context, in *Input) (*huma.StreamResponse, error) {
			out, err := o.DoValid(ctx, a.who(ctx), read(in))
			if err != nil {
				return nil, err
			}
			lines, _ := any(out).(operation.Lines)
			return &huma.StreamResponse{Body: func(c huma.Context) { send(c, lines) }}, nil
		})
		return
	}
	huma.Register(a.huma, about, func(ctx context.Context, in *Input) (*answer[Out], error) {
		out, err := o.DoValid(ctx, a.who(ctx), read(in))
		if err != nil {
			return nil, err
		}
		given := &answer[Out]{Status: o.Status, Body: out}
		if m, ok := any(out).(made); ok && m.Made() {
			given.Status = http.StatusCreated
		}
		if l, ok := any(out).(located); ok && given.Status == http.StatusCreated {
			given.Location = l.Location()
		}
		if t, ok := any(out).(tagged); ok {
			given.Tag = `"` + t.Tag() + `"`
		}
		if w, ok := any(out).(warned); ok {
			given.Warnings = wire.Warnings(w.Warnings())
		}
		return given, nil
	})
}

// send writes the lines. If it fails after the first one, the connection breaks off, so that the caller does not take a
// part for the whole.
func send(c huma.Context, l operation.Lines) {
	begun := false
	out := bufio.NewWriter(c.BodyWriter())
	lines := json.NewEncoder(out)
	begin := func() {
		begun = true
		c.SetHeader("Content-Type", "application/jsonl")
		c.SetHeader("Content-Disposition", `attachment; filename="`+l.File+`"`)
	}
	err := l.Each(c.Context(), func(row any) error {
		if !begun {
			begin()
		}
		return lines.Encode(row)
	})
	switch r, _ := c.(*request); {
	case err != nil && !begun && r != nil:
		r.refused = err
		return
	case err != nil:
		panic(http.ErrAbortHandler)
	case !begun:
		begin()
	}
	if out.Flush() != nil {
		panic(http.ErrAbortHandler) // the caller has gone
	}
}

// schemas returns the schemas of the types.
func (a *API) schemas() huma.Registry {
	all := a.huma.OpenAPI().Components.Schemas
	requireLists(all.Map())
	allowNull(all)
	return all
}

// requireLists makes lists that are required refuse null, which would be an empty list.
func requireLists(schemas map[string]*huma.Schema) {
	for _, s := range schemas {
		for _, name := range s.Required {
			if p := s.Properties[name]; p != nil && p.Type == huma.TypeArray {
				p.Nullable = false
			}
		}
	}
}

// allowNull describes members that are a pointer to an object, and always there, as objects or null.
func allowNull(schemas huma.Registry) {
	for name, s := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[member]
			if p == nil || p.Ref == "" || f.Type.Kind() != reflect.Pointer || strings.Contains(options, "omit") {
				continue
			}
			s.Properties[member] = &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}, Description: p.Description}
		}
	}
}

// Handle implements huma.Adapter: it makes a route of an operation.
func (a *API) Handle(op *huma.Operation, handler func(huma.Context)) {
	doc, _ := op.Metadata["doc"].(operation.Doc)
	numbers, several, known := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range op.Parameters {
		known[p.Name] = known[p.Name] || p.In == "query"
		several[p.Name] = p.In == "query" && p.Schema.Type == huma.TypeArray
		numbers[p.Name] = p.In == "path" && p.Schema.Type == huma.TypeInteger
	}
	a.routes = append(a.routes, routing.Route{Method: op.Method, Path: op.Path, Access: a.access(doc), Handle: func(w http.ResponseWriter, r *http.Request) error {
		if doc.Secret {
			w.Header().Set("Cache-Control", "no-store")
			if stored(doc) && r.Header.Get("Idempotency-Key") != "" {
				return fault.Invalidf("Idempotency-Key",
					"an Idempotency-Key is refused here: the secret would be stored with the answer")
			}
		}
		for name, values := range r.URL.Query() {
			if !known[name] {
				return fault.Invalidf(name, "there is no parameter %.60q", name)
			}
			if len(values) != 1 && !several[name] {
				return fault.Invalidf(name, "%.60s is given more than once", name)
			}
			if !slices.ContainsFunc(values, unstorable) {
				continue
			}
			return fault.Invalidf(name, "%.60s must be UTF-8 text without NUL characters", name)
		}
		if op.RequestBody != nil {
			raw, _, err := wire.Body(w, r, wire.MaxBody)
			if optional := len(bytes.TrimSpace(raw)) == 0 && !op.RequestBody.Required; optional {
				raw = nil
			} else if err == nil && op.RequestBody.Content["application/json"] != nil {
				err, raw = wire.CheckJSON(raw), wire.WithoutNUL(raw)
			}
			if err != nil {
				return err
			}
			r.Body = io.NopCloser(bytes.NewReader(raw))
		} else if op.Method == http.MethodPost {
			if err := requireNothing(w, r); err != nil {
				return err
			}
		}
		c := &request{humaContext: humachi.NewContext(op, r, w), r: r, numbers: numbers}
		handler(c)
		return c.refused
	}})
}

// requireNothing refuses the members of a body that an operation without input gets. No body and {} are right.
func requireNothing(w http.ResponseWriter, r *http.Request) error {
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil || len(bytes.TrimSpace(raw)) == 0 {
		return err
	}
	members, err := wire.Object(wire.WithoutNUL(raw))
	for name := range members {
		return fault.Invalidf(name, "there is no member %.60q", name)
	}
	return err
}

// stored reports whether answers of an operation to requests with an Idempotency-Key are stored, see package replay.
func stored(d operation.Doc) bool {
	return d.Method == http.MethodPost && d.Needs > operation.Nobody
}

func (a *API) opened(doc operation.Doc) bool {
	return a.open && doc.Needs == operation.Reader && doc.Rule == operation.Anybody
}

// ServeHTTP implements huma.Adapter. The routes are served by a routing.Mount.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

func (a *API) access(doc operation.Doc) routing.Access {
	switch doc.Needs {
	case operation.Nobody:
		return routing.Public
	case operation.Reader:
		if a.opened(doc) {
			return routing.Read
		}
		return routing.Someone
	case operation.Member, operation.Admin:
	}
	if doc.Method == http.MethodGet {
		return routing.Someone // the operation refuses callers with a lower role
	}
	return routing.Write
}

type humaContext huma.Context // it has a method Context, which an embedded field of that name would hide

// request is a request with its answer. A refusal is not written: the route returns it.
type request struct {
	humaContext
	r       *http.Request
	numbers map[string]bool // path parameters that are numbers
	refused error
}

// Header implements huma.Context. Bodies and answers are JSON, whatever a client says.
func (c *request) Header(name string) string {
	switch name {
	case "Content-Type":
		return "application/json"
	case "Accept":
		return ""
	case "If-Match":
		given := c.r.Header.Values(name)
		if text := strings.Join(given, ","); text != "" || len(given) == 0 {
			return text
		}
		return "," // no state
	}
	return c.humaContext.Header(name)
}

// Param implements huma.Context. A text in the place of a number is 0, which no object has.
func (c *request) Param(name string) string {
	text := wire.Param(c.r, name)
	if unstorable(text) {
		text = "\uFFFD" // a name that no object has
	}
	if c.numbers[name] {
		text = strings.TrimSpace(text)
	}
	if n, err := strconv.ParseInt(text, 10, 64); c.numbers[name] && (err != nil || n <= 0) {
		return "0"
	}
	return text
}

func unstorable(text string) bool { return !wire.Storable(text) }

// SetReadDeadline implements huma.Context. The body is read before, within the limits of the server. A deadline that
// ends while the operation works would cancel it: net/http cancels a request whose connection can no longer be read.
func (*request) SetReadDeadline(time.Time) error { return nil }

// SetStatus implements huma.Context.
func (c *request) SetStatus(status int) {
	if c.refused == nil {
		c.humaContext.SetStatus(status)
	}
}

// SetHeader implements huma.Context.
func (c *request) SetHeader(name, value string) {
	if c.refused == nil {
		c.humaContext.SetHeader(name, value)
	}
}

// BodyWriter implements huma.Context.
func (c *request) BodyWriter() io.Writer {
	if c.refused != nil {
		return io.Discard
	}
	return c.humaContext.BodyWriter()
}

// status makes an error a huma.StatusError that is never written.
type status struct{ error }

// GetStatus implements huma.StatusError.
func (status) GetStatus() int { return http.StatusInternalServerError }

// huma hands over its errors instead of writing them. The function that makes them is a variable of huma, which all
// APIs share.
var _ = func() struct{} {
	huma.NewErrorWithContext = func(c huma.Context, code int, text string, errs ...error) huma.StatusError {
		err := refusal(code, text, errs)
		if r, ok := c.(*request); ok {
			r.refused = err
		}
		return status{err}
	}
	return struct{}{}
}()

func refusal(code int, text string, errs []error) error {
	if code >= http.StatusInternalServerError {
		return errors.Join(errs...)
	}
	if err := operation.Invalid(errs); err != nil {
		return err
	}
	return fault.New(fault.Invalid, text)
}

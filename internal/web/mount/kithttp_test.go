package mount_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

type step struct {
	Wait int `json:"wait" minimum:"1"`
}

type content struct {
	Name  string `json:"name" maxLength:"5"`
	Steps []step `json:"steps,omitempty"`
}

func (c content) Check() error {
	var wrong fault.Wrong
	wrong.If(c.Name == "bad", "name", "name is taken")
	wrong.If(c.Name == "bad" && len(c.Steps) > 0, "steps[0].wait", "wait is too short")
	return wrong.Err()
}

type thing struct {
	ID   int64          `json:"id"`
	Name string         `json:"name"`
	Note operation.Text `json:"note"`
}

func (thing) Location() string { return "/v1/things/7" }

type one struct {
	ID int64 `path:"thing"`
}

type edit struct {
	Thing string `path:"thing"`
	operation.State
	Body content
}

// edited is a thing that a PUT made or replaced.
type edited struct {
	thing
	made bool
}

func (e edited) Made() bool { return e.made }

func (edited) Tag() string { return "t1" }

type filter struct {
	operation.Paging
	Over bool `query:"over"`
}

type lines struct {
	Rows int  `query:"rows"`
	Fail bool `query:"fail"`
}

type members struct {
	Members []string `json:"members"`
	Tags    []string `json:"tags,omitempty"`
}

// server serves operations. The caller is a member.
func server() http.Handler {
	a := mount.New(func(context.Context) operation.Actor {
		return operation.Actor{Name: "ann",
			Role: operation.Member}
	})
	mount.Mount(a, operation.Define[content, thing](operation.Doc{Name: "thing.create", Method: http.MethodPost,
		Path: "/v1/things", Needs: operation.Member}).
		By(func(_ context.Context, by operation.Actor, c content) (thing, error) {
			return thing{7, c.Name + " <" + by.Name + ">", ""}, nil
		}))
	mount.Mount(a, operation.Define[filter, operation.Page[thing]](operation.Doc{Name: "thing.list",
		Method: http.MethodGet, Path: "/v1/things", Needs: operation.Reader}).
		By(func(_ context.Context, _ operation.Actor, f filter) (operation.Page[thing], error) {
			return operation.PageOf(f.Paging, []thing{{ID: 2}, {ID: 1}}, func(t thing) int64 { return t.ID }), nil
		}))
	mount.Mount(a, operation.Define[one, operation.None](operation.Doc{Name: "thing.delete", Method: http.MethodDelete,
		Path: "/v1/things/{thing}", Needs: operation.Member}).
		By(func(_ context.Context, _ operation.Actor, o one) (out operation.None, err error) {
			switch o.ID {
			case 0:
				err = fault.New(fault.NotFound, "there is no such thing")
			case 9:
				err = context.DeadlineExceeded
			}
			return out, err
		}))
	mount.Mount(a, operation.Define[edit, edited](operation.Doc{Name: "thing.replace", Method: http.MethodPut,
		Path: "/v1/things/{thing}", Needs: operation.Member}).
		By(func(_ context.Context, _ operation.Actor, e edit) (edited, error) {
			tag := map[string]string{"old": "t1"}[e.Thing]
			_, err := e.Check(tag)
			return edited{thing{7, e.Body.Name, ""}, tag == ""}, err
		}))
	mount.Mount(a, operation.Define[content, thing](operation.Doc{Name: "thing.create-key", Method: http.MethodPost,
		Path: "/v1/keys", Needs: operation.Member, Secret: true}).
		By(func(_ context.Context, _ operation.Actor, c content) (thing, error) { return thing{7, c.Name, ""}, nil }))
	mount.Mount(a, operation.Define[members, operation.None](operation.Doc{Name: "thing.members", Method: http.MethodPut,
		Path: "/v1/members", Needs: operation.Member}).
		By(func(context.Context, operation.Actor, members) (none operation.None, err error) { return none, nil }))
	mount.Mount(a, operation.Define[lines, operation.Lines](operation.Doc{Name: "thing.export", Method: http.MethodGet,
		Path: "/v1/things/export", Needs: operation.Reader}).
		By(func(_ context.Context, _ operation.Actor, l lines) (operation.Lines, error) {
			return operation.Lines{File: "things.jsonl", Each: func(_ context.Context, write func(any) error) error {
				for i := range l.Rows {
					if err := write(thing{ID: int64(i)}); err != nil {
						return err
					}
				}
				if l.Fail {
					return fault.New(fault.NotFound, "there is no such thing")
				}
				return nil
			}}, nil
		}))
	r := chi.NewRouter()
	routing.Mount{Errors: wire.NewErrors(zap.NewNop()), Identify: func(next http.Handler) http.Handler { return next },
		Admit: func(routing.Route, *http.Request) error { return nil }}.Routes(r, a.Routes())
	return r
}

func TestRequestsAndAnswers(t *testing.T) {
	t.Parallel()
	s := server()
	problem := func(status, errors string) string {
		return `{"type":"about:blank","title":"` + status + `",` + errors + `}`
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/things", `{"name": "it"}`, 201, `{"id":7,"name":"it <ann>","note":null}`},
		{"POST", "/v1/things", `{"name": "longer", "steps": [{"wait": 1}, {"wait": 0}], "secret": "s3cr3t"}`, 400,
			problem("Bad Request", `"status":400,"detail":"name must have at most 5 characters","field":"name",
			"errors":[{"pointer":"#/name","detail":"name must have at most 5 characters"},{"pointer":"#/steps/1/wait","detail":"steps[1].wait must be at least 1"},{"pointer":"#/secret","detail":"secret is not known here"}]`)},
		{"POST", "/v1/things", `{"name": "bad", "steps": [{"wait": 1}]}`, 400,
			problem("Bad Request", `"status":400,"detail":"name is taken","field":"name",
			"errors":[{"pointer":"#/name","detail":"name is taken"},{"pointer":"#/steps/0/wait","detail":"wait is too short"}]`)},
		{"POST", "/v1/things", `{"name": 5}`, 400, problem("Bad Request",
			`"status":400,"detail":"name must be a string","field":"name","errors":[{"pointer":"#/name","detail":"name must be a string"}]`)},
		{"POST", "/v1/things", `{}`, 400, problem("Bad Request",
			`"status":400,"detail":"name is missing","field":"name","errors":[{"pointer":"#/name","detail":"name is missing"}]`)},
		{"POST", "/v1/things", `[]`, 400, problem("Bad Request", `"status":400,"detail":"the body must be an object"`)},
		{"POST", "/v1/things", `{"name"`, 400, problem("Bad Request",
			`"status":400,"detail":"Invalid json in post body"`)},
		{"POST", "/v1/things", ``, 400, problem("Bad Request", `"status":400,"detail":"Invalid json in post body"`)},
		{"GET", "/v1/things?limit=1", "", 200, `{"items":[{"id":2,"name":"","note":null}],"next":"Mg"}`},
		{"GET", "/v1/things?limit=0&over=perhaps", "", 400, problem("Bad Request",
			`"status":400,"detail":"limit must be at least 1","field":"limit",
			"errors":[{"parameter":"limit","detail":"limit must be at least 1"},{"parameter":"over","detail":"over must be true or false"}]`)},
		{"GET", "/v1/things?limit=1&limit=2", "", 400, problem("Bad Request",
			`"status":400,"detail":"limit is given more than once","field":"limit","errors":[{"parameter":"limit","detail":"limit is given more than once"}]`)},
		{"GET", "/v1/things?past=true", "", 400, problem("Bad Request",
			`"status":400,"detail":"there is no parameter \"past\"","field":"past","errors":[{"parameter":"past","detail":"there is no parameter \"past\""}]`)},
		{"GET", "/v1/things?cursor=%00", "", 400, problem("Bad Request",
			`"status":400,"detail":"cursor must be UTF-8 text without NUL characters","field":"cursor",
			"errors":[{"parameter":"cursor","detail":"cursor must be UTF-8 text without NUL characters"}]`)},
		{"DELETE", "/v1/things/1", "", 204, ""},
		{"DELETE", "/v1/things/x", "", 404, problem("Not Found", `"status":404,"detail":"there is no such thing"`)},
		{"DELETE", "/v1/things/-4", "", 404, problem("Not Found", `"status":404,"detail":"there is no such thing"`)},
		{"DELETE", "/v1/things/9", "", 500, problem("Internal Server Error", `"status":500,"detail":"internal error"`)},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "text/plain") // is ignored
		r.Header.Set("Accept", "application/cbor")
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		require.Equal(t, c.status, rec.Code, "%s %s %s: %s", c.method, c.path, c.body, rec.Body)
		if c.want == "" {
			require.Empty(t, rec.Body.String())
			continue
		}
		require.JSONEq(t, c.want, rec.Body.String(), c.body)
		if c.status == http.StatusCreated {
			require.Equal(t, "/v1/things/7", rec.Header().Get("Location"))
			require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
			require.NotContains(t, rec.Body.String(), `\u003c`, "as other routes write it")
		}
	}
}

func TestLinesAreSentWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	get := func(query string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		server().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/v1/things/export?"+query, http.NoBody))
		return rec
	}
	for query, want := range map[string]string{"": "", "rows=2": `{"id":0,"name":"","note":null}
{"id":1,"name":"","note":null}
`} {
		rec := get(query)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Equal(t, "application/jsonl", rec.Header().Get("Content-Type"))
		require.Equal(t, `attachment; filename="things.jsonl"`, rec.Header().Get("Content-Disposition"))
		require.Equal(t, want, rec.Body.String())
	}
	require.Equal(t, http.StatusNotFound, get("fail=true").Code, "nothing was sent yet")
	require.Equal(t, http.StatusBadRequest, get("limit=2").Code, "it has all rows")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { get("rows=2&fail=true") }, "a part is not taken for the whole")
}

// Null is not an empty list: it would erase what the object has.
func TestARequiredListIsNotNull(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{`{"members": null}`: 400, `{}`: 400, `{"members": []}`: 200,
		`{"members": ["ann"], "tags": null}`: 200} {
		rec := httptest.NewRecorder()
		server().ServeHTTP(rec, httptest.NewRequest(http.MethodPut, "/v1/members", strings.NewReader(body)))
		require.Equal(t, status, rec.Code, "%s: %s", body, rec.Body)
	}
}

// deadlines records the deadlines that a handler sets for its connection.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// The server has the limits of a connection. One that ended while an operation works would cancel the operation.
func TestAnOperationMayWorkForLong(t *testing.T) {
	t.Parallel()
	rec := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	server().ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/things", strings.NewReader(`{"name": "it"}`)))
	require.Equal(t, http.StatusCreated, rec.Code)
	require.Empty(t, rec.set)
}

// An answer with a secret is neither cached nor stored for a repeated request.
func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	s := server()
	for key, status := range map[string]int{"": http.StatusCreated, "once": http.StatusBadRequest} {
		r := httptest.NewRequest(http.MethodPost, "/v1/keys", strings.NewReader(`{"name": "it"}`))
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		require.Equal(t, status, rec.Code, "%s: %s", key, rec.Body)
		require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))
	}
}

func TestAPutMakesOrReplacesUnderAState(t *testing.T) {
	t.Parallel()
	s := server()
	for _, c := range []struct {
		thing, header, value string
		status               int
	}{
		{"new", "", "", 201},
		{"new", "If-None-Match", "*", 201},
		{"new", "If-Match", `"t1"`, 412},
		{"new", "If-Match", `*`, 412},
		{"old", "", "", 200},
		{"old", "If-None-Match", "*", 412},
		{"old", "If-Match", `"t0", "t1"`, 200},
		{"old", "If-Match", `"t0"`, 412},
	} {
		r := httptest.NewRequest(http.MethodPut, "/v1/things/"+c.thing, strings.NewReader(`{"name": "it"}`))
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		require.Equal(t, c.status, rec.Code, "%+v: %s", c, rec.Body)
		if rec.Code == http.StatusPreconditionFailed {
			continue
		}
		require.Equal(t, `"t1"`, rec.Header().Get("ETag"))
		require.Equal(t, map[int]string{200: "", 201: "/v1/things/7"}[c.status], rec.Header().Get("Location"))
	}
}

// BenchmarkCreate is a POST with everything but the network and the database.
func BenchmarkCreate(b *testing.B) {
	s := server()
	b.ReportAllocs()
	for b.Loop() {
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/things",
			strings.NewReader(`{"name": "it", "steps": [{"wait": 1}]}`)))
		require.Equal(b, http.StatusCreated, rec.Code)
	}
}

package wire_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func TestErrorsHaveTheShapeOfThePath(t *testing.T) {
	t.Parallel()
	titled := fault.Titled("Invalid plan", "Empty plan name")
	for name, tc := range map[string]struct {
		path   string
		err    error
		status int
		mime   string
		body   string
	}{
		"iris": {"/v0/plans", titled, 400, "application/json",
			`{"title":"Invalid plan","description":"Empty plan name"}`},
		"iris without detail": {"/v0/plans", fault.New(fault.Forbidden, "no <power>"), 403, "application/json",
			`{"title":"no <power>"}`},
		"iris empty detail": {"/v0/plans", &fault.Error{Kind: fault.Unauthenticated, Message: "x",
			EmptyDetail: true}, 401, "application/json", `{"title":"x","description":""}`},
		"iris not found": {"/v0/plans/x", fault.New(fault.NotFound, "no plan"), 404, "application/json", ``},
		"iris internal":  {"/v0/plans", errors.New("secret"), 500, "text/plain", `Internal Server Error`},
		"oncall": {"/api/v0/teams", titled, 400, "application/json",
			`{"title":"Invalid plan","description":"Empty plan name"}`},
		"oncall no title": {"/api/v0/teams", fault.Titled("", "text"), 400, "application/json",
			`{"title":"400 Bad Request","description":"text"}`},
		"oncall not found": {"/api/v0/teams", fault.New(fault.NotFound, "x"), 404, "application/json",
			`{"title":"404 Not Found"}`},
		"oncall internal": {"/api/v0/teams", errors.New("secret"), 500, "application/json",
			`{"title":"500 Internal Server Error"}`},
		"elsewhere": {"/ack/x", titled, 400, "application/problem+json",
			`{"type":"about:blank","title":"Bad Request","status":400,"detail":"Invalid plan: Empty plan name"}`},
		"elsewhere, the field": {"/v00", fault.Invalidf("name", "name is empty"), 400, "application/problem+json",
			`{"type":"about:blank","title":"Bad Request","status":400,"detail":"name is empty","field":"name","errors":[{"parameter":"name","detail":"name is empty"}]}`},
		"elsewhere without credentials": {"/v1/plans", operation.ErrUnknown, 401, "application/problem+json",
			`{"type":"about:blank","title":"Unauthorized","status":401,"detail":"The request has no credentials: send Authorization: Bearer TOKEN. People make a token in the console under Tokens, or with the command iris login; a team has service tokens. Programs may also sign with the key of an application."}`},
		"elsewhere internal": {"/ack/x", errors.New("secret"), 500, "application/problem+json",
			`{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"internal error"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := httptest.NewRecorder()
			wire.NewErrors(testlog.New(t, zap.DebugLevel)).Write(rec,
				httptest.NewRequest(http.MethodGet, tc.path, nil), tc.err)
			require.Equal(t, tc.status, rec.Code)
			require.Equal(t, tc.mime, rec.Header().Get("Content-Type"))
			require.Equal(t, tc.body, rec.Body.String())
		})
	}
}

func TestErrorsOfTheLogInAndForBrowsers(t *testing.T) {
	t.Parallel()
	titled := fault.Titled("Invalid login attempt", "Missing user/password")
	ask := func(method, path, accept string, err error) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Accept", accept)
		wire.NewErrors(testlog.New(t, zap.DebugLevel)).Write(rec, r, err)
		return rec
	}
	require.JSONEq(t, `{"title":"Invalid login attempt","description":"Missing user/password"}`,
		ask(http.MethodPost, "/login", "*/*", titled).Body.String())
	require.Equal(t, "application/problem+json", ask(http.MethodPost, "/login/", "*/*",
		titled).Header().Get("Content-Type"))
	rec := ask(http.MethodGet, "/nope", "text/html,*/*;q=0.8", fault.New(fault.NotFound, "no <such> page"))
	require.Equal(t, http.StatusNotFound, rec.Code)
	require.Equal(t, "text/html; charset=utf-8", rec.Header().Get("Content-Type"))
	require.Contains(t, rec.Body.String(), "no &lt;such&gt; page")
	require.Empty(t, ask(http.MethodGet, "/v0/nope", "text/html", fault.New(fault.NotFound, "x")).Body.String(),
		"the API stays as it is")
	secret := ask(http.MethodGet, "/nope", "text/html", errors.New("secret"))
	require.NotContains(t, secret.Body.String(), "secret")
}

func TestUnavailableHasRetryAfter(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v0/plans", "/api/v0/teams", "/ack/x"} {
		rec := httptest.NewRecorder()
		wire.NewErrors(testlog.New(t, zap.DebugLevel)).Write(rec, httptest.NewRequest(http.MethodGet, path, nil),
			fault.New(fault.Unavailable, "away"))
		require.Equal(t, http.StatusServiceUnavailable, rec.Code)
		require.Equal(t, "5", rec.Header().Get("Retry-After"), path)
	}
}

func TestThrottledHasRetryAfter(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	err := &fault.Error{Kind: fault.Throttled, Message: "too much", RetryAfter: 1500 * time.Millisecond}
	wire.NewErrors(testlog.New(t, zap.DebugLevel)).Write(rec, httptest.NewRequest(http.MethodGet, "/v0/x", nil), err)
	require.Equal(t, http.StatusTooManyRequests, rec.Code)
	require.Equal(t, "2", rec.Header().Get("Retry-After"))
}

func TestBodyIsReadOnceAndWithinItsLimit(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/v0/x", strings.NewReader("0123456789"))
	body, r, err := wire.Body(httptest.NewRecorder(), r, 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(body))
	again, _, err := wire.Body(httptest.NewRecorder(), r, 10)
	require.NoError(t, err)
	require.Equal(t, body, again)
	_, _, err = wire.Body(httptest.NewRecorder(), r, 9)
	require.True(t, fault.Is(err, fault.TooLarge))

	r = httptest.NewRequest(http.MethodPost, "/v0/x", strings.NewReader("0123456789"))
	r.ContentLength = -1
	_, _, err = wire.Body(httptest.NewRecorder(), r, 9)
	require.True(t, fault.Is(err, fault.TooLarge))
}

func TestObjectRefusesOtherValues(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", " ", "{", "[]", "1", `"x"`, "null", `{"a":1}{}`, "{\"a\":\"\xff\"}",
		strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)} {
		_, err := wire.Object([]byte(body))
		require.True(t, fault.Is(err, fault.Invalid), "%q: %v", body, err)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, wire.InvalidJSON, f.Message)
	}
	m, err := wire.Object([]byte(`{"a":"{[\"","b":[1]}`))
	require.NoError(t, err)
	require.Equal(t, `[1]`, string(m["b"]))
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`))
	f.Add([]byte(`{"a":"\ud800"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := wire.Object(body)
		require.True(t, err == nil || fault.Is(err, fault.Invalid))
	})
}

func TestStrictTransportIsSentOnlyForHTTPS(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"https://iris.example.com": "max-age=31536000; includeSubDomains", "HTTPS://iris.example.com": "max-age=31536000; includeSubDomains",
		"http://127.0.0.1:16649": "", "": "",
	} {
		rec := httptest.NewRecorder()
		wire.StrictTransport(public)(http.NotFoundHandler()).ServeHTTP(rec,
			httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, want, rec.Header().Get("Strict-Transport-Security"), public)
	}
}

// A feed key or a signed link needs no other credentials, so logs must not contain it.
func TestLogsHaveNoSecretPaths(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.WarnLevel)
	for path, logged := range map[string]string{
		"/api/v0/ical/0b1c-secret": "/api/v0/ical/...", "/api/v0/ical_key/key/0b1c-secret": "/api/v0/ical_key/key/...", "/v1/calendar-feeds/0b1c-secret": "/v1/calendar-feeds/...", "/ack/secret": "/ack/...", "/login/password/secret": "/login/password/...", "/invitation/secret": "/invitation/...",
		"/api/v0/ical_key/user/ann": "/api/v0/ical_key/user/ann", "/v0/incidents": "/v0/incidents",
	} {
		errs := wire.NewErrors(zap.New(core))
		errs.Write(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil),
			fault.New(fault.Unavailable, "the database is away"))
		entry := logs.TakeAll()[0]
		require.Equal(t, logged, entry.ContextMap()["path"])
	}
}

// A client that sends the whole body before it reads still gets the answer that the body is too large.
func TestTooLargeBodiesAreAnswered(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		app := auth.Application{ID: 1, Name: "demo"}
		_, _, err := wire.Body(w, r.WithContext(wire.WithActor(r.Context(), auth.Through(app), app)), 1000)
		w.WriteHeader(wire.Status(err))
	}))
	t.Cleanup(server.Close)
	const size = 16 << 20
	for name, head := range map[string]string{
		"length said": fmt.Sprintf("Content-Length: %d\r\n\r\n",
			size), "in chunks": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", size),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+head+strings.Repeat("x", size)+
				"\r\n0\r\n\r\n")
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
		})
	}
}

// countingReader is an endless body that counts the bytes read.
type countingReader struct{ n int64 }

func (c *countingReader) Read(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func TestTooLargeBodiesOfUnauthenticatedCallersAreReadInPart(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{64 << 20, -1} {
		sent := &countingReader{}
		r := httptest.NewRequest(http.MethodPost, "/v0/incidents", sent)
		r.ContentLength = length
		_, _, err := wire.Body(httptest.NewRecorder(), r, wire.MaxBody)
		require.True(t, fault.Is(err, fault.TooLarge))
		require.Less(t, sent.n, int64(3<<20))
	}
}

func TestLongQueriesAreRefused(t *testing.T) {
	t.Parallel()
	h := wire.NewErrors(zap.NewNop()).BoundQuery(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for query, want := range map[string]int{
		"": 200, "a=" + strings.Repeat("x", 16000): 200, "a=" + strings.Repeat("x", 17000): 400,
		"a=1" + strings.Repeat("&a=1", 255): 200, "a=1" + strings.Repeat("&a=1", 256): 400,
	} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/v0/incidents?"+query, nil))
		require.Equal(t, want, rec.Code, "%d bytes", len(query))
	}
}

// One caller cannot use all database connections, and other callers do not wait for it.
func TestConcurrentSearchesOfOneCallerAreLimited(t *testing.T) {
	t.Parallel()
	const limit = 5
	release, running := make(chan struct{}), make(chan struct{}, 100)
	turns := wire.NewTurns(wire.NewErrors(zap.NewNop()))
	h := turns.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		running <- struct{}{}
		<-release
	}))
	var wg sync.WaitGroup
	search := func(from string) {
		wg.Go(func() {
			r := httptest.NewRequest(http.MethodGet, "/v0/incidents?plan__contains=a", nil)
			r.RemoteAddr = from + ":1"
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	for range 3 * limit {
		search("192.0.2.1")
	}
	for range limit {
		<-running
	}
	require.Never(t, func() bool { return len(running) > 0 }, 50*time.Millisecond, 5*time.Millisecond)
	search("192.0.2.2")
	<-running
	close(release)
	wg.Wait()
}

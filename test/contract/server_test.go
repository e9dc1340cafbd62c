package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// bin is the folder of the programs that TestMain built.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "iris-contract-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		bin = dir
		build := exec.Command("go", "build", "-o", dir+"/", "../../cmd/iris", "../../cmd/iris-api",
			"../../cmd/message-processor")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "the programs do not build:", err)
			return 1
		}
		code := m.Run()
		if seed.pattern != nil {
			if err := seed.pattern.Drop(); err != nil {
				fmt.Fprintln(os.Stderr, "the pattern of the databases stays:", err)
			}
		}
		if code != 0 || flag.Lookup("test.run").Value.String() != "" {
			return code
		}
		return uncovered() + unaudited()
	}())
}

// asked are the operations of which a test had a success; described are those of the OpenAPI document.
var (
	covering         sync.Mutex
	asked, described = map[string]bool{}, map[string]bool{}
	audited          = map[string]bool{}     // operations of which a success wrote an entry of the audit log
	promised         = map[string][]string{} // the actions of the audit log that the operations of wings may write
)

// uncovered fails the whole suite if no test had a success of an operation.
func uncovered() int {
	code := 0
	for operation := range described {
		if operation == "GET /readyz/paging" {
			continue // needs a processor; test/e2e covers it
		}
		if !asked[operation] {
			fmt.Fprintln(os.Stderr, "no test uses", operation, "with success")
			code = 1
		}
	}
	return code
}

const password = "a long enough password"

// caller is the credentials of a request.
type caller struct {
	name    string
	app     string // the request is signed as this application
	user    string // X-IRIS-USERNAME
	session string // or has the session of this person
	token   string // or sends this personal token
}

var (
	anonymous = caller{name: "nobody"}
	demo      = caller{name: "a plain application", app: "demo"}
	other     = caller{name: "another plain application", app: "other"}
	power     = caller{name: "a powerful application", app: "power"}
	asBob     = caller{name: "a powerful application for bob", app: "power", user: "bob"}
	owner     = caller{name: "the owner", session: "ann"}
	admin     = caller{name: "an administrator", session: "root"}
	bob       = caller{name: "somebody else", session: "bob"}
	viewer    = caller{name: "somebody who may only read", session: "viewer"}
)

// server is one iris-api with a database of its own.
type server struct {
	*testing.T
	url      string
	db       *pgxpool.Pool
	keys     map[string]string
	sessions map[string]*http.Client
	tokens   map[string]string // CSRF tokens by person
	changes  map[string]string // operations with success, by the id of the request
	api      *description
}

// newIrisServer starts a server whose applications reach the incidents and messages of all, as in Iris.
func newIrisServer(t *testing.T) *server {
	t.Helper()
	return newServer(t, configured(t, "compatibility: {applications_reach_everything: true}\n"))
}

// newServer starts a server on a copy of the seed.
func newServer(t *testing.T, env ...string) *server {
	t.Helper()
	first := seeded(t)
	database := first.pattern.Copy(t)
	s := &server{T: t, keys: maps.Clone(first.keys), sessions: map[string]*http.Client{},
		tokens: maps.Clone(first.tokens), changes: map[string]string{}}
	var err error
	s.db, err = pgxpool.New(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(s.db.Close)
	t.Cleanup(s.readAudit)
	t.Cleanup(s.serve(database, env...))
	at, err := url.Parse(s.url)
	require.NoError(t, err)
	for name, cookies := range first.cookies {
		s.sessions[name] = browser(t)
		s.sessions[name].Jar.SetCookies(at, cookies)
	}
	s.api = describe(t, s.url)
	return s
}

// iris runs the operator's command and returns its standard output.
func (s *server) iris(env []string, stdin string, args ...string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), filepath.Join(bin, "iris"), args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(s, err, "iris %s: %s", strings.Join(args, " "), stderr.String())
	return string(out)
}

// serve starts iris-api on a free port, and returns the function that stops it.
func (s *server) serve(database string, env ...string) (stop func()) {
	s.Helper()
	env = append(environment(s.T, database), env...)
	for range 5 { // another process may take the free port first
		addr := freeAddr(s.T)
		s.url = "http://" + addr
		if stop, free := s.start(append(slices.Clone(env), "IRIS_PUBLIC_URL="+s.url, "IRIS_HTTP_ADDR="+addr)); free {
			return stop
		}
	}
	require.FailNow(s, "somebody was always faster at a free port")
	return nil
}

func environment(t *testing.T, database string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "IRIS_DATABASE_URL=" + database,
		"IRIS_ADMIN_ADDR=127.0.0.1:0"}
}

// start runs iris-api until stop. It returns false if the port was in use.
func (s *server) start(env []string) (stop func(), free bool) {
	s.Helper()
	cmd := exec.Command(filepath.Join(bin, "iris-api"))
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(s, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		err := <-ended
		if s.Failed() {
			s.Logf("iris-api wrote:\n%s", log)
		}
		if err != nil {
			s.Errorf("iris-api ended with %v\n%s", err, log)
		}
	}
	ctx, cancel := context.WithTimeout(s.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if strings.Contains(log.String(), "address already in use") {
				return nil, false
			}
			require.FailNow(s, "iris-api ended at its start", "%v\n%s", err, log)
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			require.FailNow(s, "iris-api is not ready in time")
		case <-tick.C:
		}
		resp, err := http.Get(s.url + "/openapi.json")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return stop, true
		}
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	return addr
}

// browser returns a client that keeps cookies.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{Jar: jar, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is the answer to a request, with checks.
type answer struct {
	*server
	what   string
	status int
	header http.Header
	body   string
}

// do sends a request and compares the answer with the OpenAPI document of the server. A string body is sent unchanged,
// nil sends no body, and anything else is sent as JSON.
func (s *server) do(as caller, method, path string, body any, header ...string) answer {
	s.Helper()
	text, isText := body.(string)
	if body != nil && !isText {
		raw, err := json.Marshal(body)
		require.NoError(s, err)
		text = string(raw)
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(text))
	require.NoError(s, err)
	if as.session != "" && !strings.HasPrefix(path, "/v0/") {
		r.Header.Set("X-CSRF-TOKEN", s.tokens[as.session])
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	switch {
	case as.token != "":
		r.Header.Set("Authorization", "Bearer "+as.token)
	case as.session != "":
		client = s.sessions[as.session]
	case as.app != "":
		if as.user != "" {
			r.Header.Set("X-IRIS-USERNAME", as.user)
		}
		r.Header.Set("Authorization", auth.Sign(as.app, s.keys[as.app],
			auth.SignedRequest{Username: as.user, Method: method,
				Path: r.URL.Path, RawQuery: r.URL.RawQuery, Body: []byte(text)}, time.Now()))
	}
	resp, err := client.Do(r)
	require.NoError(s, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s, err)
	a := answer{server: s, what: fmt.Sprintf("%s %s %s", as.name, method, path), status: resp.StatusCode,
		header: resp.Header, body: string(raw)}
	require.Less(s, a.status, 500, "%s: %s", a.what, a.body)
	if operation, ok := s.api.conforms(s.T, method, r.URL.Path, a); ok && a.status < 400 {
		covering.Lock()
		defer covering.Unlock()
		asked[operation] = true
		if method != http.MethodGet && method != http.MethodHead {
			s.changes[resp.Header.Get(wire.RequestIDHeader)] = operation
		}
	}
	return a
}

func (a answer) is(status int) answer {
	a.Helper()
	require.Equal(a, status, a.status, "%s: %s", a.what, a.body)
	return a
}

// says compares the whole body as JSON.
func (a answer) says(status int, body string) answer {
	a.Helper()
	a.is(status)
	require.JSONEq(a, body, a.body, a.what)
	return a
}

// refuses compares an error of the old routes: the title, and the description if one is given.
func (a answer) refuses(status int, title string, description ...string) {
	a.Helper()
	want := map[string]any{"title": title}
	if len(description) > 0 {
		want["description"] = description[0]
	}
	raw, err := json.Marshal(want)
	require.NoError(a, err)
	a.says(status, string(raw))
}

// empty requires an empty body with the Content-Type of JSON, as the old routes have it.
func (a answer) empty(status int) answer {
	a.Helper()
	a.is(status)
	require.Empty(a, a.body, a.what)
	if strings.Contains(a.what, " /v0/") {
		require.Equal(a, "application/json", a.header.Get("Content-Type"), a.what)
	}
	return a
}

// decode reads the body.
func decode[T any](a answer) T {
	a.Helper()
	var v T
	require.NoError(a, json.Unmarshal([]byte(a.body), &v), "%s: %s", a.what, a.body)
	return v
}

// itemsOf returns the items of a list of /v1 that has one page.
func itemsOf[T any](a answer) []T {
	a.Helper()
	require.Contains(a, decode[m](a), "next", a.what)
	found := decode[struct {
		Items []T
		Next  *string
	}](a)
	require.NotNil(a, found.Items, "%s: %s", a.what, a.body)
	require.Nil(a, found.Next, a.what)
	return found.Items
}

func (s *server) number(query string, args ...any) int64 {
	s.Helper()
	var n int64
	require.NoError(s, s.db.QueryRow(s.Context(), query, args...).Scan(&n))
	return n
}

func (s *server) text(query string, args ...any) string {
	s.Helper()
	var text string
	require.NoError(s, s.db.QueryRow(s.Context(), query, args...).Scan(&text))
	return text
}

func (s *server) exec(query string, args ...any) {
	s.Helper()
	_, err := s.db.Exec(s.Context(), query, args...)
	require.NoError(s, err)
}

// open opens an incident of plan pager.
func (s *server) open() int64 {
	s.Helper()
	return decode[int64](s.do(demo, http.MethodPost, "/v0/incidents",
		map[string]any{"plan": "pager", "context": map[string]any{"host": "db1",
			"message": "disk"}}).is(http.StatusCreated))
}

// configured writes a configuration file and returns the environment that names it.
func configured(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return "IRIS_CONFIG=" + path
}

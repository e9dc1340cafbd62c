package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// server is a fake of the routes about tokens. It records what it was asked, without bodies.
func server(t *testing.T) (*httptest.Server, *[]string) {
	t.Helper()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		if r.URL.Path == "/v1/tokens/exchange" {
			var b struct{ Code, Verifier string }
			if json.NewDecoder(r.Body).Decode(&b) != nil || b.Code != "code of "+oauth2.S256ChallengeFromVerifier(b.Verifier) || r.Header.Get("Authorization") != "" {
				w.WriteHeader(401)
				return
			}
			w.WriteHeader(201)
			fmt.Fprint(w, `{"token":"mine","id":7,"name":"laptop","scopes":["read"],"expires_at":null,"username":"ann"}`)
			return
		}
		if r.Header.Get("Authorization") == "Bearer service" && r.URL.Path == "/v1/tokens/current" {
			fmt.Fprint(w, `{"id":3,"kind":"service","name":"ci","scopes":["read"],"expires_at":"2027-01-01T00:00:00Z","team":"db"}`)
			return
		}
		if r.Header.Get("Authorization") != "Bearer mine" {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"detail":"this token is not valid"}`)
			return
		}
		switch r.Method {
		case "DELETE":
			w.WriteHeader(204)
		case "POST":
			w.WriteHeader(201)
			body, _ := io.ReadAll(r.Body)
			asked[len(asked)-1] += " " + string(body)
			fmt.Fprint(w, `{"token":"new","id":8}`)
		default:
			if r.URL.Path == "/v1/tokens/current" {
				fmt.Fprint(w, `{"id":7,"kind":"personal","name":"laptop","scopes":["read"],"expires_at":"2027-01-01T00:00:00Z","username":"ann"}`)
				return
			}
			if r.URL.Path == "/v1/service-tokens" {
				fmt.Fprint(w, `{"items":[{"id":3,"name":"ci","team":"db"},{"id":2,"name":"all","team":null}],"next":null}`)
				return
			}
			fmt.Fprint(w, `{"items":[{"id":7,"user":"ann","name":"laptop","scopes":["admin","read"],"expires_at":"2027-01-01T00:00:00Z","last_used_at":null},
				{"id":5,"user":"ann","name":"script"},{"id":2,"user":"bob","name":"old"}],"next":null}`)
		}
	}))
	t.Cleanup(s.Close)
	return s, &asked
}

// command is what each command is.
type command interface {
	Run(ctx context.Context, e Env) error
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s, asked := server(t)
	file := filepath.Join(t.TempDir(), "new", "credentials.json")
	var out, errs bytes.Buffer
	run := func(stdin string, c command, more ...string) error {
		out.Reset()
		errs.Reset()
		return c.Run(t.Context(), Env{Environ: append([]string{"IRIS_CREDENTIALS=" + file}, more...),
			In: strings.NewReader(stdin), Out: &out, Err: &errs})
	}
	to := Flags{Server: s.URL + "/"}
	require.EqualError(t, run("", tokenCurrent{}), "no server is known: give --server or set IRIS_SERVER")
	require.EqualError(t, run("", tokenCurrent{Flags: to}), "there is no token for "+s.URL+
		": run iris login, or set IRIS_TOKEN")
	require.EqualError(t, run("", tokenCurrent{Flags: to}, "IRIS_TOKEN=wrong"),
		"this token is not valid: run iris login")
	require.EqualError(t, run("wrong\n", Login{Flags: to, Token: true}), "this token is not valid: run iris login")
	require.EqualError(t, run("", Login{Flags: to, Token: true}), "no token on standard input")
	require.NoFileExists(t, file)

	require.NoError(t, run("mine\n", Login{Flags: to, Token: true}))
	require.Equal(t, "logged in to "+s.URL+" with a token of ann\n", errs.String())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	*asked = nil
	require.NoError(t, run("", tokenCurrent{}))
	require.Equal(t, "personal token 7 \"laptop\" of ann: scopes read, expires 2027-01-01T00:00:00Z\n", out.String())
	require.NoError(t, run("", tokenList{All: true}))
	require.Contains(t, out.String(), "7       ann")
	require.NoError(t, run("", tokenList{Service: true}))
	require.Contains(t, out.String(), "3       team db")
	require.Contains(t, out.String(), "2       the administrators")
	require.NoError(t, run("", tokenCreate{Name: "ci", Scopes: []string{"read"}}))
	require.Equal(t, "new\n", out.String())
	require.NoError(t, run("", tokenCreate{Name: "ci", Scopes: []string{"read"}, Service: true, Team: "db", Days: 2}))
	require.Equal(t, []string{"GET /v1/tokens/current", "GET /v1/tokens?all=true", "GET /v1/service-tokens",
		`POST /v1/tokens {"name":"ci","scopes":["read"]}`,
		`POST /v1/service-tokens {"expires_in_seconds":172800,"name":"ci","scopes":["read"],"team":"db"}`}, *asked)

	revokes := func(c tokenRevoke) (path string) {
		t.Helper()
		require.NoError(t, run("", c))
		return strings.TrimPrefix((*asked)[len(*asked)-1], "DELETE ")
	}
	require.Equal(t, "/v1/tokens/5", revokes(tokenRevoke{Number: 5}))
	require.Equal(t, "personal token 5 \"script\" of ann is revoked\n", out.String())
	require.Equal(t, "/v1/service-tokens/3", revokes(tokenRevoke{Number: 3}), "without the kind")
	*asked = nil
	require.EqualError(t, run("", tokenRevoke{Number: 2}), "two tokens have the number 2, so name the kind:\n"+
		"  iris token revoke 2 --personal   revokes personal token 2 \"old\" of bob\n  iris token revoke 2 --service   revokes service token 2 \"all\" of the administrators")
	require.EqualError(t, run("", tokenRevoke{Number: 5, Service: true}),
		"you have no token 5 and manage none: iris token list, with --service or --all, shows them")
	require.EqualError(t, run("", tokenRevoke{Number: 7}),
		"personal token 7 \"laptop\" of ann is the token that this command uses: --force revokes it")
	require.NotContains(t, strings.Join(*asked, " "), "DELETE", "refused before anything is revoked")
	require.Equal(t, "/v1/service-tokens/2", revokes(tokenRevoke{Number: 2, Service: true}))
	require.Equal(t, "/v1/tokens/2", revokes(tokenRevoke{Number: 2, Personal: true}))
	require.Equal(t, "/v1/tokens/current", revokes(tokenRevoke{Number: 7, Force: true}))

	require.NoError(t, os.Chmod(file, 0o640))
	require.ErrorContains(t, run("", tokenCurrent{}), "other users of this machine may read "+file+
		": run chmod 600 on it")
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, run("", Logout{}))
	require.Equal(t, "DELETE /v1/tokens/current", (*asked)[len(*asked)-1])
	require.EqualError(t, run("", Logout{Flags: to}), "you are not logged in to "+s.URL)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(data), "mine")
}

func TestLogoutKeepsServiceTokens(t *testing.T) {
	t.Parallel()
	s, asked := server(t)
	var errs bytes.Buffer
	e := Env{Environ: []string{"IRIS_CREDENTIALS=" + filepath.Join(t.TempDir(), "credentials.json")}, Out: io.Discard,
		Err: &errs}
	to := Flags{Server: s.URL}
	for _, c := range []Logout{{}, {Revoke: true}} {
		e.In = strings.NewReader("service\n")
		require.NoError(t, Login{Flags: to, Token: true}.Run(t.Context(), e))
		*asked = nil
		errs.Reset()
		require.NoError(t, c.Run(t.Context(), e))
		if c.Revoke {
			require.Equal(t, []string{"GET /v1/tokens/current", "DELETE /v1/tokens/current"}, *asked)
			continue
		}
		require.Equal(t, []string{"GET /v1/tokens/current"}, *asked)
		require.Contains(t, errs.String(),
			`service token 3 "ci" of team db is still valid, because programs may use it: iris token revoke --service 3 revokes it`)
		known, err := e.credentials()
		require.NoError(t, err)
		require.Empty(t, known.Tokens)
	}
}

// A token of the environment does not go to the server of the last log-in, and a named server is preferred to the
// database.
func TestWhereCommandsWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logged := Env{Environ: []string{"IRIS_CREDENTIALS=" + filepath.Join(dir, "credentials.json")}}
	require.NoError(t, logged.save(credentials{Current: "https://iris.example.com",
		Tokens: map[string]string{"https://iris.example.com": "mine"}}))
	here := func(e Env, transport http.RoundTripper) Env {
		e.Local = func(context.Context) (http.RoundTripper, error) { return transport, nil }
		return e
	}
	nowhere := Env{Environ: []string{"IRIS_CREDENTIALS=" + filepath.Join(dir, "none.json")}}
	with := func(e Env, more ...string) Env {
		e.Environ = append(slices.Clone(e.Environ), more...)
		return e
	}
	for name, c := range map[string]struct {
		env   Env
		flags Flags
		want  string // the address that is asked, or the error
	}{
		"logged in":              {here(logged, nil), Flags{}, "https://iris.example.com"},
		"a database comes first": {here(logged, refusing{}), Flags{}, "http://localhost"},
		"a named server comes before": {here(with(logged, "IRIS_SERVER=https://other.example.com", "IRIS_TOKEN=t"),
			refusing{}), Flags{}, "https://other.example.com"},
		"a flag comes before": {here(logged, refusing{}), Flags{Server: "https://iris.example.com"},
			"https://iris.example.com"},
		"nothing": {here(nowhere, nil), Flags{},
			"no server is known: log in with iris login --server URL, set IRIS_SERVER and IRIS_TOKEN, or set IRIS_DATABASE_URL"},
		"a token without a server": {here(with(logged, "IRIS_TOKEN=t"), nil), Flags{},
			"IRIS_TOKEN is set, but no server: give --server or set IRIS_SERVER"},
		"and with a database": {here(with(nowhere, "IRIS_TOKEN=t"), refusing{}), Flags{},
			"IRIS_TOKEN is set, but no server: give --server or set IRIS_SERVER"},
		"a server without a token": {here(with(logged, "IRIS_SERVER=https://other.example.com"), refusing{}),
			Flags{}, "there is no token for https://other.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api, err := c.flags.API(t.Context(), c.env)
			if err == nil {
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // nothing is sent
				err = api.Do(ctx, "GET", "/v1/incidents", nil, nil)
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := Flags{}.client(with(logged, "IRIS_TOKEN=t"))
	require.EqualError(t, err, "IRIS_TOKEN is set, but no server: give --server or set IRIS_SERVER")
}

// refusing answers no request.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, context.Canceled }

func TestLoginWithTheBrowser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"allowed":    {"code", ""},
		"denied":     {"error", "the log-in was denied in the browser"},
		"wrong code": {"wrong", "the server answers 401 Unauthorized: run iris login"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := server(t)
			read, write := io.Pipe()
			file := filepath.Join(t.TempDir(), "credentials.json")
			e := Env{Environ: []string{"IRIS_CREDENTIALS=" + file, "IRIS_SERVER=" + s.URL}, Err: write}
			ended := make(chan error, 1)
			go func() {
				ended <- Login{Name: "laptop", Scopes: []string{"read", "oncall"}, NoBrowser: true}.Run(t.Context(), e)
				_ = write.Close()
			}()
			lines := bufio.NewScanner(read)
			require.True(t, lines.Scan())
			require.True(t, lines.Scan())
			page, err := url.Parse(lines.Text())
			require.NoError(t, err)
			q := page.Query()
			require.Equal(t, "/login/command-line", page.Path)
			require.Equal(t, []string{"laptop", "read,oncall"}, []string{q.Get("name"), q.Get("scopes")})
			visit := func(values url.Values) int {
				resp, err := http.Get("http://127.0.0.1:" + q.Get("port") + "/?" + values.Encode())
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				return resp.StatusCode
			}
			require.Equal(t, 400, visit(url.Values{"code": {"stolen"}, "state": {"guess"}}),
				"another page cannot answer")
			require.Equal(t, 400, visit(url.Values{"code": {"stolen"}}))
			answer := url.Values{"state": {q.Get("state")}}
			switch c.answer {
			case "code":
				answer.Set("code", "code of "+q.Get("challenge"))
			case "wrong":
				answer.Set("code", "code of somebody else")
			default:
				answer.Set("error", "access_denied")
			}
			require.Equal(t, 200, visit(answer))
			for lines.Scan() { // until the command ends
			}
			err = <-ended
			if c.want != "" {
				require.EqualError(t, err, c.want)
				require.NoFileExists(t, file)
				return
			}
			require.NoError(t, err)
			known, err := e.credentials()
			require.NoError(t, err)
			require.Equal(t, credentials{Current: s.URL, Tokens: map[string]string{s.URL: "mine"}}, known)
		})
	}
}

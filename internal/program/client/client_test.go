package client

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	problem := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"no credentials": {problem(401, `{"detail":"this token is not valid: it may be expired or revoked"}`),
			"this token is not valid: it may be expired or revoked: run iris login"},
		"scope": {problem(403, `{"detail":"This token lacks the scope admin"}`),
			"This token lacks the scope admin: use a token with that scope, for example from iris login --scopes"},
		"rights": {problem(403, `{"detail":"Only administrators may do this"}`),
			"Only administrators may do this"},
		"field": {problem(400, `{"detail":"name is empty","field":"name"}`), "name is empty"},
		"other field": {problem(400, `{"detail":"there is no such plan","field":"default_plan"}`),
			"default_plan: there is no such plan"},
		"no JSON": {problem(502, `<html>`), "the server answers 502 Bad Gateway"},
		"redirect": {problem(302, ``),
			"the server answers 302 Found: the address does not belong to an Iris server"},
		"other server": {problem(200, `<html>`), "does not answer like Iris"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(c.answer)
			defer s.Close()
			api, err := New(Config{URL: s.URL, Token: "secret"})
			require.NoError(t, err)
			var out struct{}
			require.ErrorContains(t, api.Do(t.Context(), "GET", "/v1/tokens", nil, &out), c.want)
		})
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	stored, other := `{"rate":1}`, false
	tag := func() string { return `"` + base64.StdEncoding.EncodeToString([]byte(stored)) + `"` }
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("ETag", tag())
			fmt.Fprint(w, stored)
			if other {
				stored = `{"rate":5}`
			}
		case r.Header.Get("If-Match") != tag():
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, `{"detail":"somebody changed this meanwhile: reload it before you save"}`)
		default:
			raw, _ := io.ReadAll(r.Body)
			stored = string(raw)
		}
	}))
	defer s.Close()
	api, err := New(Config{URL: s.URL})
	require.NoError(t, err)
	edit := func() error {
		found := map[string]any{}
		return api.Edit(t.Context(), "/v1/x", &found, func() (any, error) {
			found["enabled"] = true
			return found, nil
		})
	}
	require.NoError(t, edit())
	require.JSONEq(t, `{"rate":1,"enabled":true}`, stored)
	other = true
	require.EqualError(t, edit(),
		"nothing was changed, because somebody changed the object meanwhile: run the command again")
	require.JSONEq(t, `{"rate":5}`, stored, "the change of the other person stays")
}

func TestWithoutServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	api, err := New(Config{URL: s.URL})
	require.NoError(t, err)
	require.ErrorContains(t, api.Do(t.Context(), "GET", "/v1/tokens", nil, nil), s.URL+" cannot be reached")

	s = httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	api, err = New(Config{URL: s.URL})
	require.NoError(t, err)
	require.ErrorContains(t, api.Do(t.Context(), "GET", "/v1/tokens", nil, nil), "the certificate of "+s.URL+
		" is not trusted")
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://Iris.example.com/": "", "http://127.0.0.1:1": "", "http://localhost:1": "", "http://[::1]:1": "",
		"http://iris.example.com": "has no TLS", "http://127.0.0.1.example.com": "has no TLS", "http://localhost@example.com": "must be like",
		"iris.example.com": "must be like", "ftp://x": "must be like", "https://x?a": "must be like",
	} {
		_, err := New(Config{URL: url})
		if want == "" {
			require.NoError(t, err, url)
			continue
		}
		require.ErrorContains(t, err, want, url)
	}
	_, err := New(Config{URL: "http://iris.example.com", Insecure: true})
	require.NoError(t, err)
}

func TestAllPages(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("all") != "true" || r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(400)
		}
		if r.URL.Query().Get("cursor") == "two" {
			fmt.Fprint(w, `{"items":[3],"next":null}`)
			return
		}
		fmt.Fprint(w, `{"items":[1,2],"next":"two"}`)
	}))
	defer s.Close()
	api, err := New(Config{URL: s.URL, Token: "secret"})
	require.NoError(t, err)
	all, err := All[int](t.Context(), api, "/v1/tokens?all=true")
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3}, all)
}

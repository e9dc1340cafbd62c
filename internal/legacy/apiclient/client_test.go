package apiclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

type oneApplication struct{ auth.Application }

func (o oneApplication) ByName(context.Context, string) (auth.Application, error) {
	return o.Application, nil
}

// server checks signatures as iris-api does and answers what the test says.
func server(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	app := oneApplication{auth.Application{ID: 1, Name: "demo", AllowAuthenticatingUsers: true,
		Keys: []string{"demo-key"}}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, err = auth.Authenticate(r.Context(), app, auth.SignedRequest{
			Authorization: r.Header.Get("Authorization"), Method: r.Method, Path: r.URL.Path, RawQuery: r.URL.RawQuery,
			WirePath: r.URL.EscapedPath(), Body: body, Username: r.Header.Get("X-IRIS-USERNAME"),
		}, time.Now())
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Header.Set("Test-Body", string(body))
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, s *httptest.Server, user string) *apiclient.Client {
	t.Helper()
	c, err := apiclient.New(apiclient.Config{URL: s.URL + "/", App: "demo", Key: "demo-key", User: user})
	require.NoError(t, err)
	return c
}

func TestRequestsAreSignedAsTheServerChecks(t *testing.T) {
	t.Parallel()
	type seen struct{ Method, Target, Body, User string }
	var got seen
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		got = seen{r.Method, r.URL.RequestURI(), r.Header.Get("Test-Body"), r.Header.Get("X-IRIS-USERNAME")}
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/v0/messages":
			_, _ = io.WriteString(w, `[{"id":5,"incident_id":4,"mode":"email","sent":null}]`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"id":4,"plan":"p","owner":null,"active":1,"steps":[{"id":5,"mode":"email","step":1}]}`)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "17\n")
		}
	})
	ctx := t.Context()
	for _, user := range []string{"", "jane"} {
		c := client(t, s, user)
		id, err := c.OpenIncident(ctx, apiclient.Incident{Plan: "p", Context: map[string]any{"x": "ü \n"}})
		require.NoError(t, err)
		require.Equal(t, int64(17), id)
		require.Equal(t, "/v0/incidents", got.Target)
		require.Equal(t, user, got.User)
		require.JSONEq(t, `{"plan":"p","context":{"x":"ü \n"}}`, got.Body)

		_, err = c.OpenIncident(ctx, apiclient.Incident{Plan: "p",
			DynamicTargets: []apiclient.Target{{Role: "user", Target: "u"}}})
		require.NoError(t, err)
		require.JSONEq(t, `{"plan":"p","context":{},"dynamic_targets":[{"role":"user","target":"u"}]}`, got.Body)

		require.NoError(t, c.Notify(ctx, apiclient.Notification{
			Target: apiclient.Target{Role: "user", Target: "u"}, Subject: "s", Mode: "email", Body: "b",
		}))
		require.JSONEq(t, `{"role":"user","target":"u","subject":"s","mode":"email","body":"b"}`, got.Body)

		require.NoError(t, c.Call(ctx, http.MethodPost, "/v0/incidents/4", map[string]any{"owner": "jane"}, nil))
		require.Equal(t, "/v0/incidents/4", got.Target)
		require.JSONEq(t, `{"owner":"jane"}`, got.Body)
		var in struct{ Steps []struct{ ID int64 } }
		require.NoError(t, c.Call(ctx, http.MethodGet, "/v0/incidents/4", nil, &in))
		require.Equal(t, int64(5), in.Steps[0].ID)
		var ms []map[string]any
		require.NoError(t, c.Call(ctx, http.MethodGet, "/v0/messages?"+
			url.Values{"incident_id": {"4"}, "target": {"a b"}}.Encode(), nil, &ms))
		require.InDelta(t, 4, ms[0]["incident_id"], 0)

		_, err = c.CreatePlan(ctx, apiclient.Plan{Name: "p", Creator: "u", Steps: [][]apiclient.PlanNotification{{{
			Target: apiclient.Target{Role: "user", Target: "u"}, Priority: "high", Template: "t",
		}}}})
		require.NoError(t, err)
		var plan map[string]any
		require.NoError(t, json.Unmarshal([]byte(got.Body), &plan))
		require.Len(t, plan, 8)
		_, err = c.CreateTemplate(ctx, apiclient.Template{Name: "t", Creator: "u"})
		require.NoError(t, err)
		require.NoError(t, c.Call(ctx, http.MethodGet, "/v0/plans/a%20b%2Fc?fields=id&fields=name", nil, nil))
	}
	wrong, err := apiclient.New(apiclient.Config{URL: s.URL, App: "demo", Key: "other"})
	require.NoError(t, err)
	refused, ok := apiclient.Refused(wrong.Call(ctx, http.MethodPost, "/v0/incidents/1/resolve",
		map[string]any{"resolved": true}, nil))
	require.True(t, ok)
	require.Equal(t, http.StatusUnauthorized, refused.Status)
}

func TestRefusalsKeepTheServersWords(t *testing.T) {
	t.Parallel()
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v0/incidents/1":
			w.WriteHeader(http.StatusNotFound)
		case "/v0/incidents/2":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"title":"Too many pending","description":"wait"}`)
		case "/v0/incidents/3":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "Internal Server Error")
		case "/v0/incidents/4":
			_, _ = io.WriteString(w, "<html>")
		}
	})
	c := client(t, s, "")
	read := func(id int64) error {
		var out map[string]any
		return c.Call(t.Context(), http.MethodGet, fmt.Sprintf("/v0/incidents/%d", id), nil, &out)
	}
	for id, want := range map[int64]apiclient.Error{
		1: {Status: 404},
		2: {Status: 429, Title: "Too many pending", Description: "wait", RetryAfter: 7 * time.Second},
		3: {Status: 500, Title: "Internal Server Error"},
	} {
		err := read(id)
		refused, ok := apiclient.Refused(err)
		require.True(t, ok)
		require.Equal(t, want, *refused)
	}
	err := read(2)
	require.EqualError(t, err, "429 Too Many Requests: Too many pending: wait")
	err = read(4)
	require.ErrorContains(t, err, "decode answer")
	_, refused := apiclient.Refused(err)
	require.False(t, refused)
	s.Close()
	_, refused = apiclient.Refused(read(1))
	require.False(t, refused, "nobody knows whether it was done")
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []apiclient.Config{{}, {URL: "localhost:1"}, {URL: "ftp://x"}, {URL: "http://x", Key: "k"}} {
		_, err := apiclient.New(cfg)
		require.Error(t, err, cfg.URL)
	}
}

package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

// FuzzRequests sends anything to every route, over a real database: the answer is never a server's error.
func FuzzRequests(f *testing.F) {
	for _, list := range [][]request{reads, writes, anns} {
		for _, rq := range list {
			f.Add(rq.method, rq.path, rq.body)
		}
	}
	for _, body := range []string{
		`{"plan":"pager","context":{"host":"\u0000\ud800","message":` + strings.Repeat("[", 150) + strings.Repeat("]", 150) + `}}`,
		`{"plan":"pager","context":{"host":"` + strings.Repeat("ü", 10000) + `"}}`,
		`{"plan":"pager","context":{"host":1e999,"message":-0.0e-5}}`, "{\"plan\":\"\xff\"}", `{"plan":"pager","application":"\ud800","context":{}}`,
	} {
		f.Add(post, "/v0/incidents", body)
	}
	for _, path := range []string{
		"/v0/incidents?created__lt=99999999999999999&updated__gt=-5&limit=99999999999", "/v0/incidents?id=9223372036854775807&context=%5c",
		"/v0/incidents/9223372036854775807", "/v0/incidents/-1/comments", "/v0/messages?body__contains=%25_%5c&sent__in=1,2,3",
		"/v0/messages?incident_id__lt=-9223372036854775808&active__ne=1", "/v0/plans?target__endswith=%27;drop&active=yes&created=0",
		"/v0/plans/%00", "/v0/plans/%2e%2e%2f", "/v0/templates/%f0%9f%98%80?limit=1", "/v0/templates?name__in=,,&creator__gt=a", "/v0/plans?limit=0&fields=,",
		"/v0/messages/9223372036854775807/auditlog", "/v0/incidents?target=%20,%27&owner__startswith=%5c",
	} {
		f.Add(get, path, "")
	}
	f.Add(post, "/v0/incidents/claim", `{"owner":"root","incident_ids":[9223372036854775807,-1,0]}`)
	f.Add(post, "/v0/incidents/9223372036854775807", `{"owner":null}`)
	f.Add(post, "/v0/incidents/1/comments", `{"author":"ann","content":"\ud800\ufffe"}`)
	f.Add(post, "/v0/notifications", `{"role":"literal_target","target":"\r\nBcc: x","subject":"a\nb","mode":"email","template":"t","context":{"":null}}`)
	f.Add(post, "/v0/templates", `{"name":"\ud800","creator":"ann","content":{"demo":{"email":{"subject":"\u0001","body":"{{ '%s' % x }}"}}}}`)
	f.Add(del, "/v0/plans/%ff", "")

	fx := newFixture(f)
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if !strings.HasPrefix(path, "/v0/") && path != "/healthcheck" {
			return
		}
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Path == "" {
			return
		}
		switch method {
		case http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodHead, http.MethodPut:
		default:
			return
		}
		r := &http.Request{Method: method, URL: u, RequestURI: path, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Body: http.NoBody, Host: "x", ContentLength: int64(len(body))}
		r = r.WithContext(t.Context())
		if body != "" {
			r.Body = readCloser{strings.NewReader(body)}
		}
		r.Header.Set("X-IRIS-USERNAME", "root")
		r.Header.Set("Authorization", auth.Sign("power", "power-key", auth.SignedRequest{Username: "root", Method: method,
			Path: u.Path, RawQuery: u.RawQuery, Body: []byte(body)}, time.Now()))
		rec := httptest.NewRecorder()
		fx.handler.ServeHTTP(rec, r)
		require.Less(t, rec.Code, 500, "%s %s %q: %s", method, path, body, rec.Body)
		require.NotEqual(t, 401, rec.Code, "%s %s", method, path)
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

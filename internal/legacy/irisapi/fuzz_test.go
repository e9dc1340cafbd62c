package irisapi_test

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

// FuzzRequests sends any request to any route, over a real database. No answer may be a 5xx.
func FuzzRequests(f *testing.F) {
	for _, list := range [][]request{reads, writes, anns, annsOwn} {
		for _, rq := range list {
			f.Add(rq.method, rq.path, rq.body)
		}
	}
	for _, body := range []string{
		`{"plan":"pager","context":{"host":"\u0000\ud800","message":` + strings.Repeat("[", 150) +
			strings.Repeat("]", 150) + `}}`,
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

	f.Add(put, "/v0/users/settings/ann", `{"timezone":"\ud800"}`)
	f.Add(post, "/v0/users/modes/ann", `{"per_app_modes":{"\u0000":{"high":"default"}},"\u0000":"sms"}`)
	f.Add(post, "/v0/users/modes/%00", `{"application":"demo","high":"sms"}`)
	f.Add(post, "/v0/users/overrides/ann", `{"template_overrides":{"sms":"\u0000"}}`)
	f.Add(post, "/v0/users/reprioritization/ann", `{"src_mode":"sms","dst_mode":"sms","count":1e2,"duration":"060"}`)
	f.Add(post, "/v0/users/ann/categories/%ff", `{"\u0000":null,"\ud800":"drop"}`)
	f.Add(post, "/v0/devices", `{"username":"ann","registration_id":"\ud800","platform":"\u0001"}`)
	for _, path := range []string{
		"/v0/targets?startswith=%5c%25_", "/v0/targets/user?name__in=%20,&active=1&name__endswith=%5c", "/v0/targets/%ff/exists",
		"/v0/users/99999999999999999999", "/v0/users/%00/in_lists?list=%00,%ff", "/v0/categories/%00?id__gt=x&mode__contains=%25", "/v0/users/ann/slackid",
		"/v0/target_roles", "/v0/modes", "/v0/priorities", "/v0/timezones",
	} {
		f.Add(get, path, "")
	}

	f.Add(post, "/v0/applications", `{"name":"\ud800 \u0001"}`)
	f.Add(put, "/v0/applications/demo", change("sample_context", `"\"\\ud800\""`, "variables", `["\u0000","a"]`))
	f.Add(put, "/v0/applications/demo", change("custom_sender_addresses", `{"email":"a@\r\nb"}`, "owners",
		`["\ud800"]`))
	f.Add(put, "/v0/applications/other/rename", `{"new_name":"\u0007"}`)
	f.Add(del, "/v0/applications/%00", "")
	f.Add(post, "/v0/applications/demo/quota",
		`{"hard_quota_threshold":1e9,"soft_quota_threshold":1,"hard_quota_duration":1073741825,`+
			`"soft_quota_duration":"1","plan_name":"\u0000","wait_time":1,"target_name":"\ud800"}`)
	f.Add(put, "/v0/applications/demo/incident_emails", `{"\u0000@x":"pager","@":"\ud800"}`)
	f.Add(post, "/v0/categories/demo", `[{"name":"\ud800","description":"\u0001","mode":"drop"},{"name":"A","description":"","mode":"sms"}]`)
	f.Add(post, "/v0/applications/demo/secondary", "")
	for _, path := range []string{
		"/v0/applications?tag_zone__in=%00&variables__contains=%25&limit=3&created__lt=5", "/v0/applications/%ff/plans?fields=id&target=x",
		"/v0/applications/demo/stats?fields=,", "/v0/singlestats/%00", "/v0/stats", "/v0/incidents?counts=1&id__gt=0&context__contains=%5c&limit=2",
		"/v0/plans?counts=true&tag_zone=%27&target=ops", "/v0/internal/target?role=%00&target=%ff", "/v0/internal/priority_mode_map",
	} {
		f.Add(get, path, "")
	}

	fx := newFixture(f, func(d *parts) {
		d.Config.Tags = []string{"zone"}
		d.Config.TimeZones, d.Config.Mobile, d.Config.DeviceApplications = []string{"UTC"}, true, []string{"power"}
	})
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
		r := &http.Request{Method: method, URL: u, RequestURI: path, Header: http.Header{}, Proto: "HTTP/1.1",
			ProtoMajor: 1, ProtoMinor: 1,
			Body: http.NoBody, Host: "x", ContentLength: int64(len(body))}
		r = r.WithContext(t.Context())
		if body != "" {
			r.Body = readCloser{strings.NewReader(body)}
		}
		r.Header.Set("X-IRIS-USERNAME", "root")
		r.Header.Set("Authorization", auth.Sign("power", "power-key",
			auth.SignedRequest{Username: "root", Method: method,
				Path: u.Path, RawQuery: u.RawQuery, Body: []byte(body)}, time.Now()))
		rec := httptest.NewRecorder()
		fx.handler.ServeHTTP(rec, r)
		require.Less(t, rec.Code, 500, "%s %s %q: %s", method, path, body, rec.Body)
		require.NotEqual(t, 401, rec.Code, "%s %s", method, path)
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

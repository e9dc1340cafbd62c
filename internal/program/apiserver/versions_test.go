package apiserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// versioned are the two kinds of objects with versions, each with the body of a version of ann.
var versioned = map[string]string{
	"plan":     `{"steps":[[{"target":{"role":"user","name":"bob"},"priority":"high","template":"words","wait_seconds":60,"repeat":1}]]}`,
	"template": `{"content":[{"application":"demo","mode":"email","subject":"s","body":"b"}]}`,
}

// saveTwice saves two versions of an object with the name disk, and returns the path of the object and the tags of the
// versions.
func saveTwice(f *fixture, kind, body string) (path, first, second string) {
	f.Helper()
	rec := f.do("ann", "POST", "/v1/"+kind+"s", strings.Replace(body, "{", `{"name":"Disk",`, 1))
	require.Equal(f, 201, rec.Code, rec.Body)
	first = rec.Header().Get("ETag")
	rec = f.do("ann", "PUT", "/v1/"+kind+"s/disk", body, "If-Match", first)
	require.Equal(f, 200, rec.Code, rec.Body)
	return "/v1/" + kind + "s/disk", first, rec.Header().Get("ETag")
}

func TestDeletionJudgesIfMatch(t *testing.T) {
	t.Parallel()
	for kind, body := range versioned {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.exec("update users set admin = true where name = 'ann'")
			path, first, second := saveTwice(f, kind, body)
			rec := f.do("ann", "DELETE", path, "", "If-Match", first)
			require.Equal(t, 412, rec.Code, rec.Body)
			require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
			require.Contains(t, rec.Body.String(), "somebody changed this meanwhile")
			require.Equal(t, 412, f.do("ann", "DELETE", path+"?force=true", "", "If-Match", first).Code,
				"force is about uses only")
			require.Equal(t, 200, f.do("ann", "GET", path, "").Code, "nothing was deleted")
			require.Equal(t, 403, f.do("bob", "DELETE", path, "", "If-Match", first).Code, "the permission comes first")
			require.Equal(t, 204, f.do("ann", "DELETE", path, "", "If-Match", first+", "+second).Code)
			require.Equal(t, 404, f.do("ann", "DELETE", path, "", "If-Match", "*").Code)
			require.Contains(t, f.do("ann", "GET", "/v1/audit", "").Body.String(), `"action":"`+kind+
				` deleted","object":"`+kind+` Disk"`)

			require.Equal(t, 201, f.do("ann", "POST", "/v1/"+kind+"s",
				strings.Replace(body, "{", `{"name":"disk",`, 1)).Code)
			require.Equal(t, 204, f.do("ann", "DELETE", path, "").Code, "If-Match is optional")
		})
	}
	t.Run("application", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.exec("update users set admin = true where name = 'ann'")
		tag := f.do("ann", "POST", "/v1/applications", `{"name":"new"}`).Header().Get("ETag")
		require.Equal(t, 200, f.do("ann", "PUT", "/v1/applications/new", `{"variables":[],"owners":["bob"]}`,
			"If-Match", tag).Code)
		rec := f.do("ann", "DELETE", "/v1/applications/new", "", "If-Match", tag)
		require.Equal(t, 412, rec.Code, rec.Body)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
		require.Equal(t, 403, f.do("", "DELETE", "/v1/applications/new", "", "If-Match", tag).Code)
		now := f.do("", "GET", "/v1/applications/new", "").Header().Get("ETag")
		require.Equal(t, 204, f.do("bob", "DELETE", "/v1/applications/new", "", "If-Match", now).Code)
	})
}

func TestActivationOfAVersion(t *testing.T) {
	t.Parallel()
	for kind, body := range versioned {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			path, first, second := saveTwice(f, kind, body)
			activate := func(as, tag string, want int, header ...string) string {
				t.Helper()
				rec := f.do(as, "POST", path+"/versions/"+strings.Trim(tag, `"`)+"/activate", "", header...)
				require.Equal(t, want, rec.Code, rec.Body)
				return rec.Body.String()
			}
			activate("ann", first, 412, "If-Match", first)
			require.Equal(t, second, f.do("", "GET", path, "").Header().Get("ETag"), "nothing was activated")
			require.Contains(t, activate("ann", first, 200, "If-Match", second), `"active":true,"creator":"ann"`)
			shown := f.do("", "GET", path, "")
			require.Equal(t, first, shown.Header().Get("ETag"))
			may := strings.NewReplacer(`"may_edit":true`, `"may_edit":false`) // of each caller
			require.Equal(t, may.Replace(shown.Body.String()), may.Replace(activate("bob", first, 200)),
				"a teammate may; it is the active version already")
			log := f.do("", "GET", "/v1/audit", "")
			require.Equal(t, 403, log.Code)
			f.exec("update users set admin = true where name = 'ann'")
			entries := f.do("ann", "GET", "/v1/audit?action="+kind+"+version+activated", "").Body.String()
			require.Equal(t, 1, strings.Count(entries, `"action":`), entries)
			require.Contains(t, entries, `{"field":"version","before":`+second+`,"after":`+first+`}`)

			for _, tag := range []string{"99", "x", "1"} { // 1 is a version of another object
				activate("ann", tag, 404)
			}
			require.Equal(t, 400, f.do("ann", "POST", "/v1/"+kind+"s/1/versions/1/activate", "").Code,
				"the path names the object, not a version")
			require.Equal(t, 400, f.do("ann", "POST", path+"/versions/1/activate", `{"active":true}`).Code)
			for range 2 {
				activate("ann", second, 200, "Idempotency-Key", "k", "If-Match", first)
			}
			f.exec("delete from team_members")
			activate("bob", first, 403)

			require.Equal(t, 204, f.do("ann", "DELETE", path, "").Code)
			activate("bob", second, 403)
			activate("ann", second, 412, "If-Match", second)
			activate("ann", second, 200)
			require.Equal(t, second, f.do("", "GET", path, "").Header().Get("ETag"), "the deleted object is back")
		})
	}
}

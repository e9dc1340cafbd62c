package contract

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// odd are wrong values that clients or attackers send.
var odd = []json.RawMessage{
	json.RawMessage(`null`), json.RawMessage(`true`), json.RawMessage(`-1`), json.RawMessage(`1.5`), json.RawMessage(`1e300`), json.RawMessage(`99999999999999999999`),
	json.RawMessage(`""`), json.RawMessage(`" "`), json.RawMessage(`"a\u0000b"`), json.RawMessage(`"\ud800"`), json.RawMessage(`"` + strings.Repeat("ü☃", 300) + `"`),
	json.RawMessage(`[]`), json.RawMessage(`[null]`), json.RawMessage(`{}`), json.RawMessage(`{"":[1]}`),
}

// twists returns variants of a value: each part is replaced by each odd value, and each member of an object is removed.
func twists(v any) []any {
	var out []any
	for _, o := range odd {
		out = append(out, o)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			without := maps.Clone(v)
			delete(without, name)
			out = append(out, without)
			for _, twisted := range twists(v[name]) {
				with := maps.Clone(v)
				with[name] = twisted
				out = append(out, with)
			}
		}
	case []any:
		for i := range v[:min(len(v), 1)] {
			for _, twisted := range twists(v[i]) {
				with := slices.Clone(v)
				with[i] = twisted
				out = append(out, with)
			}
		}
	}
	return out
}

// whoMay returns a caller for whom the request of a row succeeds.
func (r right) whoMay() caller {
	for _, i := range []int{7, 3, 2, 5, 0} { // administrators, applications, people
		if r.who[i] == 'o' {
			return columns[i]
		}
	}
	return columns[strings.IndexByte(r.who, 'o')]
}

// Sends bodies with one wrong place to every route. None may be a 500 (do requires that), and a refused request changes
// nothing.
func TestInvalidBodies(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	sent := 0
	for _, r := range rights() {
		if _, isText := r.body.(string); isText || r.body == nil || !strings.Contains(r.who, "o") {
			continue
		}
		as := r.whoMay()
		raw, err := json.Marshal(r.body)
		require.NoError(t, err)
		ask := func(body any) answer {
			if r.before != nil {
				r.before(s)
			}
			sent++
			return s.do(as, r.method, s.named(r.path), body)
		}
		for _, broken := range []string{"", "{", "nonsense", string(raw) + "x", "\xff" + string(raw), strings.Repeat("[", 10000), "\x00"} {
			if broken == "" && r.path == "/v1/incidents/1/acknowledge" {
				continue // the route needs no body
			}
			a := ask(broken)
			if broken == "" && strings.HasPrefix(r.path, "/v2/heartbeats") {
				want := 422 // as Opsgenie answers when the name is missing
				if r.method == "PATCH" {
					want = 200 // changes nothing
				}
				require.Equal(t, want, a.status, "%s %s", r.method, r.path)
				continue
			}
			if broken == "" && strings.HasPrefix(r.path, "/v2/alerts/") {
				require.Contains(t, []int{202, 400, 422}, a.status, "%s %s: some actions need no field", r.method,
					r.path)
				continue
			}
			require.Equal(t, 400, a.status, "%s %s %q", r.method, r.path, broken)
			if broken == "{" {
				want := badJSON
				if strings.HasPrefix(r.path, "/v1/") {
					want = `{"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "Invalid json in post body"}`
				}
				if strings.HasPrefix(r.path, "/pagerduty/") {
					want = `{"error": {"code": 2001, "message": "Bad Request", "errors": ["Invalid json in post body"]}}`
				}
				if strings.HasPrefix(r.path, "/v2/") || strings.HasPrefix(r.path, "/generic/") {
					want = `{"status": "invalid event", "message": "event refused", "errors": ["Invalid json in post body"],
						"error": {"code": 400, "message": "event refused", "errors": ["Invalid json in post body"]}}`
				}
				if strings.HasPrefix(r.path, "/v2/alerts") || strings.HasPrefix(r.path, "/v2/heartbeats") { // the answer has a time and a random number
					require.Contains(t, a.body, `"message":"Invalid json in post body"`, "%s %s", r.method, r.path)
					continue
				}
				require.JSONEq(t, want, a.body, "%s %s", r.method, r.path)
			}
		}
		var body any
		require.NoError(t, json.Unmarshal(raw, &body))
		var refused []any
		for _, twisted := range twists(body) {
			if ask(twisted).status >= 400 {
				refused = append(refused, twisted)
			}
		}
		if r.before != nil {
			r.before(s)
		}
		before := s.everything()
		for _, again := range refused {
			if a := s.do(as, r.method, s.named(r.path), again); a.status < 400 {
				require.Less(t, a.status, 300, a.what) // earlier requests made the objects that it needs
				before = s.everything()
			}
		}
		for table, now := range s.everything() {
			if now != before[table] && table != "responses" && table != "heartbeat_reception" &&
				table != "integration_rates" && (r.before == nil || !strings.Contains(r.path, "spare")) {
				t.Errorf("%s %s: a refused body changed the table %s", r.method, r.path, table)
			}
		}
	}
	t.Logf("%d bodies", sent)
}

var inPath = regexp.MustCompile(`\{[a-z_]+\}`)

// Puts odd values into the parameters of every path.
func TestInvalidPaths(t *testing.T) {
	t.Parallel()
	s := newForRights(t)
	for _, o := range s.api.operations {
		if ofOncall(o.path) || !strings.Contains(o.path, "{") || o.access == "session" {
			continue
		}
		for _, value := range []string{"%00", "%ff", "%e2%98%83", "0", "-1", "1.0", "99999999999999999999", "%2f", "%20", "..", "a%0ab", "'", strings.Repeat("x", 3000)} {
			var body any
			if o.method != http.MethodGet {
				body = m{"x": 1}
			}
			for _, as := range []caller{admin, power} {
				s.do(as, o.method, inPath.ReplaceAllString(o.path, value), body)
			}
		}
	}
	for _, l := range lists() {
		for _, query := range []string{"%", "name=%00", "name=%ff", "fields=%00", "limit=%00", "name__in=", "name__in=,,,", "id__in=" + strings.Repeat("1,", 2000) + "1", "a=;b", "name__contains=" + strings.Repeat("%25", 2000), "=", "&&&", "created=-1", "created__gt=99999999999999999"} {
			s.do(demo, get, l.path+"?"+l.narrow+"&"+query, nil)
		}
	}
}

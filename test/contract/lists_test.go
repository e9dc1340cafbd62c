package contract

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rows is a list: its route, a filter that the route requires, and the fields of a row.
type rows struct{ path, narrow, fields string }

func lists() []rows {
	const plan = "id name threshold_window threshold_count aggregation_window aggregation_reset tracking_type tracking_key tracking_template description created creator active"
	return []rows{
		{"/v0/plans", "id__gt=0", plan},
		{"/v0/applications/demo/plans", "id__gt=0", plan},
		{"/v0/incidents", "id__gt=0", "id plan plan_id active updated application context created owner current_step title_variable_name resolved title"},
		{"/v0/messages", "id__gt=0", "id active batch created sent destination subject incident_id mode application priority target body mode_changed target_changed"},
		{"/v0/templates", "id__gt=0", "id name creator created active"},
		{"/v0/applications", "name__ne=x",
			"name context_template sample_context summary_template mobile_template variables required_variables title_variable default_modes " +
				"supported_modes owners custom_sender_addresses categories"},
	}
}

// newForLists makes three objects of each kind. The one with the highest number is the oldest; two were made at the
// same instant.
func newForLists(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	for i := range 2 {
		name := fmt.Sprint("more", i)
		s.do(bob, post, "/v0/plans", aPlan(m{"name": name})).is(201)
		s.do(bob, post, "/v0/templates", m{"name": name, "creator": "bob",
			"content": m{"demo": m{"sms": m{"subject": "", "body": "b"}}}}).is(201)
	}
	for range 3 {
		s.open()
		s.do(demo, post, "/v0/notifications", m{"role": "user", "target": "ann", "subject": "s", "mode": "email",
			"body": "b"}).is(200)
	}
	for _, table := range []string{"plans", "templates", "incidents", "messages"} {
		s.exec(`update ` + table + ` set created_at = date_trunc('second', now()) - case when id = (select max(id) from ` + table + `) then interval '1 day' else interval '1 hour' end`)
	}
	return s
}

// Selects fields of every list: each alone, several, and unknown ones.
func TestFieldsOfLists(t *testing.T) {
	t.Parallel()
	s := newForLists(t)
	for _, l := range lists() {
		fields := strings.Fields(l.fields)
		has := func(query string, want ...string) {
			t.Helper()
			got := decode[[]m](s.do(demo, get, l.path+"?"+l.narrow+query, nil).is(200))
			require.NotEmpty(t, got, query)
			for _, row := range got {
				require.ElementsMatch(t, want, keysOf(row), "%s %s", l.path, query)
			}
		}
		has("", fields...)
		has("&fields=nonsense", fields...)
		has("&fields=", fields...)
		for _, f := range fields {
			if f != "title" { // title also selects the fields from which it is made
				has("&fields="+f, f)
				has("&fields=nonsense,"+f, f)
			}
		}
		first, second := fields[0], fields[1]
		has("&fields="+first+","+second, first, second)
		has("&fields="+first+",%20"+second, first, second)
		has("&fields="+first+"&fields="+second, first, second)
	}
	titled := decode[[]m](s.do(demo, get, "/v0/incidents?limit=1&fields=context,title_variable_name", nil).is(200))
	require.Equal(t, []m{{"context": m{"host": "db1", "message": "disk"}, "title_variable_name": "host",
		"title": "db1"}}, titled)
}

// Without a limit, lists are ordered by number. With a limit, the newest rows come first.
func TestOrderAndLimitOfLists(t *testing.T) {
	t.Parallel()
	s := newForLists(t)
	for _, l := range lists() {
		key := strings.Fields(l.fields)[0]
		ask := func(query string) []m {
			return decode[[]m](s.do(demo, get, l.path+"?"+l.narrow+"&fields="+key+",created"+query, nil).is(200))
		}
		all := ask("")
		require.GreaterOrEqual(t, len(all), 3, l.path)
		if key == "name" {
			require.IsIncreasing(t, namesOf(all), l.path)
			require.Len(t, ask("&limit=2"), 2, l.path)
			continue
		}
		byNumber := slices.IsSortedFunc(all,
			func(a, b m) int { return cmp.Compare(a["id"].(float64), b["id"].(float64)) })
		require.True(t, byNumber, "%s: %v", l.path, all)
		require.Equal(t, all, ask("&limit=0"), l.path)
		if strings.HasSuffix(l.path, "/demo/plans") {
			require.Equal(t, all, ask("&limit=1"), "this list knows no limit")
			continue
		}
		newest := slices.SortedStableFunc(slices.Values(all), func(a, b m) int {
			return cmp.Or(cmp.Compare(b["created"].(float64), a["created"].(float64)),
				cmp.Compare(b["id"].(float64), a["id"].(float64)))
		})
		for n := range len(all) + 1 {
			if n > 0 {
				require.Equal(t, newest[:n], ask(fmt.Sprint("&limit=", n)), l.path)
			}
		}
		require.Equal(t, newest, ask("&limit=1000000"), l.path)
	}
}

func namesOf(rows []m) (out []string) {
	for _, r := range rows {
		out = append(out, r["name"].(string))
	}
	return out
}

// Tests the lists of names with every operator.
func TestFiltersOfNames(t *testing.T) {
	t.Parallel()
	s := newForLists(t)
	name := field{"name", false}
	plain := func(a answer) []string { return decode[[]string](a) }
	row := func(a answer) []string { return namesOf(decode[[]m](a)) }
	for _, l := range []struct {
		path string
		read func(answer) []string
	}{{"/v0/targets/user", plain}, {"/v0/targets/team", plain}, {"/v0/targets/mailing-list", plain}, {"/v0/applications", row}} {
		all := l.read(s.do(demo, get, l.path, nil).is(200))
		for _, want := range append(slices.Clone(all), "ANN", "Ro", "o", "_", "%", "zzz") {
			for _, op := range []string{"eq", "ne", "gt", "ge", "lt", "le", "contains", "startswith", "endswith"} {
				expected := slices.DeleteFunc(slices.Clone(all),
					func(have string) bool { return !name.holds(op, have, want) })
				query := l.path + "?name__" + op + "=" + url.QueryEscape(want)
				require.Equal(t, append([]string{}, expected...),
					append([]string{}, l.read(s.do(demo, get, query, nil).is(200))...), query)
			}
		}
		require.Equal(t, all, append([]string{},
			l.read(s.do(demo, get, l.path+"?name__in="+url.QueryEscape(strings.ToUpper(strings.Join(all, ", "))),
				nil).is(200))...), l.path)
		s.do(demo, get, l.path+"?name__like=x", nil).refuses(400, "invalid filter operator like")
	}
}

package contract

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// field is a field of a list and its kind: number or text.
type field struct {
	name   string
	number bool
}

func numbers(names ...string) (out []field) {
	for _, name := range names {
		out = append(out, field{name, true})
	}
	return out
}

func texts(names ...string) (out []field) {
	for _, name := range names {
		out = append(out, field{name, false})
	}
	return out
}

// holds applies the documented rule of one operator. Numbers compare as numbers and are searched as decimal text. Text
// compares without case and trailing spaces. % and _ have no special meaning.
func (f field) holds(op string, have any, want string) bool {
	if have == nil {
		return false
	}
	text := fmt.Sprint(have)
	if n, ok := have.(float64); ok {
		text = strconv.FormatInt(int64(n), 10)
	}
	fold := func(s string) string { return strings.ToLower(strings.TrimRight(s, " ")) }
	switch op {
	case "contains":
		return strings.Contains(fold(text), strings.ToLower(want))
	case "startswith":
		return strings.HasPrefix(fold(text), strings.ToLower(want))
	case "endswith":
		return strings.HasSuffix(fold(text), strings.ToLower(want))
	}
	order := strings.Compare(fold(text), fold(want))
	if f.number {
		order = int(number(text) - number(want))
	}
	switch op {
	case "eq":
		return order == 0
	case "ne":
		return order != 0
	case "gt":
		return order > 0
	case "ge":
		return order >= 0
	case "lt":
		return order < 0
	}
	return order <= 0
}

// sweep filters by every field with every operator, and compares the answer with the expected rows.
func (s *server) sweep(path, base string, fields []field) {
	s.Helper()
	all := decode[[]m](s.do(demo, get, path+"?"+base, nil).is(200))
	require.Greater(s, len(all), 1, path)
	for _, f := range fields {
		wanted := []string{"0"}
		for _, row := range all {
			text := fmt.Sprint(row[f.name])
			if n, ok := row[f.name].(float64); ok {
				text = strconv.FormatInt(int64(n), 10)
			}
			if row[f.name] == nil || strings.Contains(text, ",") {
				continue
			}
			wanted = append(wanted, text)
			if !f.number {
				wanted = append(wanted, strings.ToUpper(text), "%", "_", text[:1])
			}
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		for _, want := range wanted {
			for _, op := range []string{"eq", "ne", "gt", "ge", "lt", "le", "contains", "startswith", "endswith"} {
				var ids []any
				for _, row := range all {
					if f.holds(op, row[f.name], want) {
						ids = append(ids, row["id"])
					}
				}
				query := path + "?" + base + "&" + f.name + "__" + op + "=" + url.QueryEscape(want)
				s.gives(query, ids)
			}
		}
		both := wanted[max(0, len(wanted)-2):]
		var ids []any
		for _, row := range all {
			if f.holds("eq", row[f.name], both[0]) || f.holds("eq", row[f.name], both[len(both)-1]) {
				ids = append(ids, row["id"])
			}
		}
		s.gives(path+"?"+base+"&"+f.name+"__in="+url.QueryEscape(strings.Join(both, ", ")), ids)
		s.do(demo, get, path+"?"+base+"&"+f.name+"__like=1", nil).refuses(400, "invalid filter operator like")
	}
}

func (s *server) gives(query string, ids []any) {
	s.Helper()
	got := []any{}
	for _, row := range decode[[]m](s.do(demo, get, query, nil).is(200)) {
		got = append(got, row["id"])
	}
	require.ElementsMatch(s, ids, got, query)
}

// Tests each field of each list with each operator.
func TestEveryFilter(t *testing.T) {
	t.Parallel()
	s := newIrisServer(t)
	for i, name := range []string{"Alpha", "ALPHA", "beta_x", "beta%y", "grün"} {
		s.do(bob, post, "/v0/plans", aPlan(m{"name": name, "description": fmt.Sprintf("D %d", i),
			"threshold_window": 100 + i, "threshold_count": i})).is(201)
		s.do(bob, post, "/v0/templates", m{"name": name, "creator": "bob",
			"content": m{"demo": m{"sms": m{"subject": "", "body": "b"}}}}).is(201)
	}
	for i, plan := range []string{"pager", "alpha", "beta_x"} {
		in := decode[int64](s.do(demo, post, "/v0/incidents",
			m{"plan": plan, "context": m{"host": fmt.Sprint("h_", i)}}).is(201))
		s.do(power, post, fmt.Sprintf("/v0/incidents/%d", in), m{"owner": []any{"bob", nil, "ann"}[i]}).is(200)
		s.do(demo, post, fmt.Sprintf("/v0/incidents/%d/resolve", in), m{"resolved": i == 2}).is(200)
		s.do(demo, post, "/v0/notifications", m{"role": "user", "target": []string{"ann", "bob", "root"}[i],
			"subject": fmt.Sprint("s", i), "mode": "email", "body": fmt.Sprint("b_", i)}).is(200)
	}
	s.exec("update incidents set created_at = created_at - id * interval '1 day', current_step = id")
	s.exec("update plans set created_at = created_at - id * interval '1 day'")
	s.exec("update templates set created_at = created_at - id * interval '1 day'")
	s.do(demo, post, "/v0/categories/demo", []m{{"name": "news", "description": "d", "mode": "email"},
		{"name": "Alarms", "description": "d", "mode": "sms"}}).is(200)

	s.sweep("/v0/plans", "limit=99", slices.Concat(numbers("id", "threshold_window", "threshold_count",
		"aggregation_window", "aggregation_reset", "created"), texts("name", "description", "creator")))
	s.sweep("/v0/incidents", "limit=99",
		slices.Concat(numbers("id", "plan_id", "active", "updated", "created", "current_step", "resolved"),
			texts("plan", "application", "owner")))
	s.sweep("/v0/messages", "limit=99", slices.Concat(numbers("id", "active", "created", "sent", "incident_id"),
		texts("mode", "application", "priority", "target", "subject", "body", "destination", "batch")))
	s.sweep("/v0/templates", "limit=99", slices.Concat(numbers("id", "created"), texts("name", "creator")))
	s.sweep("/v0/categories", "", texts("id", "name", "application", "mode"))
	s.sweep("/v0/applications/demo/plans", "", slices.Concat(numbers("id", "threshold_window", "created"),
		texts("name", "description", "creator")))

	for _, path := range []string{"/v0/plans", "/v0/incidents", "/v0/messages", "/v0/templates"} {
		for _, word := range []string{"x", "", "1.5", "0x1", "1 2"} {
			for _, op := range []string{"", "__lt", "__in", "__contains"} {
				s.do(demo, get, path+"?id"+op+"="+url.QueryEscape(word), nil).refuses(400, "invalid argument type",
					"id should be <class 'int'>")
			}
		}
		all := len(decode[[]m](s.do(demo, get, path+"?id__gt=0", nil).is(200)))
		require.Len(t, decode[[]m](s.do(demo, get, path+"?id__lt=99999999999999999999", nil).is(200)), all,
			"numbers of any size")
		require.Len(t, decode[[]m](s.do(demo, get, path+"?limit=99999999999999999999", nil).is(200)), all)
		s.do(demo, get, path+"?id=99999999999999999999", nil).says(200, `[]`)
		for _, ids := range []string{"1,2", "1&id=2"} {
			s.do(demo, get, path+"?id="+ids, nil).says(200, `[]`)
		}
	}
	s.do(demo, get, "/v0/incidents?active=7", nil).says(200, `[]`)
}

// Sends names in another case to every route: clients rely on the collation of MySQL.
func TestNamesInAnyCase(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	plan := s.do(bob, post, "/v0/plans",
		aPlan(m{"creator": "BOB ", "steps": [][]m{{aNotification(m{"role": "TEAM", "target": "OPS", "priority": "HIGH",
			"template": "WORDS"})}}})).is(201)
	step := decode[m](s.do(demo, get, "/v0/plans/"+plan.body, nil).is(200))["steps"].([]any)[0].([]any)[0].(m)
	require.Equal(t, []any{"team", "ops", "high"}, []any{step["role"], step["target"], step["priority"]})
	s.do(power, post, "/v0/incidents", m{"plan": "FRESH", "application": "DEMO", "context": m{}}).is(201)
	for _, n := range []m{{"mode": "EMAIL"}, {"priority": "Low"}, {"category": "NEWS"}} {
		s.do(demo, post, "/v0/categories/DEMO", []m{{"name": "news", "description": "d", "mode": "EMAIL"}}).is(200)
		s.do(demo, post, "/v0/notifications", changed(m{"role": "USER", "target": "ANN", "subject": "s", "body": "b"},
			n)).says(200, `[]`)
	}
	s.do(demo, post, "/v0/notifications", m{"target_list": []m{{"role": "TEAM", "target": "OPS"}}, "mode": "Email",
		"subject": "s", "body": "b"}).says(200, `[]`)
	made := s.do(bob, post, "/v0/templates", m{"name": "t", "creator": "BOB",
		"content": m{"DEMO": m{"EMAIL": m{"subject": "s", "body": "b"}}}}).is(201)
	require.Equal(t, m{"demo": m{"email": m{"subject": "s", "body": "b"}}},
		decode[m](s.do(demo, get, "/v0/templates/T", nil).is(200))["content"], made.body)
	s.do(bob, post, "/v0/templates", m{"name": "t", "creator": "bob",
		"content": m{"demo": m{"EMAIL": m{"subject": "s", "body": "b"}, "email": m{"subject": "s", "body": "b"}}}}).
		refuses(400, "Invalid template", "content of demo names the mode email twice")
	settings := m{"sample_context": "{}", "context_template": "", "summary_template": "", "mobile_template": "",
		"variables": []string{"host", "message"}}
	s.do(admin, put, "/v0/applications/DEMO", changed(settings,
		m{"owners": []string{"ANN"}, "supported_modes": []string{"EMAIL", "Sms"},
			"default_modes":           m{"HIGH": "SMS", "low": "pigeon"},
			"custom_sender_addresses": m{"EMAIL": "demo@example.com"}})).says(200, `[]`)
	app := decode[m](s.do(demo, get, "/v0/applications/Demo", nil).is(200))
	require.Equal(t, []any{[]any{"ann"}, m{"high": "sms"}, m{"email": "demo@example.com"}},
		[]any{app["owners"], app["default_modes"], app["custom_sender_addresses"]})
	require.ElementsMatch(t, []any{"email", "sms"}, app["supported_modes"])
}

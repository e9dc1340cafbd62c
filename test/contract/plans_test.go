package contract

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// aPlan returns a valid plan of bob with changes. A nil value removes a key.
func aPlan(changes ...m) m {
	p := m{"name": "fresh", "creator": "bob", "description": "d", "threshold_window": 900, "threshold_count": 10,
		"aggregation_window": 300,
		"aggregation_reset":  300, "steps": [][]m{{aNotification()}}}
	return changed(p, changes...)
}

func aNotification(changes ...m) m {
	return changed(m{"priority": "high", "template": "words", "wait": 60, "repeat": 1, "role": "user",
		"target": "ann"}, changes...)
}

func changed(of m, changes ...m) m {
	of = maps.Clone(of)
	for _, c := range changes {
		for k, v := range c {
			if v == nil {
				delete(of, k)
			} else {
				of[k] = v
			}
		}
	}
	return of
}

func TestPlans(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	a := s.do(bob, post, "/v0/plans", aPlan(m{"name": "  fresh "})).is(201)
	require.Equal(t, "/plans/"+a.body, a.header.Get("Location"))
	p := decode[m](s.do(demo, get, "/v0/plans/FRESH", nil).is(200))
	require.Equal(t, "fresh", p["name"])
	steps := p["steps"].([]any)
	require.Len(t, steps, 1)
	n := steps[0].([]any)[0].(m)
	require.Equal(t, []any{"user", "ann", "words", "high", float64(60), float64(1), float64(0), nil},
		[]any{n["role"], n["target"], n["template"], n["priority"], n["wait"], n["repeat"], n["optional"],
			n["dynamic_index"]})
	again := s.do(bob, post, "/v0/plans", aPlan(m{"steps": [][]m{}})).is(201)
	require.NotEqual(t, a.body, again.body)
	s.do(demo, get, "/v0/plans/"+a.body, nil).is(200)
	rows := decode[[]m](s.do(demo, get, "/v0/plans?name=fresh&fields=id,active", nil).is(200))
	require.Equal(t, []m{{"id": number(a.body), "active": float64(0)},
		{"id": number(again.body), "active": float64(1)}}, rows)
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/plans?active=true", nil).is(200)), 2)
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/plans?target=ann&active=1", nil).is(200)), 1,
		"the new version of fresh has no steps")
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/plans?target__startswith=an", nil).is(200)), 2)
	require.Empty(t, decode[[]m](s.do(demo, get, "/v0/plans?target__contains=_", nil).is(200)))
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/plans?limit=1", nil).is(200)), 1)
	s.do(demo, get, "/v0/plans?counts=true&fields=name", nil).says(200,
		`{"field_counts": {"name": {"fresh": 2, "pager": 1}}, "total_count": 3}`)
	s.do(demo, get, "/v0/plans?counts=true&fields=description", nil).is(400)
	s.do(demo, get, "/v0/plans/nowhere", nil).empty(404)
	s.do(demo, get, "/v0/plans/999", nil).empty(404)
	s.do(demo, get, "/v0/plans?active=maybe", nil).
		refuses(400, "Invalid parameter",
			`The "active" parameter is invalid. The value of the parameter must be "true" or "false".`)
}

func number(text string) float64 {
	var f float64
	_, _ = fmt.Sscan(text, &f)
	return f
}

func TestPlansAreChecked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	with := func(notifications ...m) m { return aPlan(m{"steps": [][]m{append([]m{}, notifications...)}}) }
	dynamic := func(i int) m { return aNotification(m{"role": nil, "target": nil, "dynamic_index": i}) }
	const plan, tracking = "Invalid plan", "Invalid tracking template"
	mail := m{"demo": m{"email_subject": "s", "email_text": "t"}}
	for _, c := range []struct {
		body               m
		title, description string
	}{
		{aPlan(m{"name": " "}), plan, "Empty plan name"},
		{aPlan(m{"name": "123"}), plan, "Plan name cannot be a number"},
		{aPlan(m{"creator": nil}), plan, "Plan must specify a creator"},
		{with(dynamic(1)), plan, "Dynamic target numbers must span 0..n without gaps"},
		{with(aNotification(m{"priority": "loud"})), plan, "Priority not found for step 1"},
		{with(aNotification(m{"role": "boss"})), plan, "Role not found for step 1"},
		{with(aNotification(m{"target": "zoe"})), plan, "Target zoe not found for step 1"},
		{with(aNotification(m{"target": "ops"})), "Invalid role",
			"Role user is not appropriate for target ops in step 1"},
		{with(aNotification(m{"template": "none"})), plan, "Invalid data for step 1"},
		{with(aNotification(m{"optional": 1})), plan,
			"You must have at least one non-optional notification per step. Step 1 has none."},
		{with(), plan, "You must have at least one non-optional notification per step. Step 1 has none."},
		{aPlan(m{"tracking_type": "email"}), tracking, "Incomplete tracking setting"},
		{aPlan(m{"tracking_type": "email", "tracking_key": "x@y", "tracking_template": "x"}), tracking,
			"Template must be a dictionary"},
		{aPlan(m{"tracking_type": "email", "tracking_key": "xy", "tracking_template": mail}), tracking,
			"Invalid email address"},
		{aPlan(m{"tracking_type": "email", "tracking_key": "x@y", "tracking_template": m{"demo": m{}}}), tracking,
			"No key for demo template"},
		{aPlan(m{"tracking_type": "email", "tracking_key": "x@y",
			"tracking_template": m{"demo": m{"email_subject": "s"}}}), tracking,
			"Missing keys for demo template: {'email_text'}"},
		{aPlan(m{"tracking_type": "fax", "tracking_key": "x@y", "tracking_template": mail}), tracking,
			"Unknown tracking type: fax"},
	} {
		s.do(bob, post, "/v0/plans", c.body).refuses(400, c.title, c.description)
	}
	for _, missing := range []string{"name", "description", "threshold_window", "threshold_count", "aggregation_window", "aggregation_reset", "steps"} {
		require.Contains(t, s.do(bob, post, "/v0/plans", aPlan(m{missing: nil})).is(400).body, missing,
			"the answer names what is missing")
	}
	for _, missing := range []string{"wait", "repeat", "template", "target"} {
		s.do(bob, post, "/v0/plans", with(aNotification(m{missing: nil}))).is(400)
	}
	s.do(bob, post, "/v0/plans", aPlan(m{"creator": "ann"})).refuses(401,
		"Invalid plan creator for authenticated app/user")
	s.do(demo, post, "/v0/plans", aPlan()).refuses(401, "Invalid plan creator for authenticated app/user")
	s.do(power, post, "/v0/plans", aPlan(m{"creator": "zoe"})).is(400)
	s.do(admin, post, "/v0/plans", aPlan()).is(201)
	s.do(power, post, "/v0/plans", aPlan(m{"tracking_type": "email", "tracking_key": "x@y",
		"tracking_template": mail})).is(201)
	p := decode[m](s.do(demo, get, "/v0/plans/fresh", nil).is(200))
	require.Equal(t, mail, p["tracking_template"], "decoded on the page of one plan")
	row := decode[[]m](s.do(demo, get, "/v0/plans?name=fresh&limit=1", nil).is(200))[0]
	require.IsType(t, "", row["tracking_template"], "text in a list")
}

func TestChangePlans(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	first := s.do(bob, post, "/v0/plans", aPlan()).is(201).body
	second := s.do(bob, post, "/v0/plans", aPlan()).is(201).body
	s.do(bob, post, "/v0/plans/"+first, m{"active": 1}).says(200, `1`)
	require.Contains(t, s.do(demo, get, "/v0/plans/fresh?fields=id", nil).is(200).body, `"id":`+first+",")
	s.do(bob, post, "/v0/plans/"+second, m{"active": 0}).says(200, `0`)
	s.do(demo, get, "/v0/plans/fresh", nil).is(200)
	s.do(bob, post, "/v0/plans/"+first, m{"active": 0}).says(200, `0`)
	s.do(demo, get, "/v0/plans/fresh", nil).empty(404)
	s.do(bob, post, "/v0/plans/"+first, m{}).refuses(400, `"active" field required`)
	s.do(bob, post, "/v0/plans/"+first, m{"active": "x"}).refuses(400, "Invalid active field")
	s.do(bob, post, "/v0/plans/999", m{"active": 1}).empty(404)
	for _, stranger := range []caller{demo, viewer, anonymous} {
		a := s.do(stranger, post, "/v0/plans/"+first, m{"active": 1})
		require.Contains(t, []int{401, 403}, a.status, a.what)
		a = s.do(stranger, del, "/v0/plans/fresh", nil)
		require.Contains(t, []int{401, 403}, a.status, a.what)
	}
	s.do(bob, post, "/v0/plans/fresh", m{"active": 1}).says(200, `1`)
	require.Contains(t, s.do(demo, get, "/v0/plans/fresh?fields=id", nil).is(200).body, `"id":`+second+",")
	s.do(bob, post, "/v0/plans/fresh", m{"active": 0}).says(200, `0`)
	s.do(demo, get, "/v0/plans/fresh", nil).empty(404)
	s.do(bob, post, "/v0/plans/"+first, m{"active": 1}).is(200)
	s.do(bob, del, "/v0/plans/nowhere", nil).refuses(400, "No plan matched")
	s.do(bob, del, "/v0/plans/fresh", nil).says(200, `[]`)
	s.do(demo, get, "/v0/plans/"+second, nil).empty(404)
	s.open()
	s.do(owner, del, "/v0/plans/pager", nil).refuses(400,
		"Cannot delete this plan as 1 incidents have been created using it")
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	words := m{"demo": m{"email": m{"subject": "{{ host }}", "body": "b"}}}
	body := m{"name": "alarm", "creator": "bob", "content": words}
	a := s.do(bob, post, "/v0/templates", body).is(201)
	require.Equal(t, "/templates/"+a.body, a.header.Get("Location"))
	got := decode[m](s.do(demo, get, "/v0/templates/alarm", nil).is(200))
	require.Equal(t, []any{"alarm", "bob", float64(1)}, []any{got["name"], got["creator"], got["active"]})
	require.Equal(t, []any{m{"id": float64(s.number("select id from plans")), "name": "pager"}},
		decode[m](s.do(demo, get, "/v0/templates/words", nil).is(200))["plans"])
	for missing, title := range map[string]string{"content": "content argument missing", "name": "name argument missing", "creator": "creator argument missing"} {
		s.do(bob, post, "/v0/templates", changed(body, m{missing: nil})).refuses(400, title)
	}
	s.do(bob, post, "/v0/templates", changed(body, m{"creator": "ann"})).refuses(401,
		"Invalid plan creator for authenticated app/user")
	broken := m{"demo": m{"email": m{"subject": "{{ host", "body": "b"}}}
	require.Contains(t, s.do(bob, post, "/v0/templates", changed(body, m{"content": broken})).is(400).body,
		"Invalid jinja template")
	for _, bad := range []m{{"demo": m{"email": m{"subject": "s"}}}, {"nix": words["demo"]}, {"demo": m{"fax": m{"subject": "s", "body": "b"}}}} {
		s.do(bob, post, "/v0/templates", changed(body, m{"content": bad})).is(400)
	}
	s.do(bob, post, "/v0/templates/"+a.body, m{"active": 0}).says(200, `0`)
	s.do(demo, get, "/v0/templates/alarm", nil).empty(404)
	s.do(demo, get, "/v0/templates/"+a.body, nil).is(200)
	s.do(bob, post, "/v0/templates/alarm", m{"active": 1}).says(200, `1`)
	s.do(bob, post, "/v0/templates/alarm", m{"active": 0}).says(200, `0`)
	s.do(bob, post, "/v0/templates/"+a.body, m{"active": 1}).says(200, `1`)
	s.do(bob, post, "/v0/templates/"+a.body, m{}).refuses(400, "Missing active argument")
	s.do(bob, post, "/v0/templates/"+a.body, m{"active": "x"}).refuses(400, "Invalid active argument",
		"active must be an int")
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/templates?name=alarm", nil).is(200)), 1)
	require.Len(t, decode[[]m](s.do(demo, get, "/v0/templates?active=1&creator=bob&fields=name", nil).is(200)), 1)
	s.do(demo, get, "/v0/templates?counts=true&fields=creator", nil).says(200,
		`{"field_counts": {"creator": {"ann": 1, "bob": 1}}, "total_count": 2}`)

	// A plan works again when its deactivated template is activated again.
	id := s.number("select id from templates where name = 'words'")
	s.do(owner, post, fmt.Sprintf("/v0/templates/%d", id), m{"active": 0}).is(200)
	s.do(owner, post, fmt.Sprintf("/v0/templates/%d", id), m{"active": 1}).is(200)
	step := decode[m](s.do(demo, get, "/v0/plans/pager", nil).is(200))["steps"].([]any)[0].([]any)[0].(m)
	require.Equal(t, "words", step["template"])
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	good := m{"role": "user", "target": "ann", "subject": "s", "priority": "high", "body": "b"}
	s.do(demo, post, "/v0/notifications", good).says(200, `[]`)
	require.EqualValues(t, 1, s.number("select count(*) from messages"), "durable before the answer")
	const missing = "Missing required atrributes" // as Iris spells it
	for _, c := range []struct {
		change m
		says   []string
	}{
		{m{"role": nil}, []string{missing, "role"}},
		{m{"subject": nil, "role": nil, "target": nil}, nil},
		{m{"role": nil, "target": nil, "subject": nil, "target_list": []m{{"role": "user", "target": "ann"}}},
			[]string{missing + ": subject"}},
		{m{"role": nil, "target": nil, "mode": "email", "priority": nil, "target_list": []m{{"role": "user"}}},
			[]string{"Malformed target list"}},
		{m{"role": nil, "target": nil, "priority": nil, "target_list": []m{{"role": "user", "target": "ann"}}},
			[]string{"Contact mode required for target list"}},
		{m{"role": nil, "target": nil, "priority": nil, "mode": "sms",
			"target_list": []m{{"role": "user", "target": "ann"}}}, []string{"Invalid mode", "sms"}},
		{m{"priority": "loud"}, []string{"Invalid priority", "loud"}},
		{m{"priority": nil, "mode": "fax"}, []string{"Invalid mode", "fax"}},
		{m{"priority": nil, "category": "none"}, []string{"No category named none exists for this app"}},
		{m{"priority": nil}, []string{"Priority, mode, and category are missing, at least one is required"}},
		{m{"role": "literal_target", "target": "x@y.example", "priority": nil, "category": "c"}, nil},
		{m{"body": nil}, []string{"body, template, and email_html are missing, so we cannot construct message."}},
		{m{"body": nil, "template": 7}, []string{"template needs to be a string"}},
		{m{"body": 7}, []string{"body needs to be a string"}},
		{m{"target": "zoe"}, nil},
		{m{"role": "boss"}, nil},
	} {
		a := s.do(demo, post, "/v0/notifications", changed(good, c.change)).is(400)
		if c.says != nil {
			a.refuses(400, c.says[0], c.says[1:]...)
		}
	}
	s.do(demo, post, "/v0/notifications", changed(good, m{"priority": nil, "mode": "email", "role": "literal_target",
		"target": "else@example.com"})).says(200, `[]`)
	s.do(demo, post, "/v0/notifications", changed(good, m{"role": "team", "target": "ops"})).says(200, `[]`)
	s.do(demo, post, "/v0/notifications", changed(good, m{"role": "mailing-list", "target": "all-ops"})).says(200, `[]`)
	s.do(anonymous, post, "/v0/notifications", good).is(401)
	s.do(viewer, post, "/v0/notifications", good).is(403)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := newIrisServer(t)
	s.do(demo, post, "/v0/notifications", m{"role": "user", "target": "ann", "subject": "s", "mode": "email",
		"body": "b"}).is(200)
	rows := decode[[]m](s.do(demo, get, "/v0/messages?target=ann", nil).is(200))
	require.Len(t, rows, 1)
	require.Equal(t, []any{"ann", "demo", "email", nil, float64(1)},
		[]any{rows[0]["target"], rows[0]["application"], rows[0]["mode"], rows[0]["incident_id"], rows[0]["active"]})
	path := fmt.Sprintf("/v0/messages/%.0f", rows[0]["id"])
	one := decode[m](s.do(demo, get, path, nil).is(200))
	require.Equal(t, rows[0]["id"], one["id"])
	s.do(demo, get, path+"/auditlog", nil).is(200)
	s.do(demo, get, "/v0/messages/999/auditlog", nil).says(200, `[]`)
	s.do(demo, get, "/v0/messages/999", nil).empty(404)
	s.do(demo, get, "/v0/messages/x", nil).is(400)
	s.do(demo, get, "/v0/messages", nil).refuses(400, "Message query too broad, add limit or filter")
	require.Equal(t, []m{{"id": rows[0]["id"], "mode": "email"}},
		decode[[]m](s.do(demo, get, "/v0/messages?limit=5&fields=id&fields=mode", nil).is(200)))
	s.do(demo, get, "/v0/messages?sent=x", nil).refuses(400, "invalid argument type", "sent should be <class 'int'>")
	s.do(demo, get, "/v0/messages?incident_id=7", nil).says(200, `[]`)
	s.do(demo, get, "/v0/queues", nil).is(200)
}

package contract

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// mistake is a request and its documented error. says is the whole body, byte for byte.
type mistake struct {
	as           caller
	method, path string
	body         any
	status       int
	says         string
}

// part is one section of the contract.
type part struct {
	of   string
	rows []mistake
}

// title returns the body of an error without a description; explained of an error with one, which may be empty.
func title(words string) string {
	raw, _ := json.Marshal(words)
	return `{"title":` + plain(raw) + `}`
}

func explained(words, description string) string {
	t, _ := json.Marshal(words)
	d, _ := json.Marshal(description)
	return `{"title":` + plain(t) + `,"description":` + plain(d) + `}`
}

// plain replaces Go's HTML escapes in JSON by the characters.
func plain(raw []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
}

func missing(parameter string) string {
	return explained("Missing parameter", `The "`+parameter+`" parameter is required.`)
}

const (
	noBody     = ""
	badJSON    = `{"title":"Invalid json in post body"}`
	badLimit   = `{"title":"Invalid parameter","description":"The \"limit\" parameter is invalid. The value must be an integer."}`
	badActive  = `{"title":"Invalid parameter","description":"The \"active\" parameter is invalid. The value of the parameter must be \"true\" or \"false\"."}`
	badInt     = `{"title":"invalid argument type","description":"%s should be <class 'int'>"}`
	failedAuth = "Authentication failure"
)

// newForErrors returns a server with one object of each kind.
func newForErrors(t *testing.T) *server {
	t.Helper()
	s := newRelayWith(t, "max_plan_length: 24h\ncompatibility: {applications_reach_everything: true}")
	s.page("email") // incident 1, message 1
	s.keys["nix"], s.keys["wrong"] = "x", "y"
	s.exec(`insert into applications (name) values ('wrong'), ('spare'), ('used');
		insert into incident_emails (email, application_id, plan_key) select 'taken@example.com', id, 'pager' from applications where name = 'used';
		insert into users (name) values ('lone');
		insert into user_contacts select id, 'slack', 'ann', 'ann' from users where name = 'ann'`)
	s.do(owner, post, "/v0/applications/demo/quota", aQuota()).is(201)
	s.do(bob, post, "/v0/plans", aPlan(m{"name": "dynamic",
		"steps": [][]m{{aNotification(m{"role": nil, "target": nil, "dynamic_index": 0})}}})).is(201)
	s.do(bob, post, "/v0/plans", aPlan(m{"name": "quiet", "steps": [][]m{}})).is(201)
	s.do(bob, post, "/v0/plans", aPlan(m{"name": "used"})).is(201)
	s.do(demo, post, "/v0/incidents", m{"plan": "used", "context": m{}}).is(201)
	return s
}

func aQuota(changes ...m) m {
	return changed(m{"hard_quota_threshold": 10, "soft_quota_threshold": 5, "hard_quota_duration": 60,
		"soft_quota_duration": 60,
		"plan_name":           "pager", "wait_time": 60, "target_name": "ann"}, changes...)
}

// Sends a request for every documented error. A refused request must change nothing.
func TestEveryError(t *testing.T) {
	t.Parallel()
	s := newForErrors(t)
	before := s.everything()
	rows := 0
	for _, p := range []part{transportErrors(), proofErrors(), queryErrors(), planErrors(), incidentErrors(), messageErrors(), templateErrors(), peopleErrors(),
		applicationErrors(), categoryErrors(), deviceErrors(), webhookErrors(s.keys["demo"]), answerErrors(), statisticErrors(), internalErrors()} {
		for _, r := range p.rows {
			var header []string
			if _, isText := r.body.(string); isText {
				header = []string{"Content-Type", form}
			}
			a := s.do(r.as, r.method, r.path, r.body, header...)
			if a.status != r.status || a.body != r.says {
				body, _ := json.Marshal(r.body)
				t.Errorf("%s: %s: %.300s\n got %d %s\nwant %d %s", p.of, a.what, body, a.status, a.body, r.status,
					r.says)
			}
			if kind := a.header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("%s: %s: content type %s", p.of, a.what, kind)
			}
			rows++
		}
	}
	t.Logf("%d requests were refused", rows)
	for table, now := range s.everything() {
		if now != before[table] && table != "responses" { // every answer of a person is stored, even if it is refused
			t.Errorf("a refused request changed the table %s", table)
		}
	}
}

func transportErrors() part {
	p := part{of: "transport: unknown routes, missing objects, methods, parameters"}
	for _, path := range []string{"/v0/nowhere", "/v0", "/v0/plans/1/nowhere", "/v0/plans/none", "/v0/plans/999", "/v0/templates/none", "/v0/templates/999",
		"/v0/incidents/999", "/v0/messages/999", "/v0/internal/sender_heartbeat/x", "/v0/internal/auth/applications"} {
		p.rows = append(p.rows, mistake{demo, get, path, nil, 404, noBody})
	}
	p.rows = append(p.rows, mistake{admin, get, "/v0/users/zoe", nil, 404, noBody},
		mistake{admin, get, "/v0/users/999", nil, 404, noBody})
	for path, method := range map[string]string{"/v0/plans": put, "/v0/plans/1": put, "/v0/incidents": del, "/v0/incidents/claim": get, "/v0/incidents/1": del, "/v0/messages": post,
		"/v0/notifications": get, "/v0/targets": post, "/v0/modes": post, "/v0/priorities": put, "/v0/timezones": post, "/v0/stats": post, "/v0/devices": get,
		"/v0/applications/demo/rename": post, "/v0/applications/demo/rekey": get, "/v0/users/overrides/bob": get, "/v0/response/email": get,
		"/v0/webhooks/alertmanager": get, "/v0/webhooks/grafana": put, "/v0/twilio/deliveryupdate": get, "/v0/target_roles": del} {
		p.rows = append(p.rows, mistake{demo, method, path, nil, 405, noBody})
	}
	for _, path := range []string{"/v0/plans", "/v0/templates", "/v0/incidents", "/v0/messages", "/v0/applications"} {
		for _, n := range []string{"x", "1.5", "", "true"} {
			p.rows = append(p.rows, mistake{demo, get, path + "?limit=" + n, nil, 400, badLimit})
		}
	}
	for _, path := range []string{"/v0/plans", "/v0/templates", "/v0/targets/user"} {
		for _, word := range []string{"maybe", "2", "TRUE", ""} {
			p.rows = append(p.rows, mistake{demo, get, path + "?active=" + word, nil, 400, badActive})
		}
	}
	return p.with(
		mistake{demo, get, "/v0/users/ann/in_lists", nil, 400, missing("list")},
		mistake{power, get, "/v0/internal/target?target=ann", nil, 400, missing("role")},
		mistake{power, get, "/v0/internal/target?role=user", nil, 400, missing("target")},
	)
}

// with adds rows to a part.
func (p part) with(rows ...mistake) part {
	p.rows = append(p.rows, rows...)
	return p
}

func proofErrors() part {
	unknown, forger := caller{name: "an unknown application",
		app: "nix"}, caller{name: "an application with a wrong key", app: "wrong"}
	return part{"authentication and permissions", []mistake{
		{anonymous, get, "/v0/modes", nil, 401, explained(failedAuth, "Malformed/missing HMAC authorization header")},
		{anonymous, post, "/v0/incidents", m{}, 401, explained(failedAuth,
			"Malformed/missing HMAC authorization header")},
		{unknown, get, "/v0/modes", nil, 401, explained(failedAuth,
			"HMAC failed validation. Check API key/clock skew")},
		{forger, get, "/v0/modes", nil, 401, explained(failedAuth, "HMAC failed validation. Check API key/clock skew")},
		{caller{name: "demo for bob", app: "demo", user: "bob"}, get, "/v0/modes", nil, 401,
			explained("This application does not have the power to authenticate usernames", "")},
		{demo, get, "/v0/users/bob", nil, 401, explained("App must allow authentication as user for this action", "")},
		{owner, get, "/v0/users/bob", nil, 401, explained("This user is not allowed to access this resource", "")},
		{asBob, get, "/v0/users/settings/ann", nil, 401, explained("This user is not allowed to access this resource",
			"")},
	}}
}

func queryErrors() part {
	p := part{of: "the grammar of queries"}
	for path, fields := range map[string]string{
		"/v0/plans":     "id threshold_window threshold_count aggregation_window aggregation_reset created",
		"/v0/incidents": "id plan_id active updated created current_step resolved",
		"/v0/messages":  "id active created sent incident_id",
		"/v0/templates": "id created",
	} {
		for field := range strings.FieldsSeq(fields) {
			p.rows = append(p.rows, mistake{demo, get, path + "?" + field + "__like=1", nil, 400,
				title("invalid filter operator like")})
			if field == "active" || field == "resolved" { // flags: numbers and texts
				continue
			}
			for _, op := range []string{"", "__eq", "__ne", "__gt", "__in"} {
				p.rows = append(p.rows, mistake{demo, get, path + "?" + field + op + "=x", nil, 400,
					fmt.Sprintf(badInt, field)})
			}
		}
		p.rows = append(p.rows, mistake{demo, get, path + "?name__regex=1&id__sounds=1", nil, 400,
			title("invalid filter operator sounds")},
			mistake{demo, get, path + "?limit=-1", nil, 400,
				explained("Invalid parameter", `The "limit" parameter is invalid. The value must not be negative.`)})
	}
	return p
}

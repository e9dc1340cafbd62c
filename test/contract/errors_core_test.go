package contract

import (
	"strings"
)

func planErrors() part {
	const plan, role, tracking = "Invalid plan", "Invalid role", "Invalid tracking template"
	p := part{of: "plans"}
	refused := func(words, description string, body m) {
		p.rows = append(p.rows, mistake{bob, post, "/v0/plans", body, 400, explained(words, description)})
	}
	steps := func(all ...[]m) m { return aPlan(m{"steps": all}) }
	dynamic := func(i int) m { return aNotification(m{"role": nil, "target": nil, "dynamic_index": i}) }
	good := []m{aNotification()}
	refused(plan, "Empty plan name", aPlan(m{"name": ""}))
	refused(plan, "Empty plan name", aPlan(m{"name": " \t", "creator": "ann"}))
	refused(plan, "Plan name cannot be a number", aPlan(m{"name": "123"}))
	refused(plan, "Plan name cannot be a number", aPlan(m{"name": "123", "creator": "ann"}))
	refused(plan, "Plan must specify a creator", aPlan(m{"creator": nil}))
	refused(plan, "Plan must specify a creator", aPlan(m{"creator": ""}))
	refused(plan, "Dynamic target numbers must span 0..n without gaps", steps([]m{dynamic(1)}))
	refused(plan, "Dynamic target numbers must span 0..n without gaps",
		steps([]m{dynamic(0)}, []m{dynamic(2), aNotification(m{"priority": "loud"})}))
	refused(plan, "Plan length exceeds the 24 hour maximum",
		steps([]m{aNotification(m{"wait": 43200, "repeat": 1})}, []m{aNotification(m{"wait": 1, "repeat": 0})}))
	refused(plan, "Priority not found for step 1", steps([]m{aNotification(m{"priority": "loud", "role": "boss"})}))
	refused(plan, "Priority not found for step 2", steps(good, []m{aNotification(m{"priority": nil})}))
	refused(plan, "Role not found for step 1", steps([]m{aNotification(m{"role": "boss", "target": "zoe"})}))
	refused(plan, "Role not found for step 2", steps(good, []m{aNotification(m{"role": nil})}))
	refused(plan, "Target zoe not found for step 1", steps([]m{aNotification(m{"target": "zoe"})}))
	refused(role, "Role user is not appropriate for target ops in step 1",
		steps([]m{aNotification(m{"target": "ops"})}))
	refused(role, "Role team is not appropriate for target ann in step 2",
		steps(good, []m{aNotification(m{"role": "team"})}))
	refused(plan, "Invalid data for step 1", steps([]m{aNotification(m{"template": "none"})}))
	refused(plan, "Invalid data for step 3", steps(good, good,
		[]m{aNotification(m{"template": "none", "optional": 1})}))
	refused(plan, "You must have at least one non-optional notification per step. Step 1 has none.",
		steps([]m{aNotification(m{"optional": 1})}))
	refused(plan, "You must have at least one non-optional notification per step. Step 2 has none.", steps(good, []m{}))
	track := func(kind, key string, template any) m {
		return aPlan(m{"tracking_type": kind, "tracking_key": key, "tracking_template": template})
	}
	mail := m{"demo": m{"email_subject": "s", "email_text": "t"}}
	refused(tracking, "Incomplete tracking setting", aPlan(m{"tracking_type": "email"}))
	refused(tracking, "Incomplete tracking setting", aPlan(m{"tracking_key": "x@y.example", "tracking_template": mail}))
	refused(tracking, "Incomplete tracking setting", aPlan(m{"tracking_type": "email", "tracking_key": "x@y.example"}))
	refused(tracking, "Template must be a dictionary", track("email", "x@y.example", "words"))
	refused(tracking, "Invalid email address", track("email", "nobody", mail))
	refused(tracking, "No key for demo template", track("email", "x@y.example", m{"demo": m{}}))
	refused(tracking, "Missing keys for demo template: {'email_text'}",
		track("email", "x@y.example", m{"demo": m{"email_subject": "s"}}))
	refused(tracking, "Unknown tracking type: fax", track("fax", "x", mail))
	for _, missing := range []string{"name", "description", "threshold_window", "threshold_count", "aggregation_window", "aggregation_reset"} {
		refused(plan, missing+" is required", aPlan(m{missing: nil}))
	}
	refused(plan, "steps must be a list of lists of notifications", aPlan(m{"steps": nil}))
	for _, missing := range []string{"wait", "repeat", "template", "target"} {
		refused(plan, missing+" is required in step 1", steps([]m{aNotification(m{missing: nil})}))
	}
	const active = `"active" field required`
	return p.with(
		mistake{demo, post, "/v0/plans", aPlan(), 401, title("Invalid plan creator for authenticated app/user")},
		mistake{owner, post, "/v0/plans", aPlan(m{"description": nil}), 401,
			title("Invalid plan creator for authenticated app/user")},
		mistake{power, post, "/v0/plans", aPlan(m{"creator": "zoe"}), 400, explained(plan, "Creator zoe not found")},
		mistake{owner, post, "/v0/plans/1", m{}, 400, title(active)},
		mistake{owner, post, "/v0/plans/1", m{"active": "x"}, 400, title("Invalid active field")},
		mistake{owner, post, "/v0/plans/1", m{"active": nil}, 400, title("Invalid active field")},
		mistake{owner, post, "/v0/plans/999", m{"active": 1}, 404, noBody},
		mistake{owner, post, "/v0/plans/999", m{"active": 0}, 404, noBody},
		mistake{owner, post, "/v0/plans/none", m{"active": 0}, 404, noBody},
		mistake{owner, post, "/v0/plans/none", m{"active": 1}, 404, noBody},
		mistake{owner, del, "/v0/plans/none", nil, 400, title("No plan matched")},
		mistake{owner, del, "/v0/plans/999", nil, 400, title("No plan matched")},
		mistake{owner, del, "/v0/plans/pager", nil, 400,
			title("Cannot delete this plan as the application demo is using it for quota")},
		mistake{bob, del, "/v0/plans/used", nil, 400,
			title("Cannot delete this plan as 1 incidents have been created using it")},
	)
}

func incidentErrors() part {
	ok := m{"plan": "pager", "context": m{"host": "h"}}
	const missing, target = "Missing owner or incident_ids fields", "/v0/incidents/1"
	return part{"incidents", []mistake{
		{demo, get, "/v0/incidents", nil, 400, title("Incident query too broad, add filter or limit")},
		{demo, get, "/v0/incidents?limit=0", nil, 400, title("Incident query too broad, add filter or limit")},
		{demo, get, "/v0/incidents?nonsense=1&fields=id", nil, 400,
			title("Incident query too broad, add filter or limit")},
		{demo, get, "/v0/incidents/x", nil, 400, title("Invalid incident id")},
		{demo, post, "/v0/incidents", changed(ok, m{"plan": nil}), 400, title("missing plan name attribute")},
		{demo, post, "/v0/incidents", changed(ok, m{"plan": "none"}), 404, noBody},
		{demo, post, "/v0/incidents", changed(ok, m{"plan": "none", "application": "nix"}), 404, noBody},
		{demo, post, "/v0/incidents", changed(ok, m{"context": nil}), 400, title("context is required")},
		{demo, post, "/v0/incidents", changed(ok, m{"context": "x"}), 400, title("context must be an object")},
		{demo, post, "/v0/incidents", changed(ok, m{"context": []int{}}), 400, title("context must be an object")},
		{demo, post, "/v0/incidents", changed(ok, m{"application": "other"}), 403,
			title("This application demo does not allow creating incidents as other applications")},
		{demo, post, "/v0/incidents", changed(ok, m{"application": "nix"}), 403,
			title("This application demo does not allow creating incidents as other applications")},
		{power, post, "/v0/incidents", changed(ok, m{"application": "nix"}), 400, title("Invalid application")},
		{demo, post, "/v0/incidents", changed(ok, m{"plan": "dynamic"}), 400,
			title("Invalid number of dynamic targets")},
		{demo, post, "/v0/incidents", changed(ok, m{"plan": "dynamic",
			"dynamic_targets": []m{{"role": "user", "target": "ops"}}}), 400,
			explained("Invalid incident", "invalid role user for target ops")},
		{demo, post, "/v0/incidents", changed(ok, m{"context": m{"host": strings.Repeat("x", 70000)}}), 400,
			title("Context too large. 70026 is larger than limit 65535")},
		{demo, post, "/v0/incidents", changed(ok, m{"context": m{"host": strings.Repeat("ü/", 9000)}}), 400,
			title("Context too large. 72026 is larger than limit 65535")},
		{demo, post, "/v0/incidents", changed(ok, m{"plan": "quiet"}), 400,
			title("No plan template actions exist for this app")},
		{power, post, "/v0/incidents", ok, 400, title("No plan template actions exist for this app")},

		{power, post, "/v0/incidents/x", m{"owner": "bob"}, 400, title("Invalid incident id")},
		{power, post, target, m{}, 400, title(`"owner" field required`)},
		{demo, post, target, m{"owner": "bob"}, 401, title("Invalid claimer for this app/user")},
		{owner, post, target, m{"owner": "bob"}, 401, title("Invalid claimer for this app/user")},
		{power, post, "/v0/incidents/999", m{"owner": "bob"}, 400, title("Invalid claim: no matching incident id")},
		{power, post, "/v0/incidents/999", m{"owner": nil}, 400, title("Invalid claim: no matching incident id")},
		{power, post, target, m{"owner": "zoe"}, 400, title("Invalid claim: no matching owner")},
		{power, post, target, m{"owner": "gone"}, 400, title("Invalid claim: no matching owner")},

		{power, post, "/v0/incidents/claim", m{"owner": "bob"}, 400, title(missing)},
		{power, post, "/v0/incidents/claim", m{"incident_ids": []int{1}}, 400, title(missing)},
		{power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int{1, 999}}, 400,
			title("Invalid claim: no matching incident id")},
		{power, post, "/v0/incidents/claim", m{"owner": "zoe", "incident_ids": []int{1}}, 400,
			title("Invalid claim: no matching owner")},
		{demo, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int{1}}, 401,
			title("Invalid claimer for this app/user")},

		{power, post, target + "/resolve", m{}, 400, title("resolved field required")},
		{power, post, "/v0/incidents/999/resolve", m{"resolved": 1}, 400,
			title("Invalid claim: no matching incident id")},
		{power, post, "/v0/incidents/x/resolve", m{"resolved": 1}, 400, title("Invalid incident id")},

		{bob, post, target + "/comments", m{"author": "bob", "content": ""}, 400, title("Empty comment")},
		{bob, post, target + "/comments", m{"author": "ann", "content": "c"}, 403,
			title("Comment author must match logged in user")},
		{demo, post, target + "/comments", m{"author": "bob", "content": "c"}, 403,
			title("Comment author must match logged in user")},
		{power, post, target + "/comments", m{"author": "zoe", "content": "c"}, 400, title("Failed to post comment")},
		{bob, post, "/v0/incidents/999/comments", m{"author": "bob", "content": "c"}, 400,
			title("Failed to post comment")},
		{bob, post, target + "/comments", m{"author": "bob"}, 400, title("content is required")},
		{bob, post, target + "/comments", m{"content": "c"}, 400, title("author is required")},
	}}
}

func messageErrors() part {
	const missing, nix = "Missing required atrributes", "Request rejected by sender"
	to := func(changes ...m) m {
		return changed(m{"role": "user", "target": "ann", "subject": "s", "priority": "high", "body": "b"}, changes...)
	}
	list := []m{{"role": "user", "target": "ann"}}
	without := m{"role": nil, "target": nil, "priority": nil}
	p := part{"messages and notifications", []mistake{
		{demo, get, "/v0/messages", nil, 400, title("Message query too broad, add limit or filter")},
		{demo, get, "/v0/messages?limit=0", nil, 400, title("Message query too broad, add limit or filter")},
		{demo, get, "/v0/messages?mode_changed=1", nil, 400, title("Message query too broad, add limit or filter")},
		{demo, get, "/v0/messages/x", nil, 400, title("Invalid message id")},
		{demo, get, "/v0/messages/x/auditlog", nil, 400, title("Invalid message id")},
	}}
	refused := func(says string, body m) {
		p.rows = append(p.rows, mistake{demo, post, "/v0/notifications", body, 400, says})
	}
	refused(explained(missing, "role"), to(m{"role": nil}))
	refused(explained(missing, "target"), to(m{"target": nil}))
	refused(explained(missing, "subject"), to(m{"subject": nil, "priority": "loud"}))
	refused(explained(missing, "target, role, subject"), m{"priority": "loud"})
	refused(title(missing+": subject"), m{"target_list": list, "mode": "fax"})
	refused(title("Malformed target list"), to(without, m{"mode": "sms", "target_list": []m{{"role": "user"}}}))
	refused(title("Malformed target list"), to(without, m{"mode": "email", "target_list": []m{{"target": "ann"}}}))
	refused(title("Malformed target list"), to(without, m{"mode": "email", "target_list": "ann"}))
	refused(title("Contact mode required for target list"), to(without, m{"target_list": list, "priority": "loud"}))
	refused(explained("Invalid mode", "sms"), to(without, m{"mode": "sms", "target_list": list}))
	refused(explained("Invalid priority", "loud"), to(m{"priority": "loud", "mode": "fax"}))
	refused(explained("Invalid mode", "fax"), to(m{"priority": nil, "mode": "fax", "category": "none"}))
	refused(title("No category named none exists for this app"), to(m{"priority": nil, "category": "none"}))
	refused(title("Priority, mode, and category are missing, at least one is required"),
		to(m{"priority": nil, "body": nil}))
	literal := m{"role": "literal_target", "target": "x@y.example"}
	refused(title("INVALID mode not set for literal_target role"), to(literal))
	refused(title("INVALID mode not set for literal_target role"), to(literal, m{"priority": nil, "category": "c"}))
	refused(title("INVALID role literal_target does not support priority or category"), to(literal, m{"mode": "email"}))
	refused(title("INVALID role literal_target does not support priority or category"),
		to(literal, m{"priority": nil, "category": "c", "mode": "email"}))
	for _, name := range []string{"template", "body", "email_html"} {
		for _, bad := range []any{7, true, m{}, []int{}} {
			refused(title(name+" needs to be a string"), to(m{"body": nil}, m{name: bad}))
		}
	}
	refused(title("body, template, and email_html are missing, so we cannot construct message."), to(m{"body": nil}))
	refused(explained(nix, "INVALID role"), to(m{"role": "boss"}))
	refused(explained(nix, "INVALID target"), to(m{"target": "zoe"}))
	refused(explained(nix, "INVALID role:target"), to(m{"target": "ops"}))
	refused(explained(nix, "INVALID role:target"), to(m{"target": "gone"}))
	refused(explained(nix, "INVALID role:target"), to(without,
		m{"mode": "email", "target_list": []m{{"role": "user", "target": "zoe"}}}))
	refused(explained(nix, "INVALID context"), to(m{"template": "words", "context": "x"}))
	refused(explained(nix, "INVALID email_html"), to(m{"email_html": 7}))
	refused(explained(nix, "INVALID body"), to(m{"template": "words", "body": 7}))
	return p
}

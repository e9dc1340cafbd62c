package contract

import "fmt"

// noSuchKey is the refusal of a webhook with an unknown application, and of one with a wrong key.
const noSuchKey = "Unknown application or wrong key"

func webhookErrors(key string) part {
	proof := "application=demo&key=" + key
	p := part{of: "webhooks"}
	for _, name := range []string{"alertmanager", "grafana", "rackspace", "freshping"} {
		path := "/v0/webhooks/" + name
		p = p.with(
			mistake{anonymous, post, path, m{}, 400, missing("application")},
			mistake{anonymous, post, path + "?key=" + key, m{}, 400, missing("application")},
			mistake{demo, post, path + "?application=demo", m{}, 400, missing("key")},
			mistake{anonymous, post, path + "?application=nix&key=x", m{}, 401, explained(failedAuth, noSuchKey)},
			mistake{anonymous, post, path + "?application=demo&key=x", m{}, 401, explained(failedAuth, noSuchKey)},
			mistake{anonymous, post, path + "?application=demo&key=None", m{}, 401, explained(failedAuth, noSuchKey)},
			mistake{anonymous, post, path + "?plan=pager&" + proof, "{", 400, badJSON},
		)
	}
	const noPlan = "plan does not exist or is not active"
	hook := func(name, plan string, body m, status int, says string) {
		p.rows = append(p.rows, mistake{anonymous, post, "/v0/webhooks/" + name + "?plan=" + plan + "&" + proof, body,
			status, says})
	}
	alert := func(changes ...m) m {
		return changed(m{"version": "4", "status": "firing", "alerts": []m{}, "groupLabels": m{"iris_plan": "pager"}},
			changes...)
	}
	hook("alertmanager", "", m{"version": "4"}, 400, title("missing version, status and/or alert attributes"))
	hook("alertmanager", "", alert(m{"groupLabels": nil}), 400, title("missing iris_plan in group labels"))
	hook("alertmanager", "", alert(m{"groupLabels": m{"job": "x"}}), 400, title("missing iris_plan in group labels"))
	hook("alertmanager", "", alert(m{"groupLabels": m{"iris_plan": "none"}}), 404,
		title("there is no active plan named none"))
	event := m{"event_id": "e", "details": m{}}
	hook("rackspace", "", event, 400, title("missing plan in rackspace webhook url parameters"))
	hook("rackspace", "pager", changed(event, m{"event_id": nil}), 400,
		title("missing event_id and/or details attributes"))
	hook("rackspace", "pager", changed(event, m{"details": nil}), 400,
		title("missing event_id and/or details attributes"))
	hook("rackspace", "none", event, 404, title("there is no active plan named none"))
	rule := m{"ruleName": "r", "state": "alerting"}
	hook("grafana", "", rule, 400, missing("plan"))
	hook("grafana", "pager", m{"ruleName": "r"}, 400, title("missing ruleName and/of state attributes"))
	hook("grafana", "pager", m{"state": "alerting"}, 400, title("missing ruleName and/of state attributes"))
	hook("grafana", "none", rule, 400, title(noPlan))
	ping := m{"title": "t", "description": "d", "tags": "", "ticket_id": 1}
	hook("freshping", "", ping, 400, missing("plan"))
	for name := range ping {
		hook("freshping", "pager", changed(ping, m{name: nil}), 400, title("missing channel name attributes"))
	}
	hook("freshping", "none", ping, 400, title(noPlan))
	return p
}

func answerErrors() part {
	const sms, call, one = "/v0/response/twilio/messages", "/v0/response/twilio/calls", "/v0/response/gmail-oneclick"
	from := func(words string) string { return formOf("From", annPhone, "Body", words) }
	p := part{"answers", []mistake{
		{power, post, sms, formOf("From", annPhone), 400, explained("SMS body not found",
			"Missing Body argument in post body")},
		{power, post, sms, formOf("Body", "claim all"), 400,
			explained("From argument not found", "Missing From in post body")},
		{power, post, sms, from("hello"), 400, explained("Invalid response", "failed to parse response")},
		{power, post, sms, from(""), 400, explained("Invalid response", "failed to parse response")},
		{power, post, sms, from("hello there"), 400, explained("Invalid message id", "invalid message id: hello")},
		{power, post, sms, from("999 claim"), 400, title("Invalid message(999): no application found.")},
		{power, post, sms, from("claim 999"), 400, title("Invalid message(999): no application found.")},
		{power, post, call, formOf("Digits", "2", "To", annPhone), 400, missing("message_id")},
		{power, post, call + "?message_id=1", formOf("To", annPhone), 400, title("Digits argument not found")},
		{power, post, call + "?message_id=1", formOf("Digits", "2"), 400, title("To argument not found")},
		{power, post, call + "?message_id=999", formOf("Digits", "2", "To", annPhone), 400,
			title("Invalid message(999): no application found.")},
		{power, post, "/v0/twilio/deliveryupdate", formOf("MessageSid", "SM1"), 400, title("Invalid keys in payload")},
		{power, post, "/v0/twilio/deliveryupdate", formOf("CallStatus", "failed"), 400,
			title("Invalid keys in payload")},
		{power, post, "/v0/twilio/deliveryupdate", "", 400, title("Invalid keys in payload")},
	}}
	slack := m{"msg_id": 1, "source": "ann", "content": "claim"}
	for name := range slack {
		p = p.with(mistake{power, post, "/v0/response/slack", changed(slack, m{name: nil}), 400,
			title("Post body missing required key")})
	}
	for _, bad := range []m{{"msg_id": "x"}, {"msg_id": 999}, {"source": 1}, {"content": m{}}} {
		p = p.with(mistake{power, post, "/v0/response/slack", changed(slack, bad), 400,
			explained("Bad Request", "Failed to handle slack response")})
	}
	click := m{"msg_id": 1, "email_address": "ann@example.com", "cmd": "claim"}
	for name := range click {
		p = p.with(mistake{power, post, one, changed(click, m{name: nil}), 400,
			title("Post body missing required key or key of wrong type")},
			mistake{power, post, one, changed(click, m{name: m{}}), 400,
				title("Post body missing required key or key of wrong type")})
	}
	for _, cmd := range []string{"claim all", "suppress", ""} {
		p = p.with(mistake{power, post, one, changed(click, m{"cmd": cmd}), 400,
			title("GmailOneClick only supports claiming individual messages")})
	}
	for _, path := range []string{"/v0/response/email", "/v0/response/gmail"} {
		mail := func(says, line string, headers ...string) {
			list := []m{}
			for i := 0; i+1 < len(headers); i += 2 {
				list = append(list, m{"name": headers[i], "value": headers[i+1]})
			}
			p.rows = append(p.rows, mistake{power, post, path, m{"body": line, "headers": list}, 400, says})
		}
		mail(title("Missing source"), "claim all", "To", "iris@example.com", "Subject", "x")
		mail(explained("Invalid response", "Invalid response: hello"), "hello\nthere", "From", "ann@example.com")
		mail(explained("Invalid message id", "invalid message id: hello"), "hello there", "From", "ann@example.com")
		mail(title("Invalid message(999): no application found."), "claim", "From", "Ann <ann@example.com>", "Subject",
			"Re: 999 words")
		mail(explained("Invalid request", "Failed to lookup target from destination: stranger@example.com"),
			"claim all", "From", "stranger@example.com")
	}
	return p
}

func internalErrors() part {
	tag := m{"id": 1, "name": "service", "values": []string{"x"}}
	p := part{"additions of the newer branch", []mistake{
		{power, post, "/v0/internal/incident/x", m{"current_step": 1, "active": 1}, 400, title("Invalid incident id")},
		{power, post, "/v0/internal/incident/999", m{"current_step": 1, "active": 1}, 404, noBody},
		{power, post, "/v0/internal/incident/1", m{"active": 1}, 400, title("current_step is required")},
		{power, post, "/v0/internal/incident/1", m{"current_step": 1}, 400, title("active is required")},
		{demo, get, "/v0/internal/target?role=user&target=ann", nil, 403,
			title("App not allowed to use internal routes")},
	}}
	for _, kind := range []string{"incident", "application", "plan", "template", "target"} {
		path := "/v0/internal/" + kind + "_tag"
		p = p.with(mistake{demo, put, path, tag, 403, title("App not allowed to use internal routes")},
			mistake{power, put, path, changed(tag, m{"name": "nix"}), 400,
				title("The tag nix is not one of those that are allowed")},
			mistake{power, put, path, changed(tag, m{"id": 999}), 400,
				title("there is no " + kind + " with the number 999")})
	}
	for path, unique := range map[string][]string{"/v0/incidents": {"id", "context", "created", "updated"}, "/v0/plans": {"id", "created", "description", "tracking_template"}, "/v0/templates": {"id", "created"}} {
		for _, field := range unique {
			p = p.with(mistake{demo, get, fmt.Sprintf("%s?counts=true&active=1&fields=%s", path, field), nil, 400,
				explained("These fields cannot be counted", field)})
		}
	}
	return p
}

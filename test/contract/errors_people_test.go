package contract

import "strings"

func templateErrors() part {
	words := m{"demo": m{"email": m{"subject": "s", "body": "b"}}}
	ok := m{"name": "t", "creator": "bob", "content": words}
	made := func(change m) m { return changed(ok, change) }
	content := func(c any) m { return changed(ok, m{"content": c}) }
	return part{"templates", []mistake{
		{bob, post, "/v0/templates", m{"name": "", "creator": ""}, 400, title("content argument missing")},
		{bob, post, "/v0/templates", made(m{"name": nil, "creator": nil}), 400, title("name argument missing")},
		{bob, post, "/v0/templates", made(m{"name": ""}), 400, title("name argument missing")},
		{bob, post, "/v0/templates", made(m{"creator": nil}), 400, title("creator argument missing")},
		{bob, post, "/v0/templates", made(m{"creator": "ann"}), 401,
			title("Invalid plan creator for authenticated app/user")},
		{demo, post, "/v0/templates", ok, 401, title("Invalid plan creator for authenticated app/user")},
		{bob, post, "/v0/templates", content(m{"demo": m{"email": m{"subject": "{% if %}", "body": "b"}}}), 400,
			explained("Invalid jinja template",
				"TemplateSyntaxError: Expected an expression, got 'end of statement block' (line 1)")},
		{bob, post, "/v0/templates", content(m{"demo": m{"email": m{"body": "b"}}}), 400,
			explained("Invalid template", "subject is required for demo email")},
		{bob, post, "/v0/templates", content(m{"demo": m{"email": m{"subject": "s"}}}), 400,
			explained("Invalid template", "body is required for demo email")},
		{bob, post, "/v0/templates", content(m{"nix": words["demo"]}), 400,
			explained("Invalid template", "Application nix not found")},
		{bob, post, "/v0/templates", content(m{"demo": m{"fax": m{"subject": "s", "body": "b"}}}), 400,
			explained("Invalid template", `mode "fax" of demo is not known`)},
		{owner, post, "/v0/templates/1", m{}, 400, title("Missing active argument")},
		{owner, post, "/v0/templates/1", m{"active": "x"}, 400,
			explained("Invalid active argument", "active must be an int")},
		{owner, post, "/v0/templates/999", m{"active": 1}, 404, noBody},
		{owner, post, "/v0/templates/none", m{"active": 0}, 404, noBody},
		{owner, post, "/v0/templates/none", m{"active": 1}, 404, noBody},
		{demo, get, "/v0/targets/planet", nil, 400, title("Target type planet not found")},
		{demo, get, "/v0/targets/planet?active=x", nil, 400, title("Target type planet not found")},
	}}
}

func peopleErrors() part {
	const flood = "/v0/users/reprioritization/bob"
	p := part{"people", []mistake{
		{bob, post, "/v0/users/overrides/bob", m{}, 400,
			title("Invalid json in post body: template_overrides parameter is not a dict")},
		{bob, post, "/v0/users/overrides/bob", m{"template_overrides": "sms"}, 400,
			title("Invalid json in post body: template_overrides parameter is not a dict")},
		{bob, post, "/v0/users/overrides/bob", m{"template_overrides": m{"call": "enabled"}}, 400,
			title("No valid mode override values in post body")},
		{bob, post, "/v0/users/overrides/bob", m{"template_overrides": m{"sms": "on"}}, 400,
			title("Invalid sms override setting value: on")},
		{bob, post, "/v0/users/modes/bob", m{"high": "fax"}, 400, explained("Invalid mode", "fax")},
		{bob, post, "/v0/users/modes/bob", m{"loud": "sms"}, 400, explained("Invalid priority", "loud")},
		{bob, post, "/v0/users/modes/bob", m{"application": "nix", "high": "sms"}, 400,
			title("Application nix not found")},
		{bob, post, "/v0/users/modes/bob", m{"per_app_modes": m{"nix": m{"high": "sms"}}, "high": "sms"}, 400,
			title("Application nix not found")},
		{bob, get, "/v0/users/modes/bob?application=nix", nil, 400, title("Application nix not found")},
		{bob, del, flood + "/call", nil, 404, noBody},
		{bob, del, flood + "/fax", nil, 404, noBody},
		{bob, post, "/v0/users/bob/categories/demo", m{"none": "sms"}, 400, title("Invalid category specified")},
		{bob, post, "/v0/users/bob/categories/nix", m{"none": "sms"}, 400, title("Invalid category specified")},
		{power, post, "/v0/users/zoe/categories/demo", m{"none": "sms"}, 400, title("Invalid user specified")},
		{bob, post, "/v0/users/bob/categories/demo", m{"none": "fax"}, 400, explained("Invalid mode", `"fax"`)},
		{demo, get, "/v0/users/zoe/slackid", nil, 404, noBody},
		{demo, get, "/v0/users/lone/slackid", nil, 400, title("User has no email contact to be found in Slack by")},
	}}
	good := m{"src_mode": "call", "dst_mode": "sms", "count": 5, "duration": 60}
	flooded := func(words, description string, change m) {
		p.rows = append(p.rows, mistake{bob, post, flood, changed(good, change), 400, explained(words, description)})
	}
	flooded("Missing argument", "missing arg: duration", m{"duration": nil, "count": nil, "src_mode": nil,
		"dst_mode": nil})
	flooded("Missing argument", "missing arg: count", m{"count": nil, "src_mode": nil, "duration": "x"})
	flooded("Missing argument", "missing arg: src_mode", m{"src_mode": nil, "dst_mode": nil})
	flooded("Missing argument", "missing arg: dst_mode", m{"dst_mode": nil})
	flooded("Invalid duration", "duration must be an integer", m{"duration": "x", "count": 0})
	flooded("Invalid duration", "duration must be greater than 1 minute", m{"duration": 59})
	flooded("Invalid duration", "duration must be at most 3600 seconds", m{"duration": "3601"})
	flooded("Invalid count", "count must be an integer", m{"count": "x", "src_mode": "fax"})
	flooded("Invalid count", "count must be greater than 0", m{"count": 0})
	flooded("Invalid count", "count must be under 255", m{"count": 256})
	flooded("Invalid source mode.", "Invalid source mode.", m{"src_mode": "fax", "dst_mode": "fax"})
	flooded("Invalid destination mode.", "Invalid destination mode.", m{"dst_mode": "fax"})
	return p
}

func applicationErrors() part {
	const one, nix = "/v0/applications/demo", "/v0/applications/nix"
	settings := m{"sample_context": `{}`, "context_template": "", "summary_template": "", "mobile_template": "",
		"variables": []string{"host", "message"}}
	p := part{"applications", []mistake{
		{demo, get, nix, nil, 400, title("Application nix not found")},
		{demo, get, nix + "/stats", nil, 400, title("Application nix not found")},
		{admin, post, "/v0/applications", "[", 400, badJSON},
		{admin, post, "/v0/applications", m{}, 400, title("Missing app name")},
		{admin, post, "/v0/applications", m{"name": " "}, 400, title("Missing app name")},
		{admin, post, "/v0/applications", m{"name": "Demo"}, 400, title("This app already exists")},
		{owner, post, "/v0/applications", "[", 401, title("Only admins can create apps")},
		{bob, put, one, settings, 401, title("Only admins and app owners can change this app's settings.")},
		{demo, put, one, settings, 401, title("Only admins and app owners can change this app's settings.")},
		{admin, put, nix, settings, 400, title("Application nix not found")},
	}}
	changing := func(says string, change m) {
		p.rows = append(p.rows, mistake{admin, put, one, changed(settings, change), 400, says})
	}
	changing(title("sample_context must be valid json"), m{"sample_context": nil, "context_template": nil})
	changing(title("sample_context must be valid json"), m{"sample_context": "{"})
	changing(title("sample_context must be valid json"), m{"sample_context": m{"a": 1}})
	for _, name := range []string{"context_template", "summary_template", "mobile_template"} {
		changing(title(name+" must be specified"), m{name: nil})
	}
	changing(title("variables must be specified and be a list"), m{"variables": nil, "title_variable": "nix"})
	changing(title("variables must be specified and be a list"), m{"variables": "host"})
	changing(title("title variable is invalid"), m{"title_variable": "nix", "owners": "ann"})
	changing(title("To change owners, you must pass a list of strings"), m{"owners": "ann"})
	changing(title("To change owners, you must pass a list of strings"), m{"owners": []int{1}})
	changing(title("To change custom addresses, you must pass a dictionary of mode: address pairings"),
		m{"custom_sender_addresses": "a@b.example"})
	changing(explained("%s does not support custom sender addresses", "sms"),
		m{"custom_sender_addresses": m{"sms": "+1"}})
	changing(title("To change modes, you must pass a list of strings"), m{"supported_modes": "sms"})

	for _, r := range []struct{ method, sub, nobody, stranger, unknown string }{
		{del, "", "You must be a logged in user to delete this app", "You don't have permissions to delete this app.",
			"No rows changed; app name probably already deleted"},
		{get, "/key", "You must be a logged in user to view this app's key",
			"You don't have permissions to view this app's key.", "Key for this application not found"},
		{get, "/secondary", "You must be a logged in user to view this app's key",
			"You don't have permissions to view this app's key.", "Key for this application not found"},
		{post, "/secondary", "You must be a logged in user to app", "You don't have permissions to re-key this app.",
			"Secondary key already exists, or app name incorrect"},
		{post, "/rekey", "You must be a logged in user to re-key this app",
			"You don't have permissions to re-key this app.", "Re-key failed; secondary key does not exist or invalid app name"},
	} {
		p = p.with(mistake{demo, r.method, one + r.sub, nil, 401, title(r.nobody)},
			mistake{power, r.method, one + r.sub, nil, 401, title(r.nobody)},
			mistake{bob, r.method, one + r.sub, nil, 403, title(r.stranger)}, mistake{asBob, r.method, one + r.sub,
				nil, 403, title(r.stranger)},
			mistake{admin, r.method, nix + r.sub, nil, 400, title(r.unknown)})
	}
	const emails = "These email addresses are "
	return p.with(
		mistake{owner, del, one, nil, 400, title("Cannot remove app. It has likely already in use.")},
		mistake{owner, post, one + "/rekey", nil, 400,
			title("Re-key failed; secondary key does not exist or invalid app name")},

		mistake{demo, put, one + "/rename", m{}, 401, title("You must be a logged in user to rename this app")},
		mistake{bob, put, one + "/rename", m{}, 403, title("You don't have permissions to rename this app.")},
		mistake{owner, put, one + "/rename", "[", 400, badJSON},
		mistake{owner, put, one + "/rename", m{}, 400, title("Missing new_name from post body")},
		mistake{owner, put, one + "/rename", m{"new_name": "demo"}, 400, title("New and old app name are identical")},
		mistake{owner, put, one + "/rename", m{"new_name": "OTHER "}, 400,
			title("Destination app name likely already exists")},
		mistake{admin, put, nix + "/rename", m{"new_name": "y"}, 400, title("No rows changed; old app name incorrect")},

		mistake{bob, post, one + "/quota", aQuota(), 401,
			title("You don't have permissions to update this app's quota.")},
		mistake{bob, del, one + "/quota", nil, 401, title("You don't have permissions to update this app's quota.")},
		mistake{owner, post, one + "/quota", "", 400, badJSON},
		mistake{owner, post, one + "/quota", aQuota(m{"wait_time": nil}), 400,
			title("Missing required keys in post body")},
		mistake{owner, post, one + "/quota", aQuota(m{"more": 1}), 400, title("Missing required keys in post body")},
		mistake{owner, post, one + "/quota", aQuota(m{"hard_quota_duration": "x", "wait_time": 0}), 400,
			title("Some int keys are not integers")},
		mistake{owner, post, one + "/quota", aQuota(m{"wait_time": 0, "hard_quota_threshold": 1}), 400,
			title("All int keys must be over 0")},
		mistake{owner, post, one + "/quota", aQuota(m{"hard_quota_threshold": 5}), 400,
			title("Hard threshold must be bigger than soft threshold")},
		mistake{owner, post, one + "/quota", aQuota(m{"plan_name": "none"}), 400,
			title("No active ID found for that plan")},
		mistake{owner, post, one + "/quota", aQuota(m{"target_name": "zoe"}), 400,
			title("No ID found for that target")},
		mistake{admin, post, nix + "/quota", aQuota(), 400, title("No ID found for that application")},

		mistake{demo, put, one + "/incident_emails", m{}, 401,
			title("You must be a logged in user to change this application's email incident settings")},
		mistake{bob, put, one + "/incident_emails", m{}, 403,
			title("You don't have permissions to change this application's email incident settings.")},
		mistake{owner, put, one + "/incident_emails", m{"bob@example.com": "pager", "ann@example.com": "pager"}, 400,
			title(emails + "also user's email addresses which is not allowed: ann@example.com, bob@example.com")},
		mistake{owner, put, one + "/incident_emails", m{"Taken@example.com": "pager"}, 400,
			title(emails + "already in use by another app: taken@example.com")},
		mistake{owner, put, one + "/incident_emails", m{"in@example.com": "quiet"}, 400,
			title("Failed adding in@example.com -> quiet combination. This plan does not have any templates which support this app.")},
		mistake{owner, put, one + "/incident_emails", m{"in@example.com": "none"}, 400,
			title("Failed adding in@example.com -> none combination. Is your plan name correct?")},
	)
}

func categoryErrors() part {
	one := []m{{"name": "n", "description": "d", "mode": "email"}}
	return part{"categories", []mistake{
		{other, post, "/v0/categories/demo", one, 401, title("You don't have permissions to create this category")},
		{bob, post, "/v0/categories/demo", one, 401, title("You don't have permissions to create this category")},
		{power, post, "/v0/categories/demo", one, 401, title("You don't have permissions to create this category")},
		{demo, post, "/v0/categories/demo", []m{{"name": "n", "description": "d"}}, 400,
			title("Missing required attributes")},
		{demo, post, "/v0/categories/demo", []m{one[0], {"name": "n2", "mode": "email"}}, 400,
			title("Missing required attributes")},
		{demo, post, "/v0/categories/demo", []m{{"description": "d", "mode": "email"}}, 400,
			title("Missing required attributes")},
		{admin, post, "/v0/categories/nix", one, 404, noBody},
		{demo, post, "/v0/categories/demo", []m{{"name": "n", "description": "d", "mode": "fax"}}, 400,
			explained("Invalid mode", "fax")},
	}}
}

func deviceErrors() part {
	ok := m{"username": "ann", "registration_id": "r", "platform": "iOS"}
	rows := []mistake{
		{other, post, "/v0/devices", ok, 403, title("App not allowed to register devices")},
		{admin, post, "/v0/devices", m{}, 403, title("App not allowed to register devices")},
		{demo, post, "/v0/devices", changed(ok, m{"username": "zoe"}), 400, title("User zoe not found")},
		{demo, post, "/v0/devices", changed(ok, m{"registration_id": strings.Repeat("r", 2001)}), 400,
			title("registration_id can have 2000 bytes, platform 100")},
	}
	for name := range ok {
		rows = append(rows, mistake{demo, post, "/v0/devices", changed(ok, m{name: nil}), 400,
			title("Missing parameters for adding device")})
	}
	return part{"devices", rows}
}

func statisticErrors() part {
	return part{"statistics", []mistake{
		{demo, get, "/v0/singlestats/nonsense", nil, 400, title("Stat nonsense not found")},
		{demo, get, "/v0/applications/NIX/stats", nil, 400, title("Application NIX not found")},
	}}
}

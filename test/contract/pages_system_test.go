package contract

const adminsPages = "1111133o3"

// settledMessage makes message 901, a notification that was sent.
func settledMessage(s *server) {
	s.exec(`insert into notification_requests (id, application_id, subject, body) values (901, (select id from applications where name = 'demo'), 'hello', 'text') on conflict do nothing`)
	s.exec(`insert into messages (id, bucket, request_id, application_id, recipient, user_id, target, class, mode, state, settled_at)
		select 901, 133, 901, a.id, 'user:' || u.id, u.id, u.name, 2, 'email', 'sent', now() from applications a, users u where a.name = 'demo' and u.name = 'bob'
		on conflict do nothing`)
}

// systemPages are the rows of the page of the system, and of the operations behind it.
func systemPages() []right {
	out := []right{
		{get, "/v1/system/members", nil, 200, "", nil},
		{get, "/v1/system/queues", nil, 200, "", nil},
		{get, "/v1/system/limits", nil, 200, "", nil},
		{get, "/v1/system/vendors", nil, 200, "", nil},
		{get, "/v1/system/unreached", nil, 200, "", nil},
		{get, "/v1/system/contacts", nil, 200, "", nil},
		{get, "/v1/system/handovers", nil, 200, "", nil},
		{put, "/v1/system/members/p2/draining", m{"draining": true}, 200, "", func(s *server) {
			s.exec(`insert into members (process_id, host, version, data_shape) values ('p1', 'h', 'v', 1), ('p2', 'h', 'v', 1)
				on conflict (process_id) do update set draining = false, heartbeat_at = clock_timestamp()`)
		}},
		{put, "/v1/system/pauses/mode:push", m{"seconds": 60, "reason": "a test"}, 200, "", nil},
		{del, "/v1/system/pauses/mode:webhook", nil, 204, "", func(s *server) {
			s.exec(`insert into vendor_pauses (account, until) values ('mode:webhook', now() + interval '1 hour') on conflict do nothing`)
		}},
		{put, "/v1/applications/demo/paused", m{"paused": false}, 200, "", nil},
		{post, "/v1/messages/purge", m{"mode": "push", "reason": "a test"}, 200, "", nil},
		{post, "/v1/messages/901/resend", nil, 201, "", settledMessage},
		{post, "/messages/901/resend", nil, 303, adminsPages, settledMessage},
		{post, "/system/members/p2/draining", formOf("draining", "false"), 303, adminsPages, nil},
		{post, "/system/pauses", formOf("key", "mode:push", "minutes", "1", "reason", "a test"), 303, adminsPages, nil},
		{post, "/system/pauses/end", formOf("key", "mode:webhook"), 303, adminsPages, func(s *server) {
			s.exec(`insert into vendor_pauses (account, until) values ('mode:webhook', now() + interval '1 hour') on conflict do nothing`)
		}},
		{post, "/system/applications", formOf("application", "demo", "paused", "false"), 303, adminsPages, nil},
		{post, "/system/purge", formOf("mode", "push", "reason", "a test"), 303, adminsPages, nil},
		{get, "/v1/system/configuration", nil, 200, "", nil},
		{get, "/system?tab=configuration", nil, 200, "lllll33o3", nil},
	}
	for _, tab := range []string{"members", "queues", "vendors", "unreached", "contacts", "refused", "versions"} {
		out = append(out, right{get, "/system?tab=" + tab, nil, 200, people, nil})
	}
	return out
}

package contract

// plansPages are the rows of pages (see pages).
func plansPages() []right {
	var out []right
	for _, path := range []string{"/plans", "/plans/new", "/plans/pager", "/plans/pager/edit", "/plans/pager/versions", "/plans/pager/test"} {
		out = append(out, right{get, path, nil, 200, people, nil})
	}
	return append(out,
		right{post, "/plans/new", formOf("do", "add-step"), 200, "11111ooo3", nil},
		right{post, "/plans/spare/edit", formOf("do", "add-step"), 200, "11111ooo3", spare},
		right{post, "/plans/spare/paused", formOf("paused", "true"), 303, "11111o3o3", spare},
		right{post, "/plans/{spare plan}/activate", nil, 303, "11111ooo3", spare},
		right{post, "/plans/spare/owner", formOf("team", ""), 303, "11111o3o3", spare},
		right{post, "/plans/spare/retire", formOf("force", "true"), 303, "11111o3o3", spare},
		right{post, "/plans/pager/test", nil, 303, "11111ooo3", nil},
	)
}

package contract

// calendarPages are the rows of pages (see pages).
func calendarPages() []right {
	return []right{{get, "/oncall/teams", nil, 200, people, nil}, {get, "/oncall/teams/ops", nil, 200, people, nil},
		{get, "/oncall/me", nil, 200, people, nil}, {get, "/search?q=ops", nil, 200, people, nil}}
}

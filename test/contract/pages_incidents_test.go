package contract

// incidentsPages are the rows of pages (see pages) for the list of incidents.
func incidentsPages() []right {
	return []right{
		{get, "/incidents/new", nil, 200, people, nil},
		{post, "/incidents/new", formOf("plan", "pager", "application", "demo", "title", "t", "severity", "error", "do", "open"), 303, "11111ooo3", nil}, // the page of the refusal keeps the form
		{post, "/incidents/bulk", formOf("id", "1", "verb", "acknowledge"), 303, "11111ooo3", unowned},
	}
}

package contract

// systemPages are the rows of the page of the system, and of the operations behind it.
func systemPages() []right {
	out := []right{
		{get, "/v1/system/members", nil, 200, known, nil},
		{get, "/v1/system/queues", nil, 200, known, nil},
		{get, "/v1/system/limits", nil, 200, known, nil},
		{get, "/v1/system/vendors", nil, 200, known, nil},
		{get, "/v1/system/unreached", nil, 200, known, nil},
		{get, "/v1/system/configuration", nil, 200, "1333333o3", nil},
		{get, "/system?tab=configuration", nil, 200, "lllll33o3", nil},
	}
	for _, tab := range []string{"members", "queues", "vendors", "unreached", "refused", "versions"} {
		out = append(out, right{get, "/system?tab=" + tab, nil, 200, people, nil})
	}
	return out
}

package contract

// messagesPages are the rows of the pages of messages and statistics, and of their figures.
func messagesPages() []right {
	return []right{
		{get, "/v1/statistics?unit=hour", nil, 200, "", nil},
		{get, "/messages", nil, 200, people, nil},
		{get, "/messages/1", nil, 200, people, nil},
		{get, "/messages/1/html", nil, 200, people, nil},
		{get, "/messages/export", nil, 200, people, nil},
		{get, "/statistics", nil, 200, people, nil},
		{get, "/statistics/export?chart=incidents", nil, 200, people, nil},
	}
}

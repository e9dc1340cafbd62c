//go:build browser

package browser

// messagesLayout returns pages of messages and statistics for TestLayout. The incidents with long names have paged
// people.
func messagesLayout(*client) []layoutPage {
	return []layoutPage{
		{"messages", "/messages", `td.title`}, {"messages-of", "/messages?application=demo&mode=email",
			`td.title`}, {"no-message", "/messages?target=none", `.empty`},
		{"message", "/messages/1", `.facts`}, {"statistics", "/statistics",
			`.chart.drawn canvas`}, {"statistics-of-nobody", "/statistics?team=" + unbroken, `.numbers`},
	}
}

//go:build browser

package browser

// messagesLayout adds hostile data with api and returns pages for TestLayout.
func messagesLayout(*client) []layoutPage {
	return nil
}

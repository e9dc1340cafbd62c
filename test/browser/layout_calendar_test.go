//go:build browser

package browser

// calendarLayout adds hostile data with api and returns pages for TestLayout.
func calendarLayout(*client) []layoutPage {
	return nil
}

//go:build browser

package browser

// applicationsLayout adds hostile data with api and returns pages for TestLayout.
func applicationsLayout(*client) []layoutPage {
	return nil
}

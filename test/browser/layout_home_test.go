//go:build browser

package browser

// homeLayout adds hostile data with api and returns pages for TestLayout.
func homeLayout(*client) []layoutPage {
	return nil
}

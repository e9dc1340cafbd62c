//go:build browser

package browser

// systemLayout adds hostile data with api and returns pages for TestLayout.
func systemLayout(*client) []layoutPage {
	return nil
}

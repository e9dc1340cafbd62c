//go:build browser

package browser

// textsLayout adds hostile data with api and returns pages for TestLayout.
func textsLayout(*client) []layoutPage {
	return nil
}

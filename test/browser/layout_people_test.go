//go:build browser

package browser

// peopleLayout adds hostile data with api and returns pages for TestLayout.
func peopleLayout(*client) []layoutPage {
	return nil
}

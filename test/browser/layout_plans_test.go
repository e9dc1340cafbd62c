//go:build browser

package browser

// plansLayout adds hostile data with api and returns pages for TestLayout.
func plansLayout(*client) []layoutPage {
	return nil
}

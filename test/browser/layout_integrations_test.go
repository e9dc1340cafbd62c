//go:build browser

package browser

// integrationsLayout adds hostile data with api and returns pages for TestLayout.
func integrationsLayout(*client) []layoutPage {
	return nil
}

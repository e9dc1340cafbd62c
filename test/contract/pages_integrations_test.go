package contract

// integrationsPages are the rows of pages (see pages).
func integrationsPages() []right {
	return nil
}

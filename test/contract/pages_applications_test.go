package contract

// applicationsPages are the rows of pages (see pages).
func applicationsPages() []right {
	return nil
}

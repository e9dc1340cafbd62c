package contract

// homePages are the rows of pages (see pages).
func homePages() []right {
	return nil
}

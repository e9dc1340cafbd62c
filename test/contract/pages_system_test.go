package contract

// systemPages are the rows of pages (see pages).
func systemPages() []right {
	return nil
}

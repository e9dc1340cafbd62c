package contract

// textsPages are the rows of pages (see pages).
func textsPages() []right {
	return nil
}

package contract

// plansPages are the rows of pages (see pages).
func plansPages() []right {
	return nil
}

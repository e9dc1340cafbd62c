package contract

// messagesPages are the rows of pages (see pages).
func messagesPages() []right {
	return nil
}

package oncallapi

// Paths lists method and path of every route that needs a known caller, for tests, and whether read-only people may use it for
// themselves.
func (a *API) Paths() [][3]string {
	var out [][3]string
	for _, r := range a.table() {
		if r.access != public {
			who := ""
			if r.access == self {
				who = "self"
			}
			out = append(out, [3]string{r.method, r.path, who})
		}
	}
	return out
}

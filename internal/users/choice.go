package users

// ResponderKey identifies a user as seen by one application.
type ResponderKey struct {
	User        ID
	Application int64 // 0 = none
}

// Choice is the mode in which a person gets a message, and why.
type Choice struct {
	Mode    Mode
	Wanted  Mode   // the mode that the rules gave; differs from Mode if it cannot be used
	Rule    string // the rule that gave Wanted, as text for the timeline
	Missing string // why Wanted cannot be used, as a clause; "" if it can
}

// Changed reports whether another mode than the wanted one is used.
func (c Choice) Changed() bool { return c.Mode != c.Wanted }

// Choose applies ModeFor and, if r cannot be reached in that mode for the application, NextMode. ok is false if r
// cannot be reached in any mode; Wanted, Rule and Missing are set anyway.
func Choose(r Responder, p Priority, app AppModes) (c Choice, ok bool) {
	c.Wanted, c.Rule = ModeFor(r, p, app), rule(r, p, app)
	if CanUse(r, app, c.Wanted) {
		c.Mode = c.Wanted
		return c, true
	}
	c.Missing = "there is no " + string(c.Wanted) + " contact"
	if !app.Supported[c.Wanted] {
		c.Missing = "the application may not use " + string(c.Wanted)
	}
	if app.Unserved[c.Wanted] {
		c.Missing = "no processor has a vendor for " + string(c.Wanted)
	}
	c.Mode, ok = NextMode(r, app, []Mode{c.Wanted})
	return c, ok
}

// rule returns which of ModeFor's rules decides.
func rule(r Responder, p Priority, app AppModes) string {
	switch {
	case has(r.AppModes, p):
		return "own choice for the application"
	case has(app.Defaults, p):
		return "the application's default"
	case has(r.Modes, p):
		return "own choice"
	default:
		return "the priority's default"
	}
}

func has(m map[Priority]Mode, p Priority) bool { _, ok := m[p]; return ok }

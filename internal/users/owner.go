package users

// OwningTeam is the team that owns an object, with the people whose rights follow from it. The zero value means that no team owns the object.
type OwningTeam struct {
	ID       int64
	Name     string
	Members  []ID
	Managers []ID // the administrators of the team
}

// Or names who owns the object in refusals: the members of the team, or the creator if no team owns it.
func (t OwningTeam) Or(creator string) string {
	if t.ID == 0 {
		return creator
	}
	return "members of the team " + t.Name
}

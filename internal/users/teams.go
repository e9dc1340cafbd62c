package users

// OwningTeam is the team that owns an object, with the people whose rights follow from it. The zero value means that no
// team owns the object.
type OwningTeam struct {
	ID      int64
	Name    string
	Members []ID
	Admins  []ID // the administrators of the team
}

// OwnerText names in refusals who owns the object: the members of the team, or the creator if no team owns it.
func (t OwningTeam) OwnerText(creator string) string {
	if t.ID == 0 {
		return creator
	}
	return "members of the team " + t.Name
}

// Membership is a person's part in one team, by the team's internal id.
type Membership struct {
	TeamID int64
	Member bool
	Admin  bool
}

// OneTeam names a team. Storage finds it without regard to case.
type OneTeam struct {
	Team string `path:"team" json:"team"`
}

package oncall

import (
	"slices"

	"github.com/iris-oncall/iris/internal/users"
)

// NoticeKind is the kind of change, as the wire names it (notification type and audit action).
type NoticeKind string

// The kinds of notices.
const (
	ShiftCreated     NoticeKind = "event_created"
	ShiftEdited      NoticeKind = "event_edited"
	ShiftDeleted     NoticeKind = "event_deleted"
	ShiftSwapped     NoticeKind = "event_swapped"
	ShiftSubstituted NoticeKind = "event_substituted"
)

// Notice describes one change. Its recipients are the people with a setting for the team, the kind and one of Roles,
// who want notices of their own shifts (Users) or of all. A personal kind goes to Users.
type Notice struct {
	Kind  NoticeKind
	Roles []string
	Users []users.ID
	// TeamID is the team whose calendar changed; 0 = the team of the first of Shifts.
	TeamID int64
	// By is who made the change of a personal notice (0 = nobody); Note is that person's text. Unless is the kind of
	// another notice of the same change: its recipients do not get this one.
	By     users.ID
	Note   string
	Unless NoticeKind
	// Shifts are the facts for the text: the shift (created, deleted), the old and the new (edited), the first of both
	// sides (swapped), or the new and the old person's (substituted; the times of the first are the time range).
	Shifts []Shift
}

// The kinds of personal notices. They go to the people concerned in their preferred mode, whatever their settings are.
const (
	SwapAsked     NoticeKind = "swap_asked"    // to the person asked
	SwapAccepted  NoticeKind = "swap_accepted" // to the person who asked, like the next two
	SwapDeclined  NoticeKind = "swap_declined"
	SwapExpired   NoticeKind = "swap_expired"
	SwapWithdrawn NoticeKind = "swap_withdrawn" // to the person asked, and to the person who asked if somebody else withdrew it
	PagerTaken    NoticeKind = "pager_taken"    // to the new and the former holder
	// ShiftsHandedOver goes to those who lose or get a shift by an edit of somebody who does not administer the team.
	// Its Shifts are pairs: a time of the former person, and the same time of the new one.
	ShiftsHandedOver NoticeKind = "shifts_handed_over"
)

// Personal reports whether a notice of the kind goes to its Users, whatever their settings are.
func (k NoticeKind) Personal() bool {
	return slices.Contains([]NoticeKind{SwapAsked, SwapAccepted, SwapDeclined, SwapExpired, SwapWithdrawn, PagerTaken,
		ShiftsHandedOver}, k)
}

// Priority returns the priority of a personal notice, which chooses its mode.
func (k NoticeKind) Priority() users.Priority {
	if k == PagerTaken {
		return users.High // the next page goes to another person
	}
	return users.Medium
}

// PhoneMissing is the type of the message to people who are on call soon and have no phone number
// (docs/reference/oncall-v0.md 7). People cannot switch it off.
const PhoneMissing NoticeKind = "phone_missing"

// ShiftAdded returns the notice of a new shift.
func ShiftAdded(s Shift) Notice {
	return Notice{Kind: ShiftCreated, Roles: []string{s.Role}, Users: []users.ID{s.User}, Shifts: []Shift{s}}
}

// Involve adds the people and roles of more shifts to a notice.
func (n *Notice) Involve(shifts ...Shift) {
	for _, s := range shifts {
		if !slices.Contains(n.Roles, s.Role) {
			n.Roles = append(n.Roles, s.Role)
		}
		if !slices.Contains(n.Users, s.User) {
			n.Users = append(n.Users, s.User)
		}
	}
}

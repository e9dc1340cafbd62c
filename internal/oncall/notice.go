package oncall

import (
	"slices"

	"github.com/iris-oncall/iris/internal/users"
)

// NoticeKind is what happened, in the wire's words (notification type and audit action).
type NoticeKind string

// The kinds of notices.
const (
	ShiftCreated     NoticeKind = "event_created"
	ShiftEdited      NoticeKind = "event_edited"
	ShiftDeleted     NoticeKind = "event_deleted"
	ShiftSwapped     NoticeKind = "event_swapped"
	ShiftSubstituted NoticeKind = "event_substituted"
)

// Notice tells of one change. Who hears of it: settings of the team for the kind and one of Roles, of the involved Users
// or of everybody. Personal kinds: the Users themselves.
type Notice struct {
	Kind  NoticeKind
	Roles []string
	Users []users.ID
	// TeamID is whose calendar it is about; 0 = that of the first of Shifts.
	TeamID int64
	// By is whose doing a personal notice tells of (0 = nobody's), and Note what they wrote. Unless is the kind under which the same change
	// is told by settings: whom they let hear of it is not told twice.
	By     users.ID
	Note   string
	Unless NoticeKind
	// Shifts are the facts for the words: the shift (created, deleted), old and new (edited), the first of both sides
	// (swapped), or the new and the old person's (substituted; the new one's times are the time range).
	Shifts []Shift
}

// The kinds of personal notices: those concerned hear of them by their preferred mode, whatever their settings say.
const (
	SwapAsked     NoticeKind = "swap_asked"     // to whom a swap request asks
	SwapAccepted  NoticeKind = "swap_accepted"  // to who asked, like the next two
	SwapDeclined  NoticeKind = "swap_declined"  //
	SwapExpired   NoticeKind = "swap_expired"   //
	SwapWithdrawn NoticeKind = "swap_withdrawn" // to whom it asked, and to who asked if somebody else withdrew it
	PagerTaken    NoticeKind = "pager_taken"    // to who took it, and to whom it was taken from
)

// Personal reports whether a notice of the kind is told to its people themselves, not to those whose settings ask for it.
func (k NoticeKind) Personal() bool {
	return slices.Contains([]NoticeKind{SwapAsked, SwapAccepted, SwapDeclined, SwapExpired, SwapWithdrawn, PagerTaken}, k)
}

// Priority chooses the mode in which people hear of a personal notice.
func (k NoticeKind) Priority() users.Priority {
	if k == PagerTaken {
		return users.High // the next page goes to somebody else
	}
	return users.Medium
}

// PhoneMissing is the type of the message to people who are on call soon and cannot be called (docs/reference/oncall-v0.md 7). It is no setting.
const PhoneMissing NoticeKind = "phone_missing"

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

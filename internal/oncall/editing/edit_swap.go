package editing

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// SideRef names one half of a swap: a shift by its number, or all shifts of a link.
type SideRef struct {
	ID   oncall.ShiftID
	Link string // "" = ID counts
}

func (s SideRef) of(selected []oncall.Shift) Side {
	side := Side{Linked: s.Link != ""}
	for _, shift := range selected {
		if side.Linked && shift.Link == s.Link || !side.Linked && shift.ID == s.ID {
			side.Shifts = append(side.Shifts, shift)
		}
	}
	return side
}

// Exchange swaps the people of two sides. With FromNow, the past part of running shifts keeps its person.
type Exchange struct {
	Sides   [2]SideRef
	FromNow bool
}

// Action implements Change.
func (Exchange) Action() string { return "event_swapped" }

// Decide implements Change.
func (x Exchange) Decide(d Editor, selected []oncall.Shift) (o Outcome, err error) {
	sides := []Side{x.Sides[0].of(selected), x.Sides[1].of(selected)}
	if x.FromNow {
		o.Changes, err = d.SwapFromNow(sides)
	} else {
		o.Changes, err = d.Swap(sides)
	}
	return o, err
}

// Audit implements Change.
func (Exchange) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"request_body": e.Body, "events_swapped": e.events(o.Selected)}
}

// Override replaces a person by a substitute for a stretch of time.
type Override struct {
	Start, End time.Time
	Substitute oncall.Person
}

// Action implements Change.
func (Override) Action() string { return "event_substituted" }

// Decide implements Change.
func (v Override) Decide(d Editor, selected []oncall.Shift) (o Outcome, err error) {
	o.Changes, o.After, err = d.Override(selected, v.Start, v.End, v.Substitute.ID)
	return o, err
}

// Audit implements Change.
func (v Override) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"new_events": v.survivors(e, o), "request_body": e.Body}
}

// survivors returns the shifts of Outcome.After, with their ids, in the form of the override route's answer.
func (v Override) survivors(e Edit, o Outcome) []map[string]any {
	var old oncall.ShiftRow
	for _, row := range e.Rows {
		old = row
		break // all have the same user
	}
	out := []map[string]any{}
	next := 0
	for _, s := range o.After {
		if s.ID == 0 && next < len(o.Add) {
			s.ID = o.Add[next].ID
			next++
		}
		row := oncall.ShiftRow{Shift: s, Team: o.Team, UserName: old.UserName, FullName: old.FullName}
		if s.User == v.Substitute.ID {
			row.UserName, row.FullName = v.Substitute.Name, v.Substitute.FullName
		}
		event := row.Event()
		for _, key := range []string{"schedule_id", "link_id", "note"} {
			delete(event, key)
		}
		out = append(out, event)
	}
	return out
}

// Take puts a person on call for a role from now on; see Editor.TakePager.
type Take struct {
	Role  string
	User  oncall.Person
	Until time.Time
}

// Action implements Change.
func (Take) Action() string { return "pager_taken" }

// Decide implements Change.
func (t Take) Decide(d Editor, selected []oncall.Shift) (o Outcome, err error) {
	o.Changes, err = d.TakePager(selected, t.Role, t.User.ID, t.Until)
	return o, err
}

// Audit implements Change.
func (t Take) Audit(_ Edit, o Outcome) map[string]any {
	return map[string]any{"user": t.User.Name, "role": t.Role, "event_ids": o.addedIDs()}
}

// NewSwapRequest is a swap request to be made. Like an Edit it is a value that storage decides and stores.
type NewSwapRequest struct {
	Access
	TeamID     int64
	From       users.ID
	To         users.ID // 0 = the owner of Take; without Take, everybody
	Give, Take []oncall.ShiftID
	Note       string
}

// Decide returns the swap request for the shifts as they are now, or the refusal.
func (n NewSwapRequest) Decide(now time.Time, team Membership, giving, taking []oncall.Shift) (SwapRequest, error) {
	if len(giving) != len(n.Give) {
		return SwapRequest{}, fault.Invalidf("event_id", "a shift that you give does not exist")
	}
	if len(taking) != len(n.Take) {
		return SwapRequest{}, fault.Invalidf("other_event_id", "a shift that you want does not exist")
	}
	to := n.To
	if to == 0 && len(taking) > 0 {
		to = taking[0].User
	}
	return n.Editor(now, team).Request(n.From, to, giving, taking, n.Note)
}

// SwapAnswer is a person's answer to a swap request. Like an Edit it is a value that storage decides and stores.
type SwapAnswer struct {
	Access
	Who users.ID
	// State is the answer: RequestAccepted, RequestDeclined or RequestWithdrawn.
	State RequestState
}

// Decide returns the request after the answer, and the changes of the calendar. A request that has expired is returned
// with a fault; storage stores it, too.
func (a SwapAnswer) Decide(now time.Time, team Membership, r SwapRequest, give, take []oncall.Shift) (SwapRequest, oncall.Changes, error) {
	d := a.Editor(now, team)
	switch a.State {
	case RequestAccepted:
		return d.Accept(r, a.Who, give, take)
	case RequestDeclined:
		after, err := d.Decline(r, a.Who)
		return after, oncall.Changes{}, err
	case RequestWithdrawn:
		after, err := d.Withdraw(r, a.Who)
		return after, oncall.Changes{}, err
	case RequestOpen, RequestExpired:
	}
	return r, oncall.Changes{}, fault.Newf(fault.Internal, "%q is not an answer to a swap request", a.State)
}

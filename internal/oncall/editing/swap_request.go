package editing

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// RequestState is the state of a swap request.
type RequestState string

// The states of a swap request. It is open until it ends in one of the others.
const (
	RequestOpen      RequestState = "open"
	RequestAccepted  RequestState = "accepted"  // the calendar was changed
	RequestDeclined  RequestState = "declined"  // by the person asked
	RequestWithdrawn RequestState = "withdrawn" // by the person who asked
	RequestExpired   RequestState = "expired"   // the first of its shifts began, or a shift changed
)

// SwapRequest asks a person to take shifts over, in exchange for shifts of theirs or for nothing. It changes no
// calendar until the other person accepts.
type SwapRequest struct {
	ID     int64 // 0 = not stored yet
	TeamID int64
	From   users.ID
	// To is the person asked; 0 asks everybody in the team, and the first who accepts gets the shifts. 0 requires an
	// empty Take.
	To users.ID
	// Give are From's shifts, Take those of To that From gets in return. Take may be empty.
	Give, Take []oncall.ShiftID
	Note       string
	State      RequestState
	Created    time.Time
	// Decided is when State was no longer open, and DecidedBy by whom (0 = by time).
	Decided   time.Time
	DecidedBy users.ID
	Why       string // why it has just expired; not stored
}

// Request makes a swap request. give and take are the shifts as they are now, without those that do not exist.
func (d Editor) Request(from, to users.ID, give, take []oncall.Shift, note string) (SwapRequest, error) {
	if d.Refusals.Member != nil {
		return SwapRequest{}, d.Refusals.Member
	}
	switch {
	case !d.Team.Members[from]:
		return SwapRequest{}, fault.Invalidf("from", "the person who asks must be a member of team %s", d.Team.Name)
	case to != 0 && !d.Team.Members[to]:
		return SwapRequest{}, fault.Invalidf("to", "the person asked must be a member of team %s", d.Team.Name)
	case from == to:
		return SwapRequest{}, fault.Invalidf("to", "ask somebody else than yourself")
	case len(give) == 0:
		return SwapRequest{}, fault.Invalidf("give", "name at least one shift to give away")
	case to == 0 && len(take) > 0:
		return SwapRequest{}, fault.Invalidf("to", "name the person whose shifts you want in return")
	}
	if err := d.checkOffered("give", give, from); err != nil {
		return SwapRequest{}, err
	}
	if err := d.checkOffered("take", take, to); err != nil {
		return SwapRequest{}, err
	}
	return SwapRequest{
		TeamID: d.Team.TeamID, From: from, To: to, Give: ids(give), Take: ids(take), Note: note, State: RequestOpen, Created: d.Now,
	}, nil
}

func ids(shifts []oncall.Shift) []oncall.ShiftID {
	out := make([]oncall.ShiftID, 0, len(shifts))
	for _, s := range oncall.SortedShifts(shifts) {
		out = append(out, s.ID)
	}
	return slices.Compact(out)
}

// checkOffered checks that a request names future shifts of the team that belong to owner.
func (d Editor) checkOffered(field string, shifts []oncall.Shift, owner users.ID) error {
	for _, s := range shifts {
		switch {
		case s.TeamID != d.Team.TeamID:
			return fault.Invalidf(field, "shift %d is not one of team %s", s.ID, d.Team.Name)
		case !s.Start.After(d.Now):
			return fault.Invalidf(field, "shift %d has begun; only shifts of the future can be swapped", s.ID)
		case s.User != owner:
			return fault.Invalidf(field, "shift %d belongs to somebody else", s.ID)
		}
	}
	return nil
}

// Accept ends an open request with the consent of who: Give goes to who, Take to the person who asked. give and take
// are the shifts as they are now. If they have changed since the request, the request is expired and the fault says
// why. The caller stores the request in either case, and the changes if there is no fault.
func (d Editor) Accept(r SwapRequest, who users.ID, give, take []oncall.Shift) (SwapRequest, oncall.Changes, error) {
	if err := r.checkOpen(); err != nil {
		return r, oncall.Changes{}, err
	}
	switch {
	case who == r.From:
		return r, oncall.Changes{}, fault.New(fault.Forbidden, "somebody else has to accept your request")
	case r.To != 0 && who != r.To:
		return r, oncall.Changes{}, fault.New(fault.Forbidden, "only the person who was asked can accept")
	case !d.Team.Members[who]:
		return r, oncall.Changes{}, fault.Newf(fault.Forbidden, "only members of team %s can accept", d.Team.Name)
	}
	why := r.stale(d.Now, give, take)
	if len(take) > 0 && !d.Team.Members[r.From] {
		why = "the person who asked is no longer in the team"
	}
	if why != "" {
		return r.expired(d.Now, why), oncall.Changes{}, fault.Newf(fault.Conflict, "the request has expired: %s", why)
	}
	return r.end(RequestAccepted, d.Now, who), transfer(r, who, give, take), nil
}

func transfer(r SwapRequest, who users.ID, give, take []oncall.Shift) oncall.Changes {
	var c oncall.Changes
	n := oncall.Notice{Kind: oncall.ShiftSwapped, Users: []users.ID{r.From, who}}
	for _, side := range []struct {
		shifts []oncall.Shift
		to     users.ID
	}{{give, who}, {take, r.From}} {
		for _, s := range oncall.SortedShifts(side.shifts) {
			after := s
			after.User, after.Link, after.Edited = side.to, "", true
			c.Update = append(c.Update, oncall.Update{Before: s, After: after})
			n.Involve(s)
		}
	}
	first, second := oncall.FirstShift(give), oncall.FirstShift(give)
	second.User = who
	if len(take) > 0 {
		second = oncall.FirstShift(take)
	}
	n.Shifts = []oncall.Shift{first, second}
	c.Notices = []oncall.Notice{n}
	return c
}

// Decline ends an open request by a refusal of the person who was asked.
func (d Editor) Decline(r SwapRequest, who users.ID) (SwapRequest, error) {
	if err := r.checkOpen(); err != nil {
		return r, err
	}
	if r.To == 0 {
		return r, fault.New(fault.Forbidden, "a request to everybody cannot be declined; leave it to others")
	}
	if who != r.To {
		return r, fault.New(fault.Forbidden, "only the person who was asked can decline")
	}
	return r.end(RequestDeclined, d.Now, who), nil
}

// Withdraw ends an open request by the person who made it, or by an administrator of the team.
func (d Editor) Withdraw(r SwapRequest, who users.ID) (SwapRequest, error) {
	if err := r.checkOpen(); err != nil {
		return r, err
	}
	if who != r.From && d.Refusals.Admin != nil {
		return r, fault.New(fault.Forbidden, "only the person who asked can withdraw")
	}
	return r.end(RequestWithdrawn, d.Now, who), nil
}

// Expire ends an open request whose shifts have changed or begun. If ok is false, the request stays as it is.
func (r SwapRequest) Expire(now time.Time, give, take []oncall.Shift) (ended SwapRequest, ok bool) {
	if r.State != RequestOpen {
		return r, false
	}
	why := r.stale(now, give, take)
	return r.expired(now, why), why != ""
}

func (r SwapRequest) expired(now time.Time, why string) SwapRequest {
	r.Why = why
	return r.end(RequestExpired, now, 0)
}

// stale returns why the request can no longer be accepted, or "".
func (r SwapRequest) stale(now time.Time, give, take []oncall.Shift) string {
	for _, side := range []struct {
		shifts []oncall.Shift
		want   []oncall.ShiftID
		owner  users.ID
	}{{give, r.Give, r.From}, {take, r.Take, r.To}} {
		found := ids(side.shifts)
		if slices.ContainsFunc(side.want, func(id oncall.ShiftID) bool { return !slices.Contains(found, id) }) || len(found) != len(side.want) {
			return "a shift no longer exists"
		}
		for _, s := range side.shifts {
			switch {
			case !s.Start.After(now):
				return "a shift has begun"
			case s.User != side.owner:
				return "a shift has changed hands"
			}
		}
	}
	return ""
}

func (r SwapRequest) checkOpen() error {
	if r.State != RequestOpen {
		return fault.Newf(fault.Conflict, "the request is %s already", r.State)
	}
	return nil
}

func (r SwapRequest) end(state RequestState, at time.Time, by users.ID) SwapRequest {
	r.State, r.Decided, r.DecidedBy = state, at, by
	return r
}

// AskNotice returns the notice of a new request. It goes to the person asked, or to every other active member of the
// team.
func (r SwapRequest) AskNotice(team Membership, give, take []oncall.Shift) oncall.Notice {
	n := oncall.Notice{Kind: oncall.SwapAsked, TeamID: r.TeamID, By: r.From, Note: r.Note, Shifts: concat(give, take)}
	if r.To != 0 {
		n.Users = []users.ID{r.To}
		return n
	}
	for id, active := range team.Members {
		if active && id != r.From {
			n.Users = append(n.Users, id)
		}
	}
	slices.Sort(n.Users)
	return n
}

// EndNotices returns the notices of how a request ended. give and take are its shifts as they were then. A person gets
// no notice of their own withdrawal.
func (r SwapRequest) EndNotices(give, take []oncall.Shift) []oncall.Notice {
	n := oncall.Notice{TeamID: r.TeamID, By: r.DecidedBy, Shifts: concat(give, take), Users: []users.ID{r.From}}
	switch r.State {
	case RequestAccepted:
		n.Kind, n.Unless = oncall.SwapAccepted, oncall.ShiftSwapped
	case RequestDeclined:
		n.Kind = oncall.SwapDeclined
	case RequestExpired:
		n.Kind, n.Note = oncall.SwapExpired, r.Why
	case RequestWithdrawn:
		n.Kind, n.Users = oncall.SwapWithdrawn, nil
		if r.DecidedBy != r.From {
			n.Users = append(n.Users, r.From)
		}
		if r.To != 0 && r.To != r.DecidedBy {
			n.Users = append(n.Users, r.To)
		}
	}
	for _, s := range n.Shifts {
		if !slices.Contains(n.Roles, s.Role) {
			n.Roles = append(n.Roles, s.Role)
		}
	}
	if n.Kind == "" || len(n.Users) == 0 {
		return nil
	}
	return []oncall.Notice{n}
}

func concat(give, take []oncall.Shift) []oncall.Shift {
	return append(oncall.SortedShifts(give), oncall.SortedShifts(take)...)
}

// NamedSwap is a swap request with the names that people know.
type NamedSwap struct {
	SwapRequest
	FromName, ToName, DecidedByName string
}

package calendaring

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// Swaps stores swap requests.
type Swaps interface {
	// Swaps lists at most limit requests of a team, newest first: those with a number below before, or all if before is
	// 0.
	Swaps(ctx context.Context, team, before int64, limit int) ([]editing.NamedSwap, error)
	AskSwap(ctx context.Context, n editing.NewSwapRequest, by oncall.By) (int64, error)
	DecideSwap(ctx context.Context, id int64, answer editing.SwapAnswer, by oncall.By) (editing.NamedSwap, error)
}

// SwapFilter selects the swap requests of a team.
type SwapFilter struct {
	users.OneTeam
	operation.Paging
}

// SwapWish says what a person gives, and wants in return.
type SwapWish struct {
	Give  []oncall.ShiftID `json:"give,omitempty" nullable:"true" maxItems:"1000" doc:"Numbers of shifts of the person who asks."`
	Take  []oncall.ShiftID `json:"take,omitempty" nullable:"true" maxItems:"1000" doc:"Numbers of shifts of the other person; none = nothing in return."`
	Event *oncall.ShiftID  `json:"event_id,omitempty" nullable:"true" doc:"A single shift, instead of give."`
	Other *oncall.ShiftID  `json:"other_event_id,omitempty" nullable:"true" doc:"A single shift, instead of take."`
	To    *string          `json:"to,omitempty" nullable:"true" doc:"Who is asked; default: the person of take, else everybody in the team."`
	Note  *string          `json:"note,omitempty" nullable:"true"`
	User  *string          `json:"user,omitempty" nullable:"true" doc:"The person who asks: required if the caller is not a person, otherwise ignored."`
}

// NewSwap asks for a swap.
type NewSwap struct {
	users.OneTeam
	Body SwapWish `json:"body"`
}

// MadeSwap is the number of a new swap request.
type MadeSwap struct {
	ID int64 `json:"id"`
}

// OneSwap names a swap request.
type OneSwap struct {
	ID int64 `path:"id" json:"id"`
}

// SwapRequest is a swap that a person asked for.
type SwapRequest struct {
	ID         int64                `json:"id"`
	State      editing.RequestState `json:"state" doc:"open, accepted, declined, withdrawn or expired."`
	Requester  string               `json:"requester"`
	Other      operation.Text       `json:"other" doc:"The person asked; null = everybody in the team."`
	Note       string               `json:"note"`
	Created    time.Time            `json:"created"`
	Decided    *time.Time           `json:"decided" nullable:"true"`
	DecidedBy  operation.Text       `json:"decided_by"`
	Event      *FirstEvent          `json:"event" doc:"The first of give."`
	Give       []Event              `json:"give"`
	OtherEvent *FirstEvent          `json:"other_event" doc:"The first of take."`
	Take       []Event              `json:"take"`
}

// FirstEvent is the first shift of a side; null = the side has none.
type FirstEvent struct {
	_ struct{} `nullable:"true"`
	Event
}

// The operations on swap requests.
var (
	ListSwaps = operation.Define[SwapFilter, operation.Page[SwapRequest]](operation.Doc{Name: "swap-request.list",
		Method: http.MethodGet, Path: "/v1/teams/{team}/swap-requests", Needs: operation.Reader, Rule: operation.Identified,
		Summary: "Swaps that members asked for, newest first"})
	AskSwap = operation.Define[NewSwap, MadeSwap](operation.Doc{Name: "swap-request.create", Method: http.MethodPost,
		Path: "/v1/teams/{team}/swap-requests", Needs: operation.Member, Rule: operation.InTeam,
		Audit: []audit.Action{audit.SwapRequested}, Summary: "Ask for a swap", Errors: []int{404, 409, 422},
		Note: "Nothing changes before the other person accepts."})
	AcceptSwap   = decision("accept", "Accept a swap", audit.SwapAccepted, audit.ShiftsSwapped, audit.SwapExpired)
	DeclineSwap  = decision("decline", "Decline a swap", audit.SwapDeclined)
	WithdrawSwap = decision("withdraw", "Take a request back", audit.SwapWithdrawn)
)

func decision(verb, summary string, audited ...audit.Action) operation.Def[OneSwap, SwapRequest] {
	return operation.Define[OneSwap, SwapRequest](operation.Doc{Name: "swap-request." + verb, Method: http.MethodPost,
		Path: "/v1/swap-requests/{id}/" + verb, Status: http.StatusOK, Needs: operation.Member, Rule: operation.InPerson,
		Audit: audited, Summary: summary, Errors: []int{404, 409}})
}

func (c *Calendaring) swaps(ctx context.Context, _ operation.Actor, f SwapFilter) (out operation.Page[SwapRequest], err error) {
	before, err := f.Before()
	if err != nil {
		return out, err
	}
	t, err := c.deps.ActiveTeam(ctx, f.Team)
	if err != nil {
		return out, err
	}
	found, err := c.deps.Swaps.Swaps(ctx, t.ID, before, f.Size()+1)
	if err != nil {
		return out, err
	}
	rows, err := c.swapRequests(ctx, found...)
	return operation.PageOf(f.Paging, rows, func(s SwapRequest) int64 { return s.ID }), err
}

// swapRequests returns swap requests with their shifts, as far as these exist.
func (c *Calendaring) swapRequests(ctx context.Context, found ...editing.NamedSwap) ([]SwapRequest, error) {
	var s editing.Selection
	seen := map[oncall.ShiftID]bool{}
	for _, one := range found {
		for _, ids := range [][]oncall.ShiftID{one.Give, one.Take} {
			for _, id := range ids {
				if !seen[id] {
					seen[id], s.IDs = true, append(s.IDs, id)
				}
			}
		}
	}
	rows, err := c.deps.ShiftRows(ctx, s)
	if err != nil {
		return nil, err
	}
	side := func(ids []oncall.ShiftID) (first *FirstEvent, all []Event) {
		all = []Event{}
		for _, id := range ids {
			if row, ok := rows[id]; ok {
				all = append(all, EventOf(row))
			}
		}
		if len(all) > 0 {
			first = &FirstEvent{Event: all[0]}
		}
		return first, all
	}
	out := make([]SwapRequest, len(found))
	for i, one := range found {
		r := SwapRequest{ID: one.ID, State: one.State, Requester: one.FromName, Other: operation.Text(one.ToName),
			Note: one.Note, Created: one.Created.UTC(), DecidedBy: operation.Text(one.DecidedByName)}
		if !one.Decided.IsZero() {
			at := one.Decided.UTC()
			r.Decided = &at
		}
		r.Event, r.Give = side(one.Give)
		r.OtherEvent, r.Take = side(one.Take)
		out[i] = r
	}
	return out, nil
}

func (c *Calendaring) ask(ctx context.Context, by operation.Actor, n NewSwap) (out MadeSwap, err error) {
	t, err := c.deps.ActiveTeam(ctx, n.Team)
	if err != nil {
		return out, err
	}
	w := n.Body
	me, err := c.person(ctx, by, deref(w.User))
	if err != nil {
		return out, err
	}
	var to users.ID
	if name := deref(w.To); name != "" {
		if to, err = c.deps.UserID(ctx, name); err == nil && to == 0 {
			err = fault.Invalidf("to", "there is no user %q", name)
		}
	}
	if err != nil {
		return out, err
	}
	may, err := c.access(ctx, by)
	if err != nil {
		return out, err
	}
	out.ID, err = c.deps.Swaps.AskSwap(ctx, editing.NewSwapRequest{Access: may, TeamID: t.ID, From: me.ID, To: to,
		Give: or(w.Give, w.Event), Take: or(w.Take, w.Other), Note: deref(w.Note)}, planning.Author(by, w))
	return out, err
}

// or returns the list, else the single shift.
func or(list []oncall.ShiftID, single *oncall.ShiftID) []oncall.ShiftID {
	if list == nil && single != nil {
		return []oncall.ShiftID{*single}
	}
	return list
}

func deref[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

// decide returns the function that accepts, declines or withdraws a swap request. Only a person can consent.
func (c *Calendaring) decide(answer editing.RequestState) func(context.Context, operation.Actor, OneSwap) (SwapRequest, error) {
	return func(ctx context.Context, by operation.Actor, one OneSwap) (out SwapRequest, err error) {
		if one.ID == 0 {
			return out, errNone
		}
		if by.Person == 0 {
			return out, auth.ErrPersonNeeded
		}
		may, err := c.access(ctx, by)
		if err != nil {
			return out, err
		}
		s, err := c.deps.Swaps.DecideSwap(ctx, one.ID, editing.SwapAnswer{Access: may, Who: users.ID(by.Person), State: answer},
			planning.Author(by, nil))
		if err != nil {
			return out, err
		}
		rows, err := c.swapRequests(ctx, s)
		if err != nil {
			return out, err
		}
		return rows[0], nil
	}
}

var errNone = fault.New(fault.NotFound, "not found")

package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *API) swapRoutes() []route {
	return []route{
		{get, v1 + "/teams/{team}/swap-requests", login, a.listSwaps},
		{post, v1 + "/teams/{team}/swap-requests", login, a.askSwap},
		{post, v1 + "/swap-requests/{id}/accept", login, a.decideSwap(acceptSwap)},
		{post, v1 + "/swap-requests/{id}/decline", login, a.decideSwap(declineSwap)},
		{post, v1 + "/swap-requests/{id}/withdraw", login, a.decideSwap(withdrawSwap)},
	}
}

// swapObject is a swap request as the pages show it: the first shift of each side, and all of them.
func swapObject(s edits.NamedSwap, shifts map[oncall.ShiftID]oncall.ShiftRow) map[string]any {
	side := func(ids []oncall.ShiftID) (first any, all []map[string]any) {
		all = []map[string]any{}
		for _, id := range ids {
			if row, ok := shifts[id]; ok {
				all = append(all, eventObject(row))
			}
		}
		if len(all) > 0 {
			first = all[0]
		}
		return first, all
	}
	o := map[string]any{"id": s.ID, "state": s.State, "requester": s.FromName, "other": orNull(s.ToName), "note": s.Note,
		"created": s.Created.Unix(), "decided": nil, "decided_by": orNull(s.DecidedByName)}
	o["event"], o["give"] = side(s.Give)
	o["other_event"], o["take"] = side(s.Take)
	if !s.Decided.IsZero() {
		o["decided"] = s.Decided.Unix()
	}
	return o
}

func (a *API) swapObjects(ctx context.Context, swaps []edits.NamedSwap) ([]map[string]any, error) {
	var c edits.Selection
	seen := map[oncall.ShiftID]bool{}
	for _, s := range swaps {
		for _, id := range append(append([]oncall.ShiftID{}, s.Give...), s.Take...) {
			if !seen[id] {
				seen[id] = true
				c.IDs = append(c.IDs, id)
			}
		}
	}
	rows, err := a.shiftRows(ctx, c)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(swaps))
	for i, s := range swaps {
		out[i] = swapObject(s, rows)
	}
	return out, nil
}

func (a *API) listSwaps(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if err != nil {
		return err
	}
	swaps, err := a.Wishes.Swaps(r.Context(), t.ID)
	if err != nil {
		return err
	}
	out, err := a.swapObjects(r.Context(), swaps)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

// askSwap takes {event_id, other_event_id, note}, or lists of shifts {give, take, to, note}.
func (a *API) askSwap(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.team(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	me, err := a.personOf(ctx, b)
	if err != nil {
		return err
	}
	give, err := b.shifts("give", "event_id")
	if err != nil {
		return err
	}
	take, err := b.shifts("take", "other_event_id")
	if err != nil {
		return err
	}
	note, err := b.text("note")
	if err != nil {
		return err
	}
	to, err := a.asked(ctx, b)
	if err != nil {
		return err
	}
	id, err := a.Wishes.AskSwap(ctx, t.ID, give, take, by(r, b.raw),
		func(now time.Time, crew edits.Membership, giving, taking []oncall.Shift) (edits.SwapRequest, error) {
			if len(giving) != len(give) {
				return edits.SwapRequest{}, fault.Invalidf("event_id", "a shift that you give does not exist")
			}
			if len(taking) != len(take) {
				return edits.SwapRequest{}, fault.Invalidf("other_event_id", "a shift that you want does not exist")
			}
			other := to
			if other == 0 && len(taking) > 0 {
				other = taking[0].User // the owner of what is wanted is asked
			}
			return a.desk(ctx, now, crew, true).Request(me.ID, other, giving, taking, note)
		})
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, map[string]any{"id": id})
}

// asked is whom a request names; 0 = nobody.
func (a *API) asked(ctx context.Context, b body) (users.ID, error) {
	name, err := b.text("to")
	if err != nil || name == "" {
		return 0, err
	}
	id, err := a.userID(ctx, name)
	if err == nil && id == 0 {
		err = fault.Invalidf("to", "there is no user %q", name)
	}
	return id, err
}

// shifts reads a list of numbers, or one number under its own name.
func (b body) shifts(list, single string) ([]oncall.ShiftID, error) {
	if b.given(list) {
		var ids []oncall.ShiftID
		if json.Unmarshal(b.members[list], &ids) != nil {
			return nil, b.fault(list, "%s must be a list of numbers of shifts", list)
		}
		return ids, nil
	}
	id, given, err := b.number(single)
	if err != nil || !given {
		return nil, err
	}
	return []oncall.ShiftID{oncall.ShiftID(id)}, nil
}

// verdict is what a person says to a swap request.
type verdict func(d edits.Editor, r edits.SwapRequest, who users.ID, give, take []oncall.Shift) (edits.SwapRequest, oncall.Changes, error)

func acceptSwap(d edits.Editor, r edits.SwapRequest, who users.ID, give, take []oncall.Shift) (edits.SwapRequest, oncall.Changes, error) {
	return d.Accept(r, who, give, take)
}

func declineSwap(d edits.Editor, r edits.SwapRequest, who users.ID, _, _ []oncall.Shift) (edits.SwapRequest, oncall.Changes, error) {
	after, err := d.Decline(r, who)
	return after, oncall.Changes{}, err
}

func withdrawSwap(d edits.Editor, r edits.SwapRequest, who users.ID, _, _ []oncall.Shift) (edits.SwapRequest, oncall.Changes, error) {
	after, err := d.Withdraw(r, who)
	return after, oncall.Changes{}, err
}

func (a *API) decideSwap(say verdict) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		id, err := shiftID(r, "id")
		if err != nil {
			return err
		}
		name := wire.Actor(ctx).Username
		if name == "" {
			return auth.ErrPersonNeeded // consent cannot be given by a program
		}
		me, err := a.People.ByName(ctx, name)
		if err != nil {
			return err
		}
		swap, err := a.Wishes.DecideSwap(ctx, id, by(r, nil),
			func(now time.Time, crew edits.Membership, request edits.SwapRequest, give, take []oncall.Shift) (edits.SwapRequest, oncall.Changes, error) {
				return say(a.desk(ctx, now, crew, true), request, me.ID, give, take)
			})
		if err != nil {
			return err
		}
		out, err := a.swapObjects(ctx, []edits.NamedSwap{swap})
		if err != nil {
			return err
		}
		return answer(w, http.StatusOK, out[0])
	}
}

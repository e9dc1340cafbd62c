package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (a swaps) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/swap-requests", routing.Someone, a.listSwaps),
		routing.Post("/v1/teams/{team}/swap-requests", routing.Write, a.askSwap),
		routing.Post("/v1/swap-requests/{id}/accept", routing.Write, a.decideSwap(editing.RequestAccepted)),
		routing.Post("/v1/swap-requests/{id}/decline", routing.Write, a.decideSwap(editing.RequestDeclined)),
		routing.Post("/v1/swap-requests/{id}/withdraw", routing.Write, a.decideSwap(editing.RequestWithdrawn)),
	}
}

// swapObject returns a swap request on the wire: the first shift of each side, and all shifts.
func swapObject(s editing.NamedSwap, shifts map[oncall.ShiftID]oncall.ShiftRow) map[string]any {
	side := func(ids []oncall.ShiftID) (first any, all []map[string]any) {
		all = []map[string]any{}
		for _, id := range ids {
			if row, ok := shifts[id]; ok {
				all = append(all, row.Event())
			}
		}
		if len(all) > 0 {
			first = all[0]
		}
		return first, all
	}
	o := map[string]any{"id": s.ID, "state": s.State, "requester": s.FromName, "other": requests.OrNull(s.ToName),
		"note":    s.Note,
		"created": s.Created.Unix(), "decided": nil, "decided_by": requests.OrNull(s.DecidedByName)}
	o["event"], o["give"] = side(s.Give)
	o["other_event"], o["take"] = side(s.Take)
	if !s.Decided.IsZero() {
		o["decided"] = s.Decided.Unix()
	}
	return o
}

func (a swaps) swapObjects(ctx context.Context, swaps []editing.NamedSwap) ([]map[string]any, error) {
	var c editing.Selection
	seen := map[oncall.ShiftID]bool{}
	for _, s := range swaps {
		for _, id := range append(append([]oncall.ShiftID{}, s.Give...), s.Take...) {
			if !seen[id] {
				seen[id] = true
				c.IDs = append(c.IDs, id)
			}
		}
	}
	rows, err := a.ShiftRows(ctx, c)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(swaps))
	for i, s := range swaps {
		out[i] = swapObject(s, rows)
	}
	return out, nil
}

// listSwaps answers with a page of the swap requests of a team, newest first, to every authenticated caller.
func (a swaps) listSwaps(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	var before int64
	if text := q.AfterName(); text != "" {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before <= 0 {
			return listing.BadCursor()
		}
	}
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	swaps, err := a.Swaps.Swaps(r.Context(), t.ID, before, q.Size+1)
	if err != nil {
		return err
	}
	out, err := a.swapObjects(r.Context(), swaps)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, out, func(o map[string]any) any { return o },
		func(o map[string]any) string { return fmt.Sprint(o["id"]) })
}

// askSwap stores a swap request of the caller, or of the person whom an application names. The body is {event_id,
// other_event_id, note}, or has lists of shifts: {give, take, to, note}.
func (a swaps) askSwap(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, b, err := requests.WithBody(w, r, "", a.Team)
	if err != nil {
		return err
	}
	me, err := a.PersonOf(ctx, b)
	if err != nil {
		return err
	}
	give, err := shiftNumbers(b, "give", "event_id")
	if err != nil {
		return err
	}
	take, err := shiftNumbers(b, "take", "other_event_id")
	if err != nil {
		return err
	}
	note, err := b.Text("note")
	if err != nil {
		return err
	}
	to, err := a.asked(ctx, b)
	if err != nil {
		return err
	}
	id, err := a.Swaps.AskSwap(ctx, editing.NewSwapRequest{
		Access: a.Access(ctx, true), TeamID: t.ID, From: me.ID, To: to, Give: give, Take: take, Note: note,
	}, requests.By(r, b.Raw))
	return routing.Reply(w, http.StatusCreated, map[string]any{"id": id}, err)
}

// asked returns the person to whom the request is made; 0 = nobody in particular.
func (a swaps) asked(ctx context.Context, b jsonbody.Object) (users.ID, error) {
	name, err := b.Text("to")
	if err != nil || name == "" {
		return 0, err
	}
	id, err := a.UserID(ctx, name)
	if err == nil && id == 0 {
		err = fault.Invalidf("to", "there is no user %q", name)
	}
	return id, err
}

// shiftNumbers reads the field list, a list of numbers, else the field single, one number.
func shiftNumbers(b jsonbody.Object, list, single string) ([]oncall.ShiftID, error) {
	if b.Given(list) {
		var ids []oncall.ShiftID
		if json.Unmarshal(b.Members[list], &ids) != nil {
			return nil, b.Fault(list, "%s must be a list of numbers of shifts", list)
		}
		return ids, nil
	}
	id, given, err := b.Number(single)
	if err != nil || !given {
		return nil, err
	}
	return []oncall.ShiftID{oncall.ShiftID(id)}, nil
}

// decideSwap returns the handler that accepts, declines or withdraws a swap request. It is for people only: an
// application gets 403.
func (a swaps) decideSwap(answer editing.RequestState) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx := r.Context()
		id, err := requests.ShiftID(r, "id")
		if err != nil {
			return err
		}
		name := wire.Actor(ctx).Username
		if name == "" {
			return requests.ErrPersonNeeded // only a person can consent
		}
		me, err := a.People.ByName(ctx, name)
		if err != nil {
			return err
		}
		swap, err := a.Swaps.DecideSwap(ctx, id, editing.SwapAnswer{Access: a.Access(ctx, true), Who: me.ID,
			State: answer}, requests.By(r, nil))
		if err != nil {
			return err
		}
		out, err := a.swapObjects(ctx, []editing.NamedSwap{swap})
		if err != nil {
			return err
		}
		return routing.Answer(w, http.StatusOK, out[0])
	}
}

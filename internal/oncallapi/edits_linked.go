package oncallapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
)

// maxLinked is how many shifts one request may make: more than two a day for a year.
const maxLinked = 1000

// linkedCreation reads a request for several shifts that belong together (docs/reference/oncall-v0.md 6.4).
func (a *API) linkedCreation(ctx context.Context, raw json.RawMessage) (*edit, error) {
	const title = "Invalid argument"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, fault.Titled(title, "events argument needs to be a list")
	}
	if len(items) == 0 {
		return nil, fault.Titled(title, "events list cannot be empty")
	}
	if len(items) > maxLinked {
		return nil, fault.Titled(title, fmt.Sprintf("events list cannot hold more than %d events", maxLinked))
	}
	drafts := make([]edits.ShiftRequest, len(items))
	for i, item := range items {
		b, err := parseMember(fmt.Sprintf("events[%d]", i), item, badEvent)
		if err != nil {
			return nil, err
		}
		if i == 0 && !b.given("team") {
			return nil, fault.Titled(title, "event missing team attribute")
		}
		if drafts[i], err = a.draft(ctx, b); err != nil {
			return nil, err
		}
	}
	team, err := a.activeTeam(ctx, drafts[0].TeamName)
	if err != nil {
		return nil, when(err, fault.NotFound, fault.Titled(badEvent, "Invalid team name: "+drafts[0].TeamName))
	}
	missing, err := a.unknownIn(ctx, drafts)
	if err != nil {
		return nil, err
	}
	if missing == nil {
		if missing, err = a.strangeSchedule(ctx, team, drafts...); err != nil {
			return nil, err
		}
	}
	return &edit{
		choice: edits.Selection{TeamID: team.ID},
		decide: func(now time.Time, crew edits.Membership, _ []oncall.Shift) (edits.Decision, error) {
			c, err := a.desk(ctx, now, crew, true).CreateLinked(drafts)
			if err == nil {
				err = missing
			}
			return edits.Decision{Changes: c, Action: "event_created", Context: func(added []oncall.Shift) any {
				return map[string]any{"link_id": added[0].Link, "event_ids": shiftIDs(added), "request_body": raw}
			}}, err
		},
	}, nil
}

// unknownIn gives the roles of drafts their proper names, and returns the refusal of one that does not exist.
func (a *API) unknownIn(ctx context.Context, drafts []edits.ShiftRequest) (refusal, err error) {
	proper := map[string]string{}
	for i := range drafts {
		d := &drafts[i]
		if _, done := proper[d.Role]; !done {
			name, known, err := a.roleName(ctx, d.Role)
			if err != nil {
				return nil, err
			}
			if !known {
				refusal = integrity("role not found")
			}
			proper[d.Role] = name
		}
		d.Role = proper[d.Role]
	}
	return refusal, nil
}

func shiftIDs(shifts []oncall.Shift) []oncall.ShiftID {
	out := make([]oncall.ShiftID, len(shifts))
	for i, s := range shifts {
		out[i] = s.ID
	}
	return out
}

func (a *API) createLinked(w http.ResponseWriter, r *http.Request) error {
	raw, err := readRaw(w, r)
	if err != nil {
		return err
	}
	e, err := a.linkedCreation(r.Context(), raw)
	if err != nil {
		return err
	}
	c, err := a.run(r, e, raw, false)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, map[string]any{"link_id": c.Add[0].Link, "event_ids": shiftIDs(c.Add)})
}

// linkedChange reads a request to edit all shifts of a link (docs/reference/oncall-v0.md 6.4).
func (a *API) linkedChange(ctx context.Context, link string, b body) (*edit, error) {
	p, err := a.patch(ctx, b, "role", "user", "note")
	if err != nil {
		return nil, err
	}
	e, err := a.about(ctx, edits.Selection{Links: []string{link}})
	if err != nil {
		return nil, err
	}
	e.decide = func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		c, err := a.desk(ctx, now, crew, true).EditLinked(chosen, p)
		return edits.Decision{Changes: c, Action: "event_edited", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen), "request_body": b.raw}
		}}, err
	}
	return e, nil
}

func (a *API) updateLinked(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, badUpdate)
	if err != nil {
		return err
	}
	e, err := a.linkedChange(r.Context(), param(r, "link"), b)
	if err != nil {
		return err
	}
	if _, err := a.run(r, e, b.raw, false); err != nil {
		return err
	}
	return empty(w, http.StatusNoContent)
}

// linkedDeletion is a request to remove all shifts of a link (docs/reference/oncall-v0.md 6.4).
func (a *API) linkedDeletion(ctx context.Context, link string) (*edit, error) {
	e, err := a.about(ctx, edits.Selection{Links: []string{link}})
	if err != nil {
		return nil, err
	}
	e.decide = func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		c, err := a.desk(ctx, now, crew, true).DeleteLinked(chosen)
		return edits.Decision{Changes: c, Action: "event_deleted", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen)}
		}}, err
	}
	return e, nil
}

func (a *API) deleteLinked(w http.ResponseWriter, r *http.Request) error {
	e, err := a.linkedDeletion(r.Context(), param(r, "link"))
	if err != nil {
		return err
	}
	if _, err := a.run(r, e, nil, false); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

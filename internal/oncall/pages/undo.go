package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
)

// maxUndone is the maximum number of shifts of an undo. It is that of linked shifts in one request.
const maxUndone = 1000

// doneShift is a shift in the answer of an edit.
type doneShift struct {
	ID       oncall.ShiftID    `json:"id"`
	Start    int64             `json:"start"`
	End      int64             `json:"end"`
	Role     string            `json:"role"`
	Team     string            `json:"team"`
	User     string            `json:"user"`
	Schedule oncall.ScheduleID `json:"schedule_id"`
	Link     string            `json:"link_id"`
	Note     string            `json:"note"`
	Edited   bool              `json:"edited"`
	Covers   oncall.ScheduleID `json:"covers_id"`
}

// done are the changes in the answer of an edit.
type done struct {
	Added   []doneShift `json:"added"`
	Removed []doneShift `json:"removed"`
	Changed []struct {
		Before doneShift `json:"before"`
		After  doneShift `json:"after"`
	} `json:"changed"`
}

// aboutEdit binds a proof to its use.
const aboutEdit = "edit of shifts"

// digest identifies the changes.
func (d done) digest() ([]byte, error) {
	raw, err := json.Marshal(d)
	sum := sha256.Sum256(raw)
	return sum[:], err
}

// proof seals the changes of an answer, so that an undo can only restore what an edit has removed or changed.
func (a edits) proof(answer map[string]any) ([]byte, error) {
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var d done
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	digest, err := d.digest()
	return a.Sealer.Seal(digest, aboutEdit), err
}

// check returns an Invalid fault unless proof is the proof of the changes.
func (a edits) check(d done, proof []byte) error {
	digest, err := d.digest()
	if err != nil {
		return err
	}
	sealed, err := a.Sealer.Unseal(proof, aboutEdit)
	if err != nil || !bytes.Equal(sealed, digest) {
		return fault.Invalidf("proof", "proof does not belong to these changes: send the answer of the edit back unchanged")
	}
	return nil
}

// undoing reads an edit that reverses another one. The body has the lists and the proof of the answer of that edit.
func (a edits) undoing(ctx context.Context, b jsonbody.Object) (editing.Edit, error) {
	var done struct {
		done
		Proof []byte `json:"proof"`
	}
	if err := json.Unmarshal(b.Raw, &done); err != nil {
		return editing.Edit{}, fault.Invalidf("changed",
			"added, removed and changed must be the lists in the answer of an edit: %v", err)
	}
	all := append(append([]doneShift{}, done.Added...), done.Removed...)
	for _, c := range done.Changed {
		all = append(all, c.Before, c.After)
	}
	if len(all) == 0 || len(all) > maxUndone {
		return editing.Edit{}, fault.Invalidf("changed", "an undo names 1 to %d shifts in added, removed and changed",
			maxUndone)
	}
	if err := a.check(done.done, done.Proof); err != nil {
		return editing.Edit{}, err
	}
	team, err := a.ActiveTeam(ctx, all[0].Team)
	if err != nil {
		return editing.Edit{}, err
	}
	shifts, refusal, err := a.doneShifts(ctx, team, all)
	if err != nil {
		return editing.Edit{}, err
	}
	undo := editing.Undo{Added: shifts[:len(done.Added)], Removed: shifts[len(done.Added) : len(done.Added)+
		len(done.Removed)], Refusal: refusal}
	selection := editing.Selection{TeamID: team.ID}
	for _, s := range undo.Added {
		selection.IDs = append(selection.IDs, s.ID)
	}
	for i := len(done.Added) + len(done.Removed); i < len(shifts); i += 2 {
		undo.Changed = append(undo.Changed, oncall.Update{Before: shifts[i], After: shifts[i+1]})
		selection.IDs = append(selection.IDs, shifts[i+1].ID)
	}
	rows, err := a.ShiftRows(ctx, selection)
	return editing.Edit{Access: a.Access(ctx, true), Selection: selection, Change: undo, Rows: rows}, err
}

// doneShifts returns the shifts of an answer. The refusal is about a role, a person or a schedule that the team does
// not have.
func (a edits) doneShifts(ctx context.Context, team oncall.Profile, given []doneShift) (out []oncall.Shift, refusal, err error) {
	own, err := a.Schedules.ByTeam(ctx, team.ID)
	if err != nil {
		return nil, nil, err
	}
	known := map[oncall.ScheduleID]bool{0: true}
	for _, s := range own {
		known[s.ID] = true
	}
	people, roles := map[string]users.ID{}, map[string]string{}
	for _, g := range given {
		if _, seen := people[g.User]; !seen {
			if people[g.User], err = a.UserID(ctx, g.User); err != nil {
				return nil, nil, err
			}
		}
		if _, seen := roles[g.Role]; !seen {
			role, ok, err := a.RoleName(ctx, g.Role)
			if err != nil {
				return nil, nil, err
			}
			if !ok {
				refusal = fault.Invalidf("role", "there is no role %q any more", g.Role)
			}
			roles[g.Role] = role
		}
		s := oncall.Shift{ID: g.ID, TeamID: team.ID, Role: roles[g.Role], User: people[g.User],
			Start: time.Unix(g.Start, 0), End: time.Unix(g.End, 0),
			Schedule: g.Schedule, Link: g.Link, Note: g.Note, Edited: g.Edited, Covers: g.Covers}
		if !known[s.Schedule] || !known[s.Covers] {
			refusal = fault.New(fault.Conflict,
				fmt.Sprintf("the schedule of a shift was deleted from team %s, so the edit cannot be undone",
					team.Name))
		}
		out = append(out, s)
	}
	return out, refusal, nil
}

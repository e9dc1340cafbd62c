// Package schedules decides what a person's edit of a stored schedule or rotation changes. It is pure: storage calls it inside
// the transaction that stores the result. The calendar edges make the edits.
package schedules

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Administrator is the person or program that edits. MayAdministerTeam returns nil, or the fault to answer with. auth.Actor
// implements it.
type Administrator interface {
	MayAdministerTeam(team int64, name string) error
}

// Edit is one change of a stored schedule. It is a value: storage reads the schedule in a transaction with the team locked,
// calls Decide, and stores the draft with its entry in the audit log.
type Edit struct {
	Editor Administrator
	// IfMatch are the tags of which the schedule must have one; "*" allows every tag, nil every state.
	IfMatch []string
	Change  Change
}

// Change is one kind of edit of a schedule. Decide is pure.
type Change interface {
	Decide(is scheduling.StoredSchedule) (scheduling.ScheduleDraft, error)
}

// Decide returns the new state of the schedule, or the refusal. etag.ErrStale refuses an edit of a schedule whose tag is not
// in IfMatch.
func (e Edit) Decide(is scheduling.StoredSchedule) (scheduling.ScheduleDraft, error) {
	if err := e.Editor.MayAdministerTeam(is.TeamID, is.Team); err != nil {
		return scheduling.ScheduleDraft{}, err
	}
	if err := etag.Match(e.IfMatch, is.Tag()); err != nil {
		return scheduling.ScheduleDraft{}, err
	}
	return e.Change.Decide(is)
}

// Replace stores a whole draft. It is stale if the schedule was moved to another team, because the draft's roster belongs to
// the former team.
type Replace struct{ Draft scheduling.ScheduleDraft }

// Decide implements Change.
func (r Replace) Decide(is scheduling.StoredSchedule) (scheduling.ScheduleDraft, error) {
	if is.TeamID != r.Draft.TeamID {
		return r.Draft, etag.ErrStale
	}
	return r.Draft, nil
}

// Patch changes some parts of a schedule; nil leaves a part as it is.
type Patch struct {
	Slots        []scheduling.Slot // as given, not merged: merging hides whether basic mode can show them
	Advanced     *bool
	Threshold    *int
	Role         *int64
	Algorithm    *scheduling.Algorithm
	Order        []users.ID // for RoundRobin
	Team, Roster *int64
	// OfRotation refuses the patch for a rotation; nil = it applies to rotations, too.
	OfRotation error
	// NotSimple refuses slots that basic mode cannot show.
	NotSimple error
}

// Decide implements Change.
func (p Patch) Decide(is scheduling.StoredSchedule) (scheduling.ScheduleDraft, error) {
	d := is.Draft()
	if is.Algorithm == scheduling.ByRotation && p.OfRotation != nil {
		return d, p.OfRotation
	}
	return d, p.Apply(&d)
}

// Apply makes the changes in a draft and checks the draft. It returns NotSimple or an Invalid fault, among others.
func (p Patch) Apply(d *scheduling.ScheduleDraft) error {
	set(&d.Advanced, p.Advanced)
	switch {
	case p.Slots != nil:
		if !d.Advanced && !scheduling.SimplePattern(p.Slots) {
			return p.NotSimple
		}
		d.Pattern = scheduling.MergeSlots(p.Slots)
	case p.Advanced != nil && !d.Advanced && !simpleOnce(d.Pattern):
		return p.NotSimple
	}
	set(&d.Threshold, p.Threshold)
	set(&d.RoleID, p.Role)
	set(&d.TeamID, p.Team)
	set(&d.RosterID, p.Roster)
	if p.Algorithm != nil {
		if *p.Algorithm == scheduling.ByRotation && d.Rotation == nil {
			return errNoScheduler
		}
		d.Algorithm = *p.Algorithm
	}
	if d.Algorithm == scheduling.RoundRobin {
		d.Order = p.Order
	}
	whole := scheduling.Schedule{Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation, Threshold: d.Threshold}
	return whole.Check()
}

// errNoScheduler is Oncall's refusal of an algorithm that it does not have.
var errNoScheduler = &fault.Error{Kind: fault.Mismatch, Message: "IntegrityError", Detail: "scheduler not found"}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// simpleOnce reports whether basic mode can show a pattern as it is stored, merged.
func simpleOnce(stored []scheduling.Slot) bool {
	return scheduling.SimplePattern(stored) || scheduling.SimplePattern(halves(stored))
}

// halves undoes the merging of slots of twelve hours.
func halves(stored []scheduling.Slot) []scheduling.Slot {
	const half = 12 * time.Hour
	var out []scheduling.Slot
	for _, s := range stored {
		for s.Duration > half && s.Duration%half == 0 && len(out) <= 14 {
			out = append(out, scheduling.Slot{Start: s.Start, Duration: half})
			s.Start, s.Duration = s.Start+half, s.Duration-half
		}
		out = append(out, s)
	}
	return out
}

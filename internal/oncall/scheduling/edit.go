// This file decides what a person's edit of a stored schedule or rotation changes. It is pure: storage calls it inside
// the transaction that stores the result. The calendar edges make the edits.

package scheduling

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Administrator is the person or program that edits. MayAdministerTeam returns nil, or the fault to answer with.
// auth.Actor implements it.
type Administrator interface {
	MayAdministerTeam(team int64, name string) error
}

// Edit is one change of a stored schedule. It is a value: storage reads the schedule in a transaction with the team
// locked, calls Decide, and stores the draft with its entry in the audit log.
type Edit struct {
	Editor Administrator
	// IfMatch are the tags of which the schedule must have one; "*" allows every tag, nil every state.
	IfMatch []string
	Change  Change
}

// Change is one kind of edit of a schedule. Decide is pure.
type Change interface {
	Decide(is StoredSchedule) (ScheduleDraft, error)
}

// Decide returns the new state of the schedule, or the refusal. etag.ErrStale refuses an edit of a schedule whose tag
// is not in IfMatch.
func (e Edit) Decide(is StoredSchedule) (ScheduleDraft, error) {
	if err := e.Editor.MayAdministerTeam(is.TeamID, is.Team); err != nil {
		return ScheduleDraft{}, err
	}
	if err := etag.Match(e.IfMatch, is.Tag()); err != nil {
		return ScheduleDraft{}, err
	}
	return e.Change.Decide(is)
}

// Replace stores a whole draft. It is stale if the schedule was moved to another team, because the draft's roster
// belongs to the former team.
type Replace struct{ Draft ScheduleDraft }

// Decide implements Change.
func (r Replace) Decide(is StoredSchedule) (ScheduleDraft, error) {
	if is.TeamID != r.Draft.TeamID {
		return r.Draft, etag.ErrStale
	}
	return r.Draft, nil
}

// Patch changes some parts of a schedule; nil leaves a part as it is.
type Patch struct {
	Slots        []Slot // as given, not merged: merging hides whether basic mode can show them
	Advanced     *bool
	Threshold    *int
	Role         *int64
	Algorithm    *Algorithm
	Order        []users.ID // for RoundRobin
	Team, Roster *int64
	// OfRotation refuses the patch for a rotation; nil = it applies to rotations, too.
	OfRotation error
	// NotSimple refuses slots that basic mode cannot show.
	NotSimple error
}

// Decide implements Change.
func (p Patch) Decide(is StoredSchedule) (ScheduleDraft, error) {
	d := is.Draft()
	if is.Algorithm == ByRotation && p.OfRotation != nil {
		return d, p.OfRotation
	}
	return d, p.Apply(&d)
}

// Apply makes the changes in a draft and checks the draft. It returns NotSimple or an Invalid fault, among others.
func (p Patch) Apply(d *ScheduleDraft) error {
	set(&d.Advanced, p.Advanced)
	switch {
	case p.Slots != nil:
		if !d.Advanced && !SimplePattern(p.Slots) {
			return p.NotSimple
		}
		d.Pattern = MergeSlots(p.Slots)
	case p.Advanced != nil && !d.Advanced && !simpleOnce(d.Pattern):
		return p.NotSimple
	}
	set(&d.Threshold, p.Threshold)
	set(&d.RoleID, p.Role)
	set(&d.TeamID, p.Team)
	set(&d.RosterID, p.Roster)
	if p.Algorithm != nil {
		if *p.Algorithm == ByRotation && d.Rotation == nil {
			return errNoScheduler
		}
		d.Algorithm = *p.Algorithm
	}
	if d.Algorithm == RoundRobin {
		d.Order = p.Order
	}
	whole := Schedule{Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation, Threshold: d.Threshold}
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
func simpleOnce(stored []Slot) bool {
	return SimplePattern(stored) || SimplePattern(halves(stored))
}

// halves undoes the merging of slots of twelve hours.
func halves(stored []Slot) []Slot {
	const half = 12 * time.Hour
	var out []Slot
	for _, s := range stored {
		for s.Duration > half && s.Duration%half == 0 && len(out) <= 14 {
			out = append(out, Slot{Start: s.Start, Duration: half})
			s.Start, s.Duration = s.Start+half, s.Duration-half
		}
		out = append(out, s)
	}
	return out
}

package editing

import (
	"slices"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// handedOver is a time of a shift that goes from one person to another.
type handedOver struct{ before, after oncall.Shift }

// handedOverIn returns the times in which changes put another person on call than before.
func handedOverIn(c oncall.Changes) (out []handedOver) {
	was := slices.Clone(c.Delete)
	for _, u := range c.Update {
		if u.Before.User != u.After.User {
			out = append(out, handedOver{u.Before, u.After})
		} else {
			was = append(was, u.Before)
		}
	}
	for _, added := range c.Add {
		for _, s := range was {
			if s.Role != added.Role || s.User == added.User || !s.Overlaps(added.Start, added.End) {
				continue
			}
			before, after := s, added
			before.Start, before.End = clock.Later(s.Start, added.Start), clock.Earlier(s.End, added.End)
			after.Start, after.End = before.Start, before.End
			out = append(out, handedOver{before, after})
		}
	}
	return out
}

// handOverNotice returns the notice to everybody who loses or gets a shift by the edit of a person who does not
// administer the team. by is who edits, and is not notified. The caller has one notice of the same edit for people with
// a setting, of the kind unless.
func handOverNotice(c oncall.Changes, by users.ID, unless oncall.NoticeKind) (n oncall.Notice, ok bool) {
	n = oncall.Notice{Kind: oncall.ShiftsHandedOver, By: by, Unless: unless}
	for _, h := range handedOverIn(c) {
		n.Involve(h.before, h.after)
		n.Shifts = append(n.Shifts, h.before, h.after)
	}
	n.Users = slices.DeleteFunc(n.Users, func(id users.ID) bool { return id == by })
	return n, len(n.Users) > 0
}

// notifyHolders adds the notice of a hand-over to an outcome, unless the caller administers the team, or the edit has
// its own notice for the people concerned.
func (d Editor) notifyHolders(o *Outcome, by users.ID) {
	own := slices.ContainsFunc(o.Notices, func(n oncall.Notice) bool { return n.Kind.Personal() })
	if d.Refusals.Admin == nil || own || len(o.Notices) == 0 {
		return
	}
	if n, ok := handOverNotice(o.Changes, by, o.Notices[0].Kind); ok {
		o.Notices = append(o.Notices, n)
	}
}

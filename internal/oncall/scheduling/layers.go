package scheduling

import (
	"slices"
	"sort"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// piece is a part of a turn of a layer, in real time.
type piece struct {
	oncall.Span
	layer, turn int
	user        users.ID // 0 = nobody is available
}

// turnsFrom returns the instant from which the rotation's calendar is made.
func (s *Schedule) turnsFrom(now time.Time) time.Time {
	return clock.Later(s.Progress.Last, now.Truncate(time.Second))
}

// turnsUntil returns the instant until which it is made: the end of the lowest layer's turn that runs at the threshold.
func (s *Schedule) turnsUntil(now time.Time) time.Time {
	until := now.Truncate(time.Second).Add(time.Duration(s.Threshold) * 24 * time.Hour)
	if s.Rotation == nil || len(s.Rotation.Layers) == 0 {
		return until
	}
	return s.turnEnd(&s.Rotation.Layers[0], until)
}

// turnEnd returns the end of the layer's turn that runs at t; t if none does.
func (s *Schedule) turnEnd(l *Layer, t time.Time) time.Time {
	at := oncall.LocalIn(t, s.Zone)
	n := l.turnAt(at)
	if n < 0 || (l.End != nil && at >= *l.End) {
		return t
	}
	end := l.handOff(n + 1)
	if l.End != nil {
		end = min(end, *l.End)
	}
	return clock.Later(t, end.In(s.Zone))
}

// populateTurns is Populate for a rotation. It makes nothing before now; a running shift of the schedule stays until
// its end.
func (s Schedule) populateTurns(now, start time.Time, known Calendars) Result {
	result := Result{Schedule: s.ID, Progress: s.Progress}
	from, until := clock.Later(start, now).Truncate(time.Second), s.turnsUntil(now)
	if !from.Before(until) || s.Threshold <= 0 {
		return result
	}
	b := newWorkingCalendar(known)
	s.replace(b, from, &result)
	gap := oncall.Span{Start: s.turnsFrom(now), End: from}
	result.Progress.Unfilled = slices.DeleteFunc(slices.Clone(s.Progress.Unfilled),
		func(t time.Time) bool { return !t.Before(from) })
	if gap.Start.Before(gap.End) { // a new rotation also covers the time from now (docs/reference/oncall-v0.md 5.2)
		result.Progress.Unfilled = append(result.Progress.Unfilled, gap.Start)
	}
	result.Progress.Last = until
	s.makeTurns(b, []oncall.Span{{Start: from, End: until}}, &result)
	result.settle()
	return result
}

// extendTurns is Fill for a rotation: it makes the turns after the ones that exist, and tries unfilled stretches again.
func (s *Schedule) extendTurns(now time.Time, b *workingCalendar, result *Result) {
	from, until := s.turnsFrom(now), s.turnsUntil(now)
	now = now.Truncate(time.Second)
	result.Progress.Unfilled = nil
	var wanted []oncall.Span
	for _, t := range distinct(s.Progress.Unfilled) {
		// An unfilled stretch ends where the next shift begins, at the latest at the end of the calendar.
		end := from
		for _, x := range b.of(func(x oncall.Shift) bool { return x.Origin() == s.ID && x.Start.After(t) }) {
			end = clock.Earlier(end, x.Start)
		}
		start := clock.Later(t, now)
		if n := len(wanted); n > 0 {
			start = clock.Later(start, wanted[n-1].End)
		}
		if start.Before(end) {
			wanted = append(wanted, oncall.Span{Start: start, End: end})
		}
	}
	if from.Before(until) {
		wanted = append(wanted, oncall.Span{Start: from, End: until})
		result.Progress.Last = until
	}
	s.makeTurns(b, wanted, result)
}

// makeTurns plans the shifts of the rotation in the wanted stretches, which are in order.
func (s *Schedule) makeTurns(b *workingCalendar, wanted []oncall.Span, result *Result) {
	if s.Rotation == nil {
		return
	}
	var open []oncall.Span
	for _, w := range wanted {
		running := b.of(func(x oncall.Shift) bool { return s.fills(x) && x.Overlaps(w.Start, w.End) })
		open = append(open, w.Without(heldSpans(running))...)
	}
	for _, w := range open {
		pieces := s.flatten(b, w)
		if w.End.Equal(result.Progress.Last) {
			pieces = s.whole(b, w)
			for _, p := range pieces {
				result.Progress.Last = clock.Later(result.Progress.Last, p.End)
			}
		}
		for len(pieces) > 0 {
			same := slices.IndexFunc(pieces, func(p piece) bool {
				return p.user != pieces[0].user || p.turn != pieces[0].turn || p.layer != pieces[0].layer
			})
			if same < 0 {
				same = len(pieces)
			}
			s.assignTurn(b, pieces[:same], result)
			pieces = pieces[same:]
		}
	}
	result.Progress.Unfilled = distinct(result.Progress.Unfilled)
	oncall.SortShifts(result.Add)
}

func (s *Schedule) assignTurn(b *workingCalendar, pieces []piece, result *Result) {
	if pieces[0].user == 0 {
		for _, p := range pieces {
			result.unfilled(s, p.Start, p.Span, whyNoTurn)
			result.Progress.Unfilled = append(result.Progress.Unfilled, p.Start)
		}
		return
	}
	spans := make([]oncall.Span, 0, len(pieces))
	for _, p := range pieces {
		spans = append(spans, p.Span)
	}
	s.assign(b, result, pieces[0].user, spans)
}

// whole is flatten without cutting pieces at the end of w: the last piece that begins in w is whole.
func (s *Schedule) whole(b *workingCalendar, w oncall.Span) []piece {
	ahead := w
	for i := range s.Rotation.Layers {
		ahead.End = clock.Later(ahead.End, s.turnEnd(&s.Rotation.Layers[i], w.End))
	}
	held := b.of(func(x oncall.Shift) bool {
		return s.fills(x) && x.Start.Before(ahead.End) && !x.Start.Before(w.End)
	})
	for _, x := range held {
		ahead.End = clock.Earlier(ahead.End, x.Start)
	}
	return slices.DeleteFunc(s.flatten(b, ahead), func(p piece) bool { return !p.Start.Before(w.End) })
}

// flatten returns who is on call in w, by time and without overlap. Later layers take precedence over earlier ones. A
// layer in which nobody is available leaves the stretch to the layers below it.
func (s *Schedule) flatten(b *workingCalendar, w oncall.Span) []piece {
	var out, missing []piece
	nobody := make([][]piece, len(s.Rotation.Layers))
	for i := len(s.Rotation.Layers) - 1; i >= 0; i-- {
		taken := pieceSpans(out)
		for _, p := range s.layerPieces(b, i, w) {
			if p.user == 0 {
				nobody[i] = append(nobody[i], p)
			} else {
				out = append(out, p.outside(taken)...)
			}
		}
	}
	taken := pieceSpans(out)
	for _, layer := range nobody {
		known := pieceSpans(missing)
		for _, p := range layer {
			for _, left := range p.outside(taken) {
				missing = append(missing, left.outside(known)...)
			}
		}
	}
	out = append(out, missing...)
	slices.SortFunc(out, func(x, y piece) int { return x.Start.Compare(y.Start) })
	return out
}

// outside returns the parts of p outside taken, which is in order and without overlap.
func (p piece) outside(taken []oncall.Span) []piece {
	first := sort.Search(len(taken), func(i int) bool { return taken[i].End.After(p.Start) })
	last := first + sort.Search(len(taken)-first, func(i int) bool { return !taken[first+i].Start.Before(p.End) })
	var out []piece
	for _, left := range p.Without(taken[first:last]) {
		out = append(out, piece{left, p.layer, p.turn, p.user})
	}
	return out
}

func pieceSpans(pieces []piece) []oncall.Span {
	out := make([]oncall.Span, 0, len(pieces))
	for _, p := range pieces {
		out = append(out, p.Span)
	}
	slices.SortFunc(out, func(x, y oncall.Span) int { return x.Start.Compare(y.Start) })
	return out
}

// layerPieces returns the parts of a layer's turns inside w, each with the person who is on call.
func (s *Schedule) layerPieces(b *workingCalendar, layer int, w oncall.Span) []piece {
	l := &s.Rotation.Layers[layer]
	if len(l.Members) == 0 {
		return nil
	}
	q := newSequence(l)
	// Two more days on both sides, because a change of zone may move the clock by a whole day.
	n := max(0, l.turnAt(oncall.LocalIn(w.Start, s.Zone)-2*day))
	last := oncall.LocalIn(w.End, s.Zone) + 2*day
	var walls []localSpan
	var turns []int
	for ; l.handOff(n) < last; n++ {
		for _, c := range l.cover(l.handOff(n), l.handOff(n+1), b.known.Holidays) {
			walls, turns = append(walls, c), append(turns, n)
		}
	}
	var out []piece
	for i, span := range onClock(walls, s.Zone) {
		span = oncall.Span{Start: clock.Later(span.Start, w.Start), End: clock.Earlier(span.End, w.End)}
		if span.Start.Before(span.End) {
			out = append(out, s.takers(b, q, piece{Span: span, layer: layer, turn: turns[i]})...)
		}
	}
	return out
}

// takers splits a piece by the people who are on call in its parts: the person whose turn it is; while that person is
// away the next one in the order who is neither away nor on duty for the team; else the next one who is not away. Each
// instant is decided independently, so that the result does not depend on where the calendar begins.
func (s *Schedule) takers(b *workingCalendar, q *sequence, p piece) []piece {
	line := q.line(p.turn)
	var own users.ID
	if len(line) > 0 {
		own = line[0].User
	}
	line = slices.DeleteFunc(line, func(t LayerMember) bool { return !s.inRotation(t.User) })
	var out []piece
	open := []oncall.Span{p.Span}
	take := func(user users.ID, not []oncall.Span) {
		var rest []oncall.Span
		for _, o := range open {
			free := o.Without(not)
			rest = append(rest, o.Without(free)...)
			for _, f := range free {
				out = append(out, piece{f, p.layer, p.turn, user})
			}
		}
		open = rest
	}
	if len(line) > 0 && line[0].User == own {
		take(own, b.absences(own))
	}
	for _, t := range line {
		if len(open) > 0 {
			take(t.User, b.engagements(t.User, s.TeamID))
		}
	}
	for _, t := range line {
		if len(open) > 0 {
			take(t.User, b.absences(t.User))
		}
	}
	take(0, nil)
	slices.SortFunc(out, func(x, y piece) int { return x.Start.Compare(y.Start) })
	return out
}

// inRotation reports whether a person of the roster takes turns now.
func (s *Schedule) inRotation(user users.ID) bool {
	return slices.ContainsFunc(s.Roster, func(m Member) bool { return m.User == user && m.InRotation && m.Active })
}

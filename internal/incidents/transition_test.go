package incidents

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// reachable returns every status that events reach from the two in which incidents are opened.
func reachable(t *testing.T) []Status {
	t.Helper()
	all := []Status{{Active: true}, {Silenced: true}}
	for n := 0; n < len(all); n++ {
		for _, e := range Events {
			next, err := all[n].After(e)
			if err == nil && !slices.Contains(all, next.After) {
				all = append(all, next.After)
			}
		}
	}
	require.Less(t, len(all), 100)
	return all
}

func TestEveryEventIsAllowedOrRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for _, s := range reachable(t) {
		for _, e := range Events {
			next, err := s.After(e)
			if err == nil {
				require.NotEmpty(t, next.Kind, "%s in %+v", e, s)
				require.Equal(t, s, next.Before)
				continue
			}
			require.True(t, fault.Is(err, fault.Conflict), "%s in %+v", e, s)
			require.NotEmpty(t, fault.Public(err))
		}
	}
	require.Len(t, transitions, len(Events), "every event has a row")
	_, err := Status{}.After("rain")
	require.True(t, fault.Is(err, fault.Conflict))
}

func TestNoStateIsWithoutAWayOut(t *testing.T) {
	t.Parallel()
	for _, s := range reachable(t) {
		left, resolved := false, false
		for _, e := range Events {
			next, err := s.After(e)
			left = left || err == nil && next.After.State() != s.State()
			resolved = resolved || err == nil && next.After.Resolved
		}
		require.True(t, left, "%+v", s)
		require.True(t, resolved, "%+v", s)
	}
}

func TestOnlyAnEscalatingIncidentPages(t *testing.T) {
	t.Parallel()
	for _, s := range reachable(t) {
		if s.Active {
			require.Equal(t, Status{Active: true}, s, "what stops paging also ends escalation")
			require.Equal(t, escalating, s.State())
		}
		for _, e := range Events {
			next, err := s.After(e)
			if err != nil {
				continue
			}
			require.Equal(t, next.After.Active && !s.Active, next.Starts())
			if s.Active && !next.After.Active {
				require.True(t, next.Due(), "%s: its pages are cancelled at once", e)
			}
			if next.After.Active {
				require.True(t, next.Due(), "%s: it is escalated at once", e)
			}
		}
	}
}

func TestWhatEventsDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from   Status
		events []Event
		want   State
	}{
		"a snooze that ends starts escalation": {Status{Active: true}, []Event{Snooze, SnoozeEnded},
			escalating},
		"a snooze of an acknowledged one too": {Status{Active: true},
			[]Event{Acknowledge, Snooze, SnoozeEnded}, escalating},
		"a snoozed one can be acknowledged": {Status{Active: true}, []Event{Snooze, Acknowledge},
			acknowledged},
		"a snoozed one can be resolved": {Status{Active: true}, []Event{Snooze, Resolve}, resolved},
		"a silence delays the end of a snooze": {Status{Active: true},
			[]Event{Snooze, SilenceBegan, SnoozeEnded}, silenced},
		"a silence delays a timeout": {Status{Active: true},
			[]Event{Acknowledge, SilenceBegan, AcknowledgementTimedOut}, silenced},
		"then the end of the silence escalates": {Status{Active: true},
			[]Event{Acknowledge, SilenceBegan, AcknowledgementTimedOut, SilenceEnded}, escalating},
		"a silence leaves the acknowledgement": {Status{Active: true},
			[]Event{Acknowledge, SilenceBegan, SilenceEnded}, acknowledged},
		"one that is not reported pages nobody": {Status{Silenced: true}, []Event{SilenceLapsed},
			exhausted},
		"an undone resolve does not escalate": {Status{Active: true}, []Event{Resolve, UndoResolve},
			exhausted},
		"an undone resolve gives back the owner": {Status{Active: true},
			[]Event{Acknowledge, Resolve, UndoResolve}, acknowledged},
		"an undone resolve gives back the silence": {Status{Silenced: true}, []Event{Resolve, UndoResolve},
			silenced},
		"an undone resolve gives back the merge": {Status{Active: true},
			[]Event{Merge, Resolve, UndoResolve}, merged},
		"an undone merge escalates": {Status{Active: true}, []Event{Merge, Unmerge},
			escalating},
		"an undone merge leaves the owner": {Status{Active: true},
			[]Event{Acknowledge, Merge, Unmerge}, acknowledged},
		"an acknowledgement does not undo a merge": {Status{Active: true}, []Event{Merge, Acknowledge},
			merged},
		"a closed one can be reopened": {Status{Active: true}, []Event{Close, Reopen}, escalating},
		"a closed one can be resolved": {Status{Active: true}, []Event{Close, Resolve}, resolved},
		"news escalates an exhausted one": {Status{Active: true}, []Event{PlanExhausted, News},
			escalating},
		"news leaves an acknowledged one": {Status{Active: true}, []Event{Acknowledge, News},
			acknowledged},
		"a late delivery escalates a resolved one": {Status{Active: true}, []Event{Resolve, LateDelivery},
			escalating},
		"the source acknowledges": {Status{Active: true}, []Event{AcknowledgeAtSource},
			acknowledged},
		"a taken back acknowledgement of a resolved one": {Status{Active: true},
			[]Event{Acknowledge, Resolve, Reopen, UndoResolve}, exhausted},
		"a taken back acknowledgement leaves a silence": {Status{Silenced: true}, []Event{Acknowledge, Reopen},
			silenced},
		"escalation that a client ended can be begun again": {Status{Active: true}, []Event{Stop, Reopen}, escalating},
	} {
		s := c.from
		for _, e := range c.events {
			next, err := s.After(e)
			require.NoError(t, err, "%s: %s", name, e)
			s = next.After
		}
		require.Equal(t, c.want, s.State(), name)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   Status
		e    Event
		want string
	}{
		{Status{Resolved: true}, Escalate, "the incident is resolved: reopen it first"},
		{Status{Resolved: true}, Snooze, "the incident is resolved: reopen it first"},
		{Status{Closed: true}, Restart, "the incident is closed: reopen it first"},
		{Status{Silenced: true}, Escalate, "the incident is silenced: end the silence first"},
		{Status{Silenced: true, Owned: true}, Restart, "the incident is silenced: end the silence first"},
		{Status{Merged: true}, PageAlso,
			"the incident is merged into another one: change that one, or undo the merge first"},
		{Status{Resolved: true}, PageAlso, "the incident is resolved: reopen it first"},
		{Status{Snoozed: true}, PageAlso, "the incident is snoozed: end that first"},
		{Status{Active: true}, Reassign, "nobody has acknowledged the incident: acknowledge it first"},
		{Status{Snoozed: true}, Reassign, "nobody has acknowledged the incident: acknowledge it first"},
		{Status{Resolved: true}, Reassign, "the incident is resolved: reopen it first"},
		{Status{Active: true}, SnoozeEnded, "the incident is not snoozed"},
		{Status{Owned: true}, Unmerge, "the incident is not merged into another one"},
		{Status{Snoozed: true}, Close, "the incident is snoozed: end that first"},
	} {
		_, err := c.in.After(c.e)
		require.EqualError(t, err, c.want, "%s in %+v", c.e, c.in)
	}
}

// FuzzTransitions compares sequences of events with a model that knows no states: only who stops the pages, and whether
// they began.
func FuzzTransitions(f *testing.F) {
	f.Add([]byte{0, 11, 12, 3})
	f.Add([]byte{13, 0, 2, 14, 18, 19})
	f.Add([]byte{16, 0, 17, 20, 3})
	f.Fuzz(func(t *testing.T, events []byte) {
		s, m := Status{Active: true}, model{active: true}
		for _, b := range events {
			e := Events[int(b)%len(Events)]
			next, err := s.After(e)
			allowed := m.apply(e)
			require.Equal(t, allowed, err == nil, "%s in %+v", e, s)
			if err == nil {
				s = next.After
			}
			want := Status{m.active, m.owned, m.snoozed, m.silenced, m.merged, m.resolved, m.closed}
			require.Equal(t, want, s, "after %s", e)
		}
	})
}

type model struct{ active, owned, snoozed, silenced, merged, resolved, closed bool }

func (m *model) over() bool { return m.resolved || m.closed || m.merged }

// waits reports that nothing stops the pages, begun or not.
func (m *model) waits() bool { return !m.over() && !m.snoozed && !m.owned && !m.silenced }

// begin escalates unless a silence matches.
func (m *model) begin() {
	*m = model{active: !m.silenced, silenced: m.silenced}
}

// apply reports whether the event is allowed.
func (m *model) apply(e Event) bool {
	acknowledged := !m.over() && !m.snoozed && m.owned
	switch e {
	case Acknowledge, AcknowledgeAtSource:
		if e == Acknowledge || m.waits() || m.silenced && !m.over() && !m.snoozed {
			m.owned = true
		}
		if !m.over() && (e == Acknowledge || !m.snoozed) {
			m.active, m.snoozed = false, false
		}
	case AcknowledgementTimedOut:
		if !acknowledged {
			return false
		}
		m.begin()
	case Reopen:
		m.owned = false
		if !m.resolved && (m.closed || !m.merged) {
			m.begin()
		}
	case Reassign:
		return acknowledged
	case PageAlso:
		return !m.over() && !m.silenced && !m.snoozed
	case Escalate, Restart, Snooze:
		if m.over() || m.silenced && (e != Snooze || !m.owned && !m.snoozed) {
			return false
		}
		if e == Snooze {
			m.active, m.snoozed = false, true
		} else {
			m.begin()
		}
	case Stop:
		m.active = false
	case PlanExhausted:
		if !m.active {
			return false
		}
		m.active = false
	case News:
		if m.resolved || m.closed {
			return false
		}
		if m.waits() {
			m.begin()
		}
	case LateDelivery:
		if m.resolved || m.waits() {
			m.begin()
		}
	case SnoozeEnded:
		if m.over() || !m.snoozed {
			return false
		}
		m.begin()
	case SilenceBegan:
		m.active, m.silenced = false, true
	case SilenceEnded, SilenceLapsed:
		hidden := m.silenced && !m.over() && !m.owned && !m.snoozed
		m.silenced = false
		if hidden && e == SilenceEnded {
			m.begin()
		}
	case Merge:
		if m.over() {
			return false
		}
		m.active, m.snoozed, m.merged = false, false, true
	case Unmerge:
		if m.resolved || m.closed || !m.merged {
			return false
		}
		m.merged = false
		if !m.owned {
			m.begin()
		}
	case Resolve:
		m.active, m.snoozed, m.closed, m.resolved = false, false, false, true
	case UndoResolve:
		m.resolved = false
	case Close:
		if m.resolved || m.snoozed && !m.closed && !m.merged {
			return false
		}
		m.active, m.closed = false, true
	}
	return true
}

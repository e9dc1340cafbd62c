package silences

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

var berlin, _ = time.LoadLocation("Europe/Berlin")

func content(change func(*Content)) Content {
	from := time.Date(2026, 3, 1, 22, 0, 0, 0, berlin)
	c := Content{Scope: Scope{Match: `team="db"`}, From: from, To: from.Add(8 * time.Hour), Zone: "Europe/Berlin",
		Comment: "upgrade"}
	if change != nil {
		change(&c)
	}
	return c
}

func TestCheckNamesTheField(t *testing.T) {
	t.Parallel()
	require.NoError(t, content(nil).Check())
	require.NoError(t, content(func(c *Content) { c.Match, c.Team = "", "db" }).Check())
	require.NoError(t, content(func(c *Content) { c.Recurrence = "FREQ=WEEKLY;BYDAY=SU" }).Check())
	for field, change := range map[string]func(*Content){
		"match":      func(c *Content) { c.Match = "" },
		"comment":    func(c *Content) { c.Comment = " " },
		"from":       func(c *Content) { c.From = time.Time{} },
		"to":         func(c *Content) { c.To = c.From },
		"zone":       func(c *Content) { c.Zone = "Moon" },
		"recurrence": func(c *Content) { c.Recurrence = "WEEKLY" },
	} {
		err := content(change).Check()
		require.True(t, fault.Is(err, fault.Invalid), field)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, field, f.Field)
	}
	for _, rule := range []string{"FREQ=HOURLY", "FREQ=DAILY;BYHOUR=3", "DTSTART=20260101;FREQ=DAILY", "FREQ=DAILY\nFREQ=WEEKLY", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"} {
		require.Error(t, content(func(c *Content) { c.Recurrence = operation.Text(rule) }).Check(), rule)
	}
	require.Error(t, content(func(c *Content) { c.To = c.From.Add(400 * 24 * time.Hour) }).Check())
	require.Error(t, content(func(c *Content) {
		c.Recurrence, c.To = "FREQ=YEARLY",
			c.From.Add(40*24*time.Hour)
	}).Check())
}

// The night of 29 March 2026 has only 7 hours, and that of 25 October 9.
func TestWindowsKeepTheirCivilTimes(t *testing.T) {
	t.Parallel()
	c := content(func(c *Content) { c.Recurrence = "FREQ=DAILY" })
	for day, hours := range map[time.Time]int{time.Date(2026, 3, 28, 22, 0, 0, 0, berlin): 7, time.Date(2026, 10, 24, 22, 0, 0, 0, berlin): 9,
		time.Date(2026, 6, 1, 22, 0, 0, 0, berlin): 8} {
		span, ok := c.At(day)
		require.True(t, ok)
		require.True(t, span.From.Equal(day), span.From)
		require.Equal(t, time.Duration(hours)*time.Hour, span.To.Sub(span.From))
		require.Equal(t, 6, span.To.In(berlin).Hour())
		_, ok = c.At(span.To)
		require.False(t, ok, "the end is not included")
		_, ok = c.At(day.Add(-time.Second))
		require.False(t, ok)
		next, ok := c.Next(day)
		require.True(t, ok)
		require.Equal(t, 22, next.From.In(berlin).Hour())
	}
}

func TestOver(t *testing.T) {
	t.Parallel()
	s := Silence{Content: content(nil)}
	require.Equal(t, Planned, s.at(s.From.Add(-time.Hour)).State)
	require.Equal(t, Active, s.at(s.From).State)
	require.Equal(t, Over, s.at(s.To).State)
	s.Recurrence = "FREQ=DAILY;COUNT=2"
	require.Equal(t, Planned, s.at(s.To).State)
	require.Equal(t, Over, s.at(s.To.Add(24*time.Hour)).State)
	s.EndedAt = &s.From
	require.Equal(t, Over, s.at(s.From).State)
}

// list is a store that only lists.
type list struct {
	Store
	Listed
}

func (l list) List(context.Context) (Listed, error) { return l.Listed, nil }

func TestTheSilenceThatEndsLastHides(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 1, 0, 0, 0, berlin)
	of := func(id ID, change func(*Silence)) Silence {
		s := Silence{ID: id, Content: content(nil), Author: "ann"}
		change(&s)
		return s
	}
	found := func(s Subject, all ...Silence) ID {
		force, err := NewCurrent(list{Listed: Listed{Version: 7, Silences: all}}, nil).read(t.Context(), now)
		require.NoError(t, err)
		require.EqualValues(t, 7, force.version)
		hide, _, err := force.find(t.Context(), &s, now)
		require.NoError(t, err)
		return hide.Silence
	}
	db := Subject{ApplicationID: 3, PlanID: 5, Severity: "critical",
		Context: json.RawMessage(`{"commonLabels":{"team":"db","host":"h1"},"title":"Disk","n":1}`)}
	short := of(1, func(s *Silence) { s.To = now.Add(time.Hour) })
	require.EqualValues(t, 2, found(db, short, of(2, func(*Silence) {})))
	require.EqualValues(t, 0, found(Subject{Context: json.RawMessage(`[]`)}, short))
	for match, want := range map[string]ID{`title="Disk"`: 1, `severity="critical",host=~"h.*"`: 1, `n="1"`: 1, `host!="h1"`: 0} {
		require.Equal(t, want, found(db, of(1, func(s *Silence) { s.Match = operation.Text(match) })), match)
	}
	several := Subject{Severity: "critical",
		Context: json.RawMessage(`{"commonLabels":{"team":"db"},"severity":"critical","mixed_labels":["host","severity"]}`)}
	for match, want := range map[string]ID{`team="db"`: 1, `team="db",host!="h1"`: 0, `host=""`: 0, `host=~".*"`: 0, `severity="critical"`: 0} {
		require.Equal(t, want, found(several, of(1, func(s *Silence) { s.Match = operation.Text(match) })),
			"%s: an event that it does not match would be hidden", match)
	}
	cut := Subject{Context: json.RawMessage(`{"commonLabels":{"team":"db"},"truncatedMembers":["mixed_labels"]}`)}
	require.EqualValues(t, 0, found(cut, of(1, func(s *Silence) { s.Match = `team="db"` })), "the labels that differ are not known")
	require.EqualValues(t, 1, found(db, of(1, func(s *Silence) { s.Match, s.ApplicationID = "", 3 })))
	require.EqualValues(t, 0, found(db, of(1, func(s *Silence) { s.Match, s.ApplicationID = "", 4 })))
	require.EqualValues(t, 1, found(db, of(1, func(s *Silence) {
		s.Match, s.Team, s.PlanIDs = "", "db",
			[]int64{4, 5}
	})))
	require.EqualValues(t, 0, found(db, of(1, func(s *Silence) { s.Match, s.Plan = "", "p" })),
		"a plan without versions matches nothing")
	require.EqualValues(t, 0, found(db, of(1, func(s *Silence) { s.From = now.Add(time.Second) })))
}

type changing struct {
	list
	tries int
}

func (c *changing) List(context.Context) (Listed, error) {
	c.Version++
	return c.list.Listed, nil
}

func (c *changing) Open(_ context.Context, n incidents.New) (incidents.Opened, error) {
	if c.tries++; n.SilencesVersion < 3 {
		return incidents.Opened{}, incidents.ErrSilencesChanged
	}
	return incidents.Opened{ID: 1}, nil
}

func TestAnIncidentIsOpenedUnderThePresentSilences(t *testing.T) {
	t.Parallel()
	c := &changing{}
	opened, err := Opener{Incidents: c, Current: NewCurrent(c, nil)}.Open(t.Context(), incidents.New{})
	require.NoError(t, err)
	require.EqualValues(t, 1, opened.ID)
	require.Equal(t, 3, c.tries)
}

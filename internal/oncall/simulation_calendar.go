package oncall

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// SimulationCalendar is the Calendar of one simulation: it answers for any instant, however far away, from the calendars as
// they are now, and keeps what it read, so that all of its answers belong together. It is safe for use by many goroutines.
type SimulationCalendar struct {
	store CalendarStore
	conf  LiveConfig
	words LiveCalendar // how answers are worded

	mu    sync.Mutex
	known map[int64][]*TeamCalendar
}

// NewSimulationCalendar returns a calendar over the store.
func NewSimulationCalendar(store CalendarStore, conf LiveConfig) *SimulationCalendar {
	return &SimulationCalendar{store: store, conf: conf.withDefaults(), words: LiveCalendar{zones: map[string]*time.Location{}},
		known: map[int64][]*TeamCalendar{}}
}

// OnCall implements Calendar. A calendar that cannot be read is an error: nobody waits for this page.
func (c *SimulationCalendar) OnCall(ctx context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	calendar, err := c.at(ctx, team.ID, t)
	if err != nil {
		return Answer{}, false, err
	}
	return c.words.answer(calendar, team, role, t, "")
}

// at returns the calendar around an instant: the stretch that the live one would keep by then, beginning at the first
// instant that is asked for.
func (c *SimulationCalendar) at(ctx context.Context, team int64, t time.Time) (*TeamCalendar, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.known[team] {
		if known.Covers(t) {
			return known, nil
		}
	}
	found, err := c.store.TeamCalendars(ctx, []int64{team}, t.Add(-behind), t.Add(c.conf.Ahead))
	if err != nil {
		return nil, fmt.Errorf("read the calendar around %s: %w", t.UTC().Format(time.RFC3339), err)
	}
	calendar := found[team].TeamCalendar
	if calendar == nil {
		calendar = NewTeamCalendar(team, t.Add(-behind), t.Add(c.conf.Ahead), nil)
	}
	c.known[team] = append(c.known[team], calendar)
	return calendar, nil
}

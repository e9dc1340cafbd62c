package oncall

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// SimulationCalendar is the Calendar of one simulation. It answers for any instant, from the calendars as they are now.
// It caches what it read, so that all its answers are consistent. It is safe for concurrent use.
type SimulationCalendar struct {
	store   CalendarStore
	conf    LiveConfig
	answers LiveCalendar // builds the text of answers

	mu    sync.Mutex
	known map[int64][]*TeamCalendar
}

// NewSimulationCalendar returns a calendar over the store.
func NewSimulationCalendar(store CalendarStore, conf LiveConfig) *SimulationCalendar {
	return &SimulationCalendar{store: store, conf: conf.withDefaults(),
		answers: LiveCalendar{zones: map[string]*time.Location{}},
		known:   map[int64][]*TeamCalendar{}}
}

// OnCall implements Calendar. An error of storage is returned, because no page waits for this answer.
func (c *SimulationCalendar) OnCall(ctx context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	calendar, err := c.at(ctx, team.ID, t)
	if err != nil {
		return Answer{}, false, err
	}
	answer, ok := c.answers.answer(calendar, team, role, t, "")
	return answer, ok, nil
}

// NextOnCall implements Calendar. An error of storage is returned.
func (c *SimulationCalendar) NextOnCall(ctx context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	calendar, err := c.at(ctx, team.ID, t)
	if err != nil {
		return Answer{}, false, err
	}
	answer, ok := c.answers.following(calendar, team, role, t, "")
	return answer, ok, nil
}

// at returns the calendar around an instant: the window that the live calendar would cache by then, beginning at the
// first instant that is asked for.
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

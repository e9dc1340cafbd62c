package oncall

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// CalendarStore reads calendars from storage. Teams are named by Team.ID; the answer leaves out those that do not
// exist. It is called from many goroutines.
type CalendarStore interface {
	// CalendarVersions returns a version for each team. It changes whenever an input of the team's TeamCalendar has
	// changed: shifts, subscriptions, or the shifts of the teams it subscribes to.
	CalendarVersions(ctx context.Context, teams []int64) (map[int64]int64, error)
	// TeamCalendars returns the calendars of teams in the window [from, to), each with its version as of that read.
	TeamCalendars(ctx context.Context, teams []int64, from, to time.Time) (map[int64]VersionedCalendar, error)
}

// VersionedCalendar is a calendar and its version. The calendar may be newer than the version, but never older: read
// both in one snapshot, or the version first.
type VersionedCalendar struct {
	*TeamCalendar
	Version int64
}

// LiveConfig configures a LiveCalendar. Zero values mean the defaults.
type LiveConfig struct {
	Keep  time.Duration // how long a version is cached; default 1 s, negative = not at all
	Wait  time.Duration // how long a page waits for storage; default 500 ms
	Ahead time.Duration // how much of the future is cached, for outages of storage; default 8 days
}

func (c LiveConfig) withDefaults() LiveConfig {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&c.Keep, time.Second}, {&c.Wait, 500 * time.Millisecond}, {&c.Ahead, 8 * 24 * time.Hour}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return c
}

// LiveCalendar is the Calendar over storage. It caches the calendar of each team that was asked for, and checks its
// version at most once per Keep, so that an override is paged a second after it was saved. It never delays a page for
// long (promise P8): while storage does not answer, it answers from the cache. If the cache has no calendar of the
// team, it gives no answer, and the rule says so. It is safe for concurrent use.
type LiveCalendar struct {
	store CalendarStore
	conf  LiveConfig

	mu    sync.Mutex
	teams map[int64]liveTeam
	// silent is the instant before which storage is not read again, because a read failed.
	silent time.Time
	zones  map[string]*time.Location
}

// liveTeam is the cached state of a team. A nil calendar means that storage does not have the team.
type liveTeam struct {
	VersionedCalendar
	checked time.Time // storage confirmed the state at this instant or later
}

// NewLiveCalendar returns a calendar over the store.
func NewLiveCalendar(store CalendarStore, conf LiveConfig) *LiveCalendar {
	return &LiveCalendar{store: store, conf: conf.withDefaults(), teams: map[int64]liveTeam{},
		zones: map[string]*time.Location{}}
}

// behind is how much of the past is cached, because clocks differ.
const behind = time.Hour

// Prefetch reads the calendars of teams at once, so that OnCall need not read each. Its only errors are those of ctx.
func (c *LiveCalendar) Prefetch(ctx context.Context, teams []int64) error {
	_ = c.refresh(ctx, teams)
	return ctx.Err()
}

// OnCall implements Calendar. Its only errors are those of ctx.
func (c *LiveCalendar) OnCall(ctx context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	return c.ask(ctx, team, t, func(calendar *TeamCalendar, note string) (Answer, bool) {
		return c.answer(calendar, team, role, t, note)
	})
}

// NextOnCall implements Calendar. Its only errors are those of ctx.
func (c *LiveCalendar) NextOnCall(ctx context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	return c.ask(ctx, team, t, func(calendar *TeamCalendar, note string) (Answer, bool) {
		return c.following(calendar, team, role, t, note)
	})
}

// ask calls answer with the calendar of the team at t. note says how old the calendar is if it cannot be read now.
func (c *LiveCalendar) ask(ctx context.Context, team Team, t time.Time, answer func(*TeamCalendar, string) (Answer, bool)) (Answer, bool, error) {
	failure := c.refresh(ctx, []int64{team.ID})
	if err := ctx.Err(); err != nil {
		return Answer{}, false, err
	}
	c.mu.Lock()
	known := c.teams[team.ID]
	c.mu.Unlock()
	calendar, note := known.TeamCalendar, ""
	switch {
	case failure == nil && (calendar == nil || calendar.Covers(t)):
	case failure == nil:
		if calendar, failure = c.at(ctx, team.ID, t); ctx.Err() != nil {
			return Answer{}, false, ctx.Err()
		}
	case calendar != nil && calendar.Covers(t):
		failure = nil
		note = fmt.Sprintf(", by the calendar as it was at %s, because it cannot be read now",
			known.checked.UTC().Format("15:04:05 UTC"))
	}
	if failure != nil {
		return Answer{Rule: "its calendar cannot be read"}, false, nil
	}
	found, ok := answer(calendar, note)
	return found, ok, nil
}

func (c *LiveCalendar) answer(calendar *TeamCalendar, team Team, role string, t time.Time, note string) (Answer, bool) {
	if calendar == nil {
		return Answer{}, false
	}
	running := calendar.OnCall(role, t)
	if len(running) == 0 {
		if calendar.knows(role) {
			return Answer{Rule: "nobody has a shift" + note, Gap: true}, false
		}
		return Answer{}, false
	}
	_, end := Extent(running)
	return Answer{Users: inOrder(running), Rule: fmt.Sprintf("%s of team %s: shift until %s%s", role, team.Name,
		c.clock(team.TimeZone, end), note)}, true
}

// inOrder returns the holders of shifts in the order of the shifts, without duplicates.
func inOrder(shifts []Shift) []users.ID {
	var out []users.ID
	for _, s := range shifts {
		if !slices.Contains(out, s.User) {
			out = append(out, s.User)
		}
	}
	return out
}

func (c *LiveCalendar) following(calendar *TeamCalendar, team Team, role string, t time.Time, note string) (Answer, bool) {
	if calendar == nil {
		return Answer{}, false
	}
	next := calendar.Following(role, t)
	if len(next) == 0 {
		return Answer{}, false
	}
	return Answer{Users: inOrder(next), Rule: fmt.Sprintf("next %s of team %s: shift from %s%s", role, team.Name,
		c.clock(team.TimeZone, next[0].Start), note)}, true
}

// clock formats an instant in a zone; an unknown zone counts as UTC.
func (c *LiveCalendar) clock(name string, t time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	zone, ok := c.zones[name]
	if !ok {
		var err error
		if zone, err = time.LoadLocation(name); err != nil {
			zone = time.UTC
		}
		c.zones[name] = zone
	}
	return t.In(zone).Format("Mon 2006-01-02 15:04 MST")
}

// at reads the calendar around an instant outside the cached window, such as one of a simulation.
func (c *LiveCalendar) at(ctx context.Context, team int64, t time.Time) (*TeamCalendar, error) {
	ctx, cancel := c.patience(ctx)
	defer cancel()
	found, err := c.store.TeamCalendars(ctx, []int64{team}, t, t.Add(time.Second))
	if err != nil {
		return nil, err
	}
	return found[team].TeamCalendar, nil
}

// refresh makes sure that the cached state of the teams was checked within Keep.
func (c *LiveCalendar) refresh(ctx context.Context, teams []int64) error {
	now := time.Now()
	stale, silent := c.stale(now, teams)
	if len(stale) == 0 {
		return nil
	}
	if silent {
		return errSilent
	}
	reading, cancel := c.patience(ctx)
	defer cancel()
	fresh, err := c.read(reading, now, stale)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			c.silent = time.Now().Add(c.conf.Keep)
		}
		return err
	}
	c.silent = time.Time{}
	for id, team := range fresh {
		if !team.checked.Before(c.teams[id].checked) {
			c.teams[id] = team
		}
	}
	return nil
}

// patience bounds a read by Wait and by half of the caller's remaining time, so that an answer from the cache is still
// in time.
func (c *LiveCalendar) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	wait := c.conf.Wait
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/2)
	}
	return context.WithTimeout(ctx, wait)
}

// errSilent is returned without a read, because a read failed less than Keep ago.
var errSilent = fmt.Errorf("the storage of calendars did not answer a moment ago")

func (c *LiveCalendar) stale(now time.Time, teams []int64) (stale []int64, silent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range teams {
		if known, ok := c.teams[id]; (!ok || now.Sub(known.checked) >= c.conf.Keep) && !slices.Contains(stale, id) {
			stale = append(stale, id)
		}
	}
	return stale, now.Before(c.silent)
}

// read returns the teams as of now. It keeps the cached state if its version is the same and its window is long enough.
func (c *LiveCalendar) read(ctx context.Context, now time.Time, teams []int64) (map[int64]liveTeam, error) {
	versions, err := c.store.CalendarVersions(ctx, teams)
	if err != nil {
		return nil, err
	}
	out := map[int64]liveTeam{}
	var changed []int64
	c.mu.Lock()
	for _, id := range teams {
		known := c.teams[id]
		version, exists := versions[id]
		switch {
		case !exists:
			out[id] = liveTeam{checked: now}
		case known.TeamCalendar != nil && known.Version == version && known.to.Sub(now) > c.conf.Ahead/2:
			known.checked = now
			out[id] = known
		default:
			changed = append(changed, id)
		}
	}
	c.mu.Unlock()
	if len(changed) == 0 {
		return out, nil
	}
	calendars, err := c.store.TeamCalendars(ctx, changed, now.Add(-behind), now.Add(c.conf.Ahead))
	if err != nil {
		return nil, err
	}
	for _, id := range changed {
		out[id] = liveTeam{VersionedCalendar: calendars[id], checked: now}
	}
	return out, nil
}

// Fixed is a Calendar of calendars in memory, by Team.ID, for simulations and tests. It has no answer for a missing
// team or an instant outside of the window.
type Fixed map[int64]*TeamCalendar

// OnCall implements Calendar.
func (f Fixed) OnCall(_ context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	calendar := f[team.ID]
	if calendar != nil && !calendar.Covers(t) {
		return Answer{Rule: "its calendar is not known then"}, false, nil
	}
	answer, ok := (&LiveCalendar{zones: map[string]*time.Location{}}).answer(calendar, team, role, t, "")
	return answer, ok, nil
}

// NextOnCall implements Calendar.
func (f Fixed) NextOnCall(_ context.Context, team Team, role string, t time.Time) (Answer, bool, error) {
	calendar := f[team.ID]
	if calendar != nil && !calendar.Covers(t) {
		calendar = nil
	}
	answer, ok := (&LiveCalendar{zones: map[string]*time.Location{}}).following(calendar, team, role, t, "")
	return answer, ok, nil
}

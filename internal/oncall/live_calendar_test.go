package oncall

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

// fakeStore holds shifts of teams; hang makes it wait until its context ends.
type fakeStore struct {
	mu       sync.Mutex
	shifts   map[int64][]Shift
	versions map[int64]int64
	checks   int
	reads    int
	fail     error
	hang     bool
}

func (f *fakeStore) set(team int64, shifts ...Shift) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shifts[team] = shifts
	f.versions[team]++
}

func (f *fakeStore) failure(ctx context.Context) error {
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.fail
}

func (f *fakeStore) CalendarVersions(ctx context.Context, teams []int64) (map[int64]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checks++
	out := map[int64]int64{}
	for _, id := range teams {
		if v, ok := f.versions[id]; ok {
			out[id] = v
		}
	}
	return out, f.failure(ctx)
}

func (f *fakeStore) TeamCalendars(ctx context.Context, teams []int64, from, to time.Time) (map[int64]VersionedCalendar, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	out := map[int64]VersionedCalendar{}
	for _, id := range teams {
		out[id] = VersionedCalendar{NewTeamCalendar(id, from, to, f.shifts[id]), f.versions[id]}
	}
	return out, f.failure(ctx)
}

func newStore() *fakeStore {
	return &fakeStore{shifts: map[int64][]Shift{}, versions: map[int64]int64{}}
}

func TestAnOverrideIsPagedOneSecondAfterItWasSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		store := newStore()
		store.set(7, Shift{ID: 1, TeamID: 7, Role: RolePrimary, User: 3, Start: start.Add(-time.Hour),
			End: start.Add(30 * 24 * time.Hour)})
		dir := newDirectory()
		team := dir.teams[101]
		team.ID, team.TimeZone = 7, "Europe/Zurich"
		dir.teams[101] = team
		r := NewResolver(dir, NewLiveCalendar(store, LiveConfig{}), DefaultKeep)
		ask := func(role string) Answer {
			answer, err := r.Resolve(t.Context(), Query{Role: role, TargetID: 101}, time.Now())
			require.NoError(t, err)
			return answer
		}
		require.Equal(t, Answer{Users: []users.ID{3},
			Rule: "primary of team db: shift until Mon 2000-01-31 01:00 CET"}, ask("oncall"))
		require.Equal(t, Answer{Users: []users.ID{1},
			Rule: "secondary of team db: first in its fixed order, because the second is already on call in another role"},
			ask("oncall-secondary"))
		require.Equal(t, "shift until Mon 2000-01-31 01:00 CET",
			ask("oncall-PRIMARY").Rule[len("primary of team db: "):])
		require.Equal(t, 1, store.checks, "checked once a second")

		store.set(7, Shift{ID: 2, TeamID: 7, Role: RolePrimary, User: 1, Start: start,
			End: start.Add(30 * 24 * time.Hour)})
		<-time.After(time.Second) // the clock of the bubble
		require.Equal(t, []users.ID{1}, ask("oncall").Users)
		require.Equal(t, 2, store.reads)
		<-time.After(time.Second) // the clock of the bubble
		ask("oncall")
		require.Equal(t, 2, store.reads, "read again only when it has changed")
		require.Equal(t, 3, store.checks)

		// After some days the window must move forward.
		<-time.After(5 * 24 * time.Hour) // the clock of the bubble
		require.Equal(t, []users.ID{1}, ask("oncall").Users)
		require.Equal(t, 3, store.reads)

		// The fixed order fills a gap, and the rule on the timeline says so.
		store.set(7, Shift{ID: 2, TeamID: 7, Role: RolePrimary, User: 3, Start: time.Now().Add(time.Hour),
			End: time.Now().Add(2 * time.Hour)})
		<-time.After(time.Second) // the clock of the bubble
		require.Equal(t, Answer{Users: []users.ID{1},
			Rule: "primary of team db: first in its fixed order (nobody has a shift)"}, ask("oncall"))

		// A query for shifts only finds nobody in a gap, except for a role that never had a shift.
		onlyShifts := func(role string) Answer {
			answer, err := r.Resolve(t.Context(), Query{Role: role, TargetID: 101, OnlyShifts: true}, time.Now())
			require.NoError(t, err)
			return answer
		}
		require.Equal(t, Answer{Rule: "nobody is primary of team db: nobody has a shift", Gap: true},
			onlyShifts("oncall-primary"))
		require.NotEmpty(t, onlyShifts("oncall-secondary").Users)
		require.Equal(t, []users.ID{3}, onlyShifts(RoleNextOnCall).Users, "the next shift is known")
	})
}

func TestPagesAreSentWhenTheCalendarCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(*fakeStore){
		"it fails": func(f *fakeStore) { f.fail = errors.New("the database is away") },
		"it hangs": func(f *fakeStore) { f.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := newStore()
				running := Shift{ID: 1, TeamID: 7, Role: RolePrimary, User: 3, Start: time.Now(),
					End: time.Now().Add(time.Hour)}
				next := Shift{ID: 2, TeamID: 7, Role: RolePrimary, User: 4, Start: running.End,
					End: running.End.Add(1000 * time.Hour)}
				store.set(7, running, next)
				store.set(8, running)
				c := NewLiveCalendar(store, LiveConfig{})
				ask := func(team int64) (Answer, bool) {
					asked := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					answer, ok, err := c.OnCall(ctx, Team{ID: team, Name: "db"}, RolePrimary, time.Now())
					require.NoError(t, err)
					require.LessOrEqual(t, time.Since(asked), 500*time.Millisecond)
					return answer, ok
				}
				answer, ok := ask(7)
				require.True(t, ok)
				require.Equal(t, "primary of team db: shift until Sat 2000-01-01 01:00 UTC", answer.Rule)

				breakIt(store)
				<-time.After(2 * time.Hour) // the clock of the bubble
				answer, ok = ask(7)
				require.True(t, ok)
				require.Equal(t, []users.ID{4}, answer.Users, "the hand-off it knew of happens")
				require.Equal(t, "primary of team db: shift until Fri 2000-02-11 17:00 UTC, by the calendar as it was at 00:00:00 UTC, because it cannot be read now", answer.Rule)
				checks := store.checks
				answer, ok = ask(8)
				require.False(t, ok)
				require.Equal(t, "its calendar cannot be read", answer.Rule)
				require.Equal(t, checks, store.checks, "not asked again at once")

				<-time.After(9 * 24 * time.Hour) // the clock of the bubble
				answer, ok = ask(7)
				require.False(t, ok, "%v", answer)
				store.fail, store.hang = nil, false
				<-time.After(2 * time.Second) // the clock of the bubble
				_, ok = ask(7)
				require.True(t, ok)

				// Only the end of the caller's context gives an error.
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_, _, err := c.OnCall(ctx, Team{ID: 7}, RolePrimary, time.Now())
				require.ErrorIs(t, err, context.Canceled)
			})
		})
	}
}

func TestManyTeamsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	store := newStore()
	c := NewLiveCalendar(store, LiveConfig{Keep: time.Hour})
	var ids []int64
	for id := range int64(100) {
		store.set(id, Shift{ID: 1, TeamID: id, Role: RolePrimary, User: 1, Start: time.Now().Add(-time.Hour),
			End: time.Now().Add(time.Hour)})
		ids = append(ids, id)
	}
	require.NoError(t, c.Prefetch(t.Context(), ids))
	var group sync.WaitGroup
	for id := range int64(100) {
		group.Go(func() {
			_, ok, err := c.OnCall(context.Background(), Team{ID: id}, RolePrimary, time.Now())
			if !ok || err != nil {
				t.Errorf("team %d: %v %v", id, ok, err)
			}
		})
	}
	group.Wait()
	require.Equal(t, 1, store.checks)
	require.Equal(t, 1, store.reads)
	// An instant outside the cached window gets its own read. A team that does not exist has no answer.
	_, ok, err := c.OnCall(t.Context(), Team{ID: 5}, RolePrimary, time.Now().Add(100*24*time.Hour))
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, 2, store.reads)
	answer, ok, err := c.OnCall(t.Context(), Team{ID: 1000}, RolePrimary, time.Now())
	require.NoError(t, err)
	require.False(t, ok)
	require.Empty(t, answer.Rule)
}

func TestFixedCalendars(t *testing.T) {
	t.Parallel()
	fixed := Fixed{7: NewTeamCalendar(7, in(0), in(10), []Shift{shift(1, RolePrimary, 1, in(0), in(5))})}
	answer, ok, err := fixed.OnCall(t.Context(), Team{ID: 7, Name: "db"}, RolePrimary, in(4))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, Answer{Users: []users.ID{1}, Rule: "primary of team db: shift until Wed 2026-06-10 17:00 UTC"},
		answer)
	for at, why := range map[int]string{5: "nobody has a shift", 10: "its calendar is not known then"} {
		answer, ok, err = fixed.OnCall(t.Context(), Team{ID: 7, Name: "db"}, RolePrimary, in(at))
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, why, answer.Rule)
	}
}

package rate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// An application with a limit of its own gets all of it while work waits, and the others share the rest of the
// account's rate evenly, however many processes take part.
func TestTheRestOfANarrowLimitIsShared(t *testing.T) {
	account := AccountKey("smtp", "main")
	for _, c := range []struct {
		processes int
		limits    map[string]Limit
		want      map[string]float64
	}{
		{1, map[string]Limit{account: {40, 1}, ApplicationKey("gamma", users.Email): {5, 1}},
			map[string]float64{"alpha": 17.5, "beta": 17.5, "gamma": 5}},
		{3, map[string]Limit{account: {40, 1}, ApplicationKey("gamma", users.Email): {5, 1}},
			map[string]float64{"alpha": 17.5, "beta": 17.5, "gamma": 5}},
		{3, map[string]Limit{account: {40, 1}}, map[string]float64{"alpha": 13.33, "beta": 13.33, "gamma": 13.33}},
		{3, map[string]Limit{account: {40, 1}, ApplicationKey("gamma", users.Email): {30, 1}},
			map[string]float64{"alpha": 13.33, "beta": 13.33, "gamma": 13.33}},
		{2, map[string]Limit{account: {40, 1}, ApplicationKey("gamma", users.Email): {5, 1},
			ApplicationKey("beta", users.Email): {7, 1}}, map[string]float64{"alpha": 28, "beta": 7, "gamma": 5}},
		{2, map[string]Limit{account: {40, 1}, ModeKey(users.Email): {20, 1},
			ApplicationKey("gamma", users.Email): {5, 1}}, map[string]float64{"alpha": 7.5, "beta": 7.5, "gamma": 5}},
		{3, map[string]Limit{account: {40, 1}, ModeKey(users.Email): {20, 1},
			ApplicationKey("gamma", users.Email): {5, 1}}, map[string]float64{"alpha": 7.5, "beta": 7.5, "gamma": 5}},
		{3, map[string]Limit{account: {40, 1}, ModeKey(users.Email): {20, 1},
			ApplicationKey("gamma", users.Email): {5, 1}, ApplicationKey("beta", users.Email): {7, 1}},
			map[string]float64{"alpha": 8, "beta": 7, "gamma": 5}},
		{5, map[string]Limit{account: {40, 1}, ModeKey(users.Email): {20, 1},
			ApplicationKey("gamma", users.Email): {5, 1}, ApplicationKey("beta", users.Email): {7, 1}},
			map[string]float64{"alpha": 8, "beta": 7, "gamma": 5}},
	} {
		t.Run(fmt.Sprint(c.processes, c.limits), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const length = 60 * time.Second
				rows := &lockedRows{rows: limitRows{}}
				names := []string{"alpha", "beta", "gamma"}
				var work []Waiting
				var keys []Key
				for i, n := range names {
					lane := Lane{users.Email, messages.Class(0), int64(i + 1)}
					keys = append(keys, Key{lane.Class, lane.Application})
					for b := range 256 {
						work = append(work, Waiting{Lane: lane, ApplicationName: n, Bucket: b})
					}
				}
				var mu sync.Mutex
				got := map[string]float64{}
				ended := time.Now().Add(length)
				var all sync.WaitGroup
				for p := range c.processes {
					s := NewShared(rows, c.limits, silentObserver{})
					s.Demand.Add(work)
					all.Go(func() {
						<-time.After(time.Duration(1+7*p) * time.Millisecond)
						d := NewDealer(s, users.Email)
						for time.Now().Before(ended) {
							now := time.Now()
							for o := range c.processes {
								if o != p {
									s.Peers.Update(now, fmt.Sprint(o), EncodeDemand(s.Demand.All()))
								}
							}
							turns, again := d.Choose(t.Context(), now, keys,
								Account{Key: account, Modes: []users.Mode{users.Email}}, 50)
							mu.Lock()
							for _, turn := range turns {
								require.True(t, turn.Limited)
								got[names[turn.Key.Application-1]] += 1 / length.Seconds()
							}
							mu.Unlock()
							wait := 250 * time.Millisecond
							d.Pace.Passed(time.Since(now))
							if len(turns) > 0 {
								wait = time.Duration(2+rand.IntN(6)) * time.Millisecond
								d.Pace.Prepared(60 * time.Millisecond)
							} else if !again.IsZero() {
								wait = min(wait, max(time.Millisecond, time.Until(again)))
							}
							<-time.After(wait)
						}
					})
				}
				all.Wait()
				for _, n := range names {
					require.GreaterOrEqual(t, got[n], 0.95*c.want[n], "%v", got)
					require.LessOrEqual(t, got[n], 1.08*c.want[n], "with what the others cannot use: %v", got)
				}
			})
		})
	}
}

// A lane whose own limit is less than its share of the wider limit is small, whatever this process has dealt to it.
func TestSmallLanes(t *testing.T) {
	t.Parallel()
	s := NewShared(nil, map[string]Limit{ApplicationKey("beta", users.Email): {7, 1},
		ApplicationKey("gamma", users.Email): {5, 1}}, silentObserver{})
	lane := func(c messages.Class, app int64) Lane { return Lane{users.Email, c, app} }
	for i, n := range []string{"alpha", "beta", "gamma"} {
		s.Demand.Add([]Waiting{{Lane: lane(0, int64(i+1)), ApplicationName: n}})
	}
	d := NewDealer(s, users.Email)
	sharing := func(x Lane) bool { return x.Application != 9 }
	all := []Lane{lane(0, 1), lane(0, 2), lane(0, 3), lane(0, 9)}
	other := map[Lane]bool{lane(0, 2): true, {users.SMS, 0, 1}: true, {users.SMS, 0, 2}: true}
	for _, c := range []struct {
		rate   float64
		own    []Lane
		others []map[Lane]bool
		want   map[Key]bool
	}{
		{20, all, nil, map[Key]bool{{0, 2}: true, {0, 3}: true}},
		{18, all, nil, map[Key]bool{{0, 3}: true}}, // 5, then 6.5 each
		{20, all, []map[Lane]bool{other},
			map[Key]bool{}}, // five lanes
		{30, all, []map[Lane]bool{other},
			map[Key]bool{{0, 3}: true}}, // 5, then 6.25 each
		{12, all[1:], nil, map[Key]bool{{0, 2}: true, {0,
			3}: true}}, // no other lane
		{20, append(all, lane(1, 2), lane(1, 3)), nil,
			map[Key]bool{{0, 3}: true}}, // 18 and 2
		{200, append(all, lane(1, 2), lane(1, 3)), nil, map[Key]bool{{0, 2}: true, {0, 3}: true, {1, 2}: true,
			{1, 3}: true}}, // 180 and 20
	} {
		require.Equal(t, c.want, d.small(limited{limit: Limit{c.rate, 1}, sharing: sharing}, c.own, c.others), "%v", c)
	}
}

// lockedRows are limitRows for several processes.
type lockedRows struct {
	mu   sync.Mutex
	rows limitRows
}

// way is how long a request, or an answer, takes.
func (l *lockedRows) way() time.Duration {
	return time.Duration(500+rand.IntN(4000)) * time.Microsecond
}

func (l *lockedRows) Reserve(ctx context.Context, r Reservation) (Granted, error) {
	<-time.After(l.way())
	defer func() { <-time.After(l.way()) }()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows.Reserve(ctx, r)
}

// silentObserver ignores what it is told.
type silentObserver struct{}

func (silentObserver) SlotsExpired(string, int)    {}
func (silentObserver) ReserveFailed(string, error) {}

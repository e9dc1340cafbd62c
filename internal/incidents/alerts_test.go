package incidents

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 3, 4, 2, 11, 30, 500000000, time.UTC)

func TestLateFiringDeliveriesAreFoundByFingerprintAndStart(t *testing.T) {
	t.Parallel()
	usual := Late{Within: 2 * time.Minute, Hold: 6 * time.Minute}
	fires := func(name string, at time.Time) Alert { return Alert{Fingerprint: name, Firing: true, StartsAt: at} }
	over := Alert{Fingerprint: "gone", StartsAt: start}
	known := map[string]KnownAlert{"a": {StartsAt: start}, "b": {StartsAt: start},
		"burns": {Firing: true, StartsAt: start}, "undated": {}}
	for name, c := range map[string]struct {
		rule  Late
		came  []Alert
		since time.Duration
		want  bool
	}{
		"the same occurrence": {usual, []Alert{fires("a", start)}, time.Second, true},
		"written in another zone": {usual, []Alert{fires("a", start.In(time.FixedZone("x", 3600)))},
			time.Second, true},
		"all of the group": {usual, []Alert{fires("a", start), fires("b", start)}, time.Second,
			true},
		"with resolved ones, which say nothing": {usual, []Alert{fires("a", start), over}, time.Second, true},
		"at the last instant":                   {usual, []Alert{fires("a", start)}, 2 * time.Minute, true},
		"too late": {usual, []Alert{fires("a", start)}, 2*time.Minute + time.Microsecond,
			false},
		"another start": {usual, []Alert{fires("a", start.Add(time.Second))}, time.Second,
			false},
		"one alert more": {usual, []Alert{fires("a", start), fires("c", start)}, time.Second,
			false},
		"an alert that was never resolved":      {usual, []Alert{fires("burns", start)}, time.Second, false},
		"no start":                              {usual, []Alert{fires("a", time.Time{})}, time.Second, false},
		"no start on either side":               {usual, []Alert{fires("undated", time.Time{})}, time.Second, false},
		"nothing fires":                         {usual, []Alert{over}, time.Second, false},
		"no alerts at all":                      {usual, nil, time.Second, false},
		"the source holds none: within is zero": {Late{Hold: time.Minute}, []Alert{fires("a", start)}, 0, false},
		"the source holds none: hold is zero":   {Late{Within: time.Minute}, []Alert{fires("a", start)}, 0, false},
		"a setting of the source that is longer": {Late{Within: time.Hour, Hold: time.Minute},
			[]Alert{fires("a", start)}, time.Hour, true},
	} {
		require.Equal(t, c.want, c.rule.Holds(c.came, known, c.since), name)
	}
}

func TestNewAlertsOfAnOpenIncident(t *testing.T) {
	t.Parallel()
	usual := Late{Within: 2 * time.Minute, Hold: 6 * time.Minute}
	for name, c := range map[string]struct {
		came  Alert
		known map[string]KnownAlert
		want  int
	}{
		"unknown": {Alert{Fingerprint: "a", Firing: true}, nil, 1},
		"known": {Alert{Fingerprint: "a", Firing: true, StartsAt: start},
			map[string]KnownAlert{"a": {Firing: true, StartsAt: start}}, 0},
		"known, without starts": {Alert{Fingerprint: "a", Firing: true},
			map[string]KnownAlert{"a": {Firing: true}}, 0},
		"started again": {Alert{Fingerprint: "a", Firing: true, StartsAt: start.Add(1)},
			map[string]KnownAlert{"a": {Firing: true, StartsAt: start}}, 1},
		"resolved": {Alert{Fingerprint: "a"}, nil, 0},
		"back, but the delivery is late": {Alert{Fingerprint: "a", Firing: true, StartsAt: start},
			map[string]KnownAlert{"a": {StartsAt: start, Unchanged: time.Minute}}, 0},
		"back after a while": {Alert{Fingerprint: "a", Firing: true, StartsAt: start},
			map[string]KnownAlert{"a": {StartsAt: start, Unchanged: 3 * time.Minute}}, 1},
		"back, without starts": {Alert{Fingerprint: "a", Firing: true},
			map[string]KnownAlert{"a": {Unchanged: time.Second}}, 1},
	} {
		require.Equal(t, c.want, usual.New([]Alert{c.came}, c.known), name)
	}
}

func TestWhenAnExhaustedPlanStartsAgain(t *testing.T) {
	t.Parallel()
	now := start
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	var hourly, crowded []time.Time
	for i := range RestartsPerDay {
		hourly = append(hourly, ago(time.Duration(RestartsPerDay-i)*59*time.Minute))
		crowded = append(crowded, ago(time.Duration(RestartsPerDay-i)*10*time.Minute))
	}
	never := time.Time{}
	for name, c := range map[string]struct {
		e    Exhaustion
		news bool
		want time.Time
	}{
		"a new alert": {Exhaustion{At: ago(time.Second), RepageAfter: time.Hour}, true, now},
		"a new alert, exhausted before the upgrade": {Exhaustion{RepageAfter: time.Hour}, true, now},
		"a new alert a minute after a restart": {Exhaustion{At: ago(0), Restarts: []time.Time{ago(time.Minute)}},
			true, now.Add(4 * time.Minute)},
		"a new alert five minutes after a restart": {Exhaustion{At: ago(0),
			Restarts: []time.Time{ago(5 * time.Minute)}}, true, now},
		"a new alert after 24 restarts today": {Exhaustion{At: ago(0), Restarts: crowded}, true,
			crowded[0].Add(24 * time.Hour)},
		"a new alert after 24 within 23.6 hours": {Exhaustion{At: ago(0), Restarts: hourly}, true,
			hourly[0].Add(24 * time.Hour)},
		"a repeat too early": {Exhaustion{At: ago(time.Hour - 1), RepageAfter: time.Hour},
			false, never},
		"a repeat after an hour": {Exhaustion{At: ago(time.Hour), RepageAfter: time.Hour}, false,
			now},
		"a repeat where the plan says never":     {Exhaustion{At: ago(time.Hour)}, false, never},
		"a repeat, exhausted before the upgrade": {Exhaustion{RepageAfter: time.Hour}, false, never},
		"a repeat within five minutes": {Exhaustion{At: ago(time.Minute), RepageAfter: time.Minute,
			Restarts: []time.Time{ago(2 * time.Minute)}}, false, never},
		"a repeat after 24 restarts today": {Exhaustion{At: ago(time.Hour), RepageAfter: time.Hour,
			Restarts: crowded}, false, never},
	} {
		require.Equal(t, c.want, c.e.Restart(c.news, now), name)
	}
}

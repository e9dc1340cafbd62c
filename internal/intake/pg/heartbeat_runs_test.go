package pg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	domain "github.com/iris-oncall/iris/internal/intake/heartbeats"
)

// say stores a call of the heartbeat a, so many seconds after begin.
func (f *fixture) say(begin time.Time, seconds int, signal domain.Signal, run, text string) {
	f.Helper()
	p := ping("a")
	p.Signal, p.Run, p.Text = signal, run, text
	got, err := f.at(begin.Add(time.Duration(seconds)*time.Second)).Ping(f.Context(), p)
	require.NoError(f, err)
	require.NotZero(f, got.Heartbeat)
}

// runs are the stored runs, latest first.
func (f *fixture) runs() (out []string) {
	f.Helper()
	runs, err := f.store.Runs(f.Context(), f.one("a").ID)
	require.NoError(f, err)
	for _, r := range runs {
		took := "-"
		if !r.EndedAt.IsZero() {
			took = r.EndedAt.Sub(r.StartedAt).String()
		}
		out = append(out, fmt.Sprint(r.Name, " ", r.Outcome, " ", took))
	}
	return out
}

func TestRunsAreToldApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Minute)
	begin := time.Now().Add(time.Hour).Truncate(time.Second)
	f.say(begin, 0, domain.Start, "", "")
	f.say(begin, 5, domain.Start, "x", "")
	require.True(t, f.one("a").StartedAt.Equal(begin), "the oldest")
	require.Zero(t, f.one("a").LastPingAt, "a start is no ping")
	f.say(begin, 7, domain.Success, "", "")
	require.Equal(t, []string{"x running -", " succeeded 7s"}, f.runs())
	require.Equal(t, 7*time.Second, f.one("a").LastRun)
	require.True(t, f.one("a").StartedAt.Equal(begin.Add(5*time.Second)))
	f.say(begin, 8, domain.Fail, "x", "disk full")
	require.Equal(t, []string{"x failed 3s", " succeeded 7s"}, f.runs())
	require.Zero(t, f.one("a").StartedAt)
	f.say(begin, 9, domain.Success, "x", "")
	require.Equal(t, []string{"x failed 3s", " succeeded 7s"}, f.runs(), "it has ended")

	// A start without an end: the next run of that name measures its own time, but does not move the deadline.
	f.say(begin, 10, domain.Start, "", "")
	f.say(begin, 20, domain.Start, "", "")
	require.True(t, f.one("a").StartedAt.Equal(begin.Add(10*time.Second)))
	f.say(begin, 24, domain.Success, "", "")
	require.Equal(t, []string{" succeeded 4s", " lost -"}, f.runs()[:2])
	for k := range domain.MaxRuns + 5 {
		f.say(begin, 30+k, domain.Start, fmt.Sprint(k), "")
	}
	require.Len(t, f.runs(), domain.MaxRuns)
}

func TestAFailureIsReportedAtOnceAndASuccessEndsIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Hour)
	begin := time.Now().Add(time.Hour).Truncate(time.Second)
	decide := func() domain.Action {
		t.Helper()
		due, r, err := f.store.Due(t.Context(), all())
		require.NoError(t, err)
		if len(due) == 0 {
			return domain.Nothing
		}
		return domain.Decide(due[0], r)
	}
	f.say(begin, 0, domain.Log, "", "only a text")
	require.Equal(t, domain.Waiting, f.one("a").State())
	require.Equal(t, domain.Nothing, decide())
	f.say(begin, 1, domain.Success, "", "")
	f.say(begin, 2, domain.Fail, "", "disk full")
	require.Equal(t, domain.Report, decide())
	read := f.one("a")
	require.Equal(t, "the program said that it failed", read.Failure)
	text, err := f.store.Text(t.Context(), read.ID)
	require.NoError(t, err)
	require.Equal(t, "disk full", text.Body)
	require.True(t, text.At.Equal(read.MissedAt))

	f.say(begin, 3, domain.Fail, "", "")
	require.NoError(t, f.store.Reported(t.Context(), read, 42))
	require.Equal(t, domain.Report, decide(), "it failed again meanwhile")
	require.NoError(t, f.store.Reported(t.Context(), f.one("a"), 42))
	require.Equal(t, domain.Nothing, decide())

	// A success soon after another call of the same half second ends the failure too.
	f.exec("update heartbeats set last_ping_at = missed_at - interval '1 millisecond'")
	p := ping("a")
	_, err = f.at(begin.Add(3*time.Second+time.Millisecond)).Ping(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, domain.Resolve, decide())
	require.NoError(t, f.store.Ended(t.Context(), f.one("a")))
	require.Empty(t, f.one("a").Failure)
	require.Equal(t, domain.Alive, f.one("a").State())

	f.exec("update heartbeats set enabled = false")
	f.say(begin, 9, domain.Fail, "", "")
	require.Zero(t, f.one("a").MissedAt, "it is switched off")
}

func TestARunThatHangsIsMissedOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("a", time.Minute)
	begin := time.Now().Add(time.Hour).Truncate(time.Second)
	f.say(begin, 0, domain.Start, "hangs", "")
	f.say(begin, 30, domain.Start, "works", "")
	f.say(begin, 55, domain.Success, "", "")
	h, r := f.one("a"), domain.Reception{LastAt: begin.Add(61 * time.Second)}
	require.Equal(t, domain.Miss, domain.Decide(h, r))
	lease := buckets.Lease{Bucket: int(int64(h.ID) % buckets.Count), Epoch: 1}
	at, err := f.at(r.LastAt).Miss(t.Context(), process, lease, h.Missing(r), h.Overdue(r))
	require.NoError(t, err)
	require.NotZero(t, at)
	require.Equal(t, []string{"works running -", "hangs lost -"}, f.runs())
	require.Contains(t, f.one("a").Failure, "has not ended")
	f.say(begin, 70, domain.Success, "works", "")
	require.NoError(t, f.store.Ended(t.Context(), f.one("a")))
	require.Equal(t, domain.Nothing, domain.Decide(f.one("a"), r), "the lost run is no further miss")
	f.say(begin, 100, domain.Success, "hangs", "")
	require.Equal(t, []string{"works succeeded 40s", "hangs succeeded 1m40s"}, f.runs(), "its time is known")
}

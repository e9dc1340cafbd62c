package heartbeats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
)

func TestSignals(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]heartbeats.Signal{"start": heartbeats.Start, "fail": heartbeats.Fail,
		"log": heartbeats.Log, "0": heartbeats.Success, "1": heartbeats.Fail, "255": heartbeats.Fail} {
		p, known := heartbeats.Ping{}.As(word)
		require.True(t, known, word)
		require.Equal(t, want, p.Signal, word)
	}
	for _, word := range []string{"", "success", "Start", "256", "-1", "1.0", "+1", "99999999999999999999"} {
		_, known := heartbeats.Ping{}.As(word)
		require.False(t, known, word)
	}
	p, _ := heartbeats.Ping{}.As("3")
	require.Equal(t, "the program ended with exit code 3", p.Failure())
}

func TestARunThatDoesNotEndIsAMiss(t *testing.T) {
	t.Parallel()
	content := heartbeats.Content{Name: "backup", Every: 10 * time.Minute, Grace: 2 * time.Minute, Enabled: true}
	r := func(last int) heartbeats.Reception { return heartbeats.Reception{LastAt: at(last), Since: at(-100)} }
	first := heartbeats.Heartbeat{Content: content, StartedAt: at(0)}
	require.Equal(t, heartbeats.Alive, first.State())
	require.Equal(t, heartbeats.Nothing, heartbeats.Decide(first, r(11)))
	require.Equal(t, heartbeats.Miss, heartbeats.Decide(first, r(12)), "it was never pinged")
	require.Equal(t, at(12), first.NextCheck(r(0)))

	hangs := heartbeats.Heartbeat{Content: content, StartedAt: at(0), LastPingAt: at(10)}
	require.Equal(t, heartbeats.Miss, heartbeats.Decide(hangs, r(12)), "pings of other runs do not end it")
	require.Equal(t, "the run that began at 2026-11-22 00:00:00 UTC has not ended", hangs.Missing(r(12)).Failure)

	begins := heartbeats.Heartbeat{Content: content, StartedAt: at(11), LastPingAt: at(0)}
	require.Equal(t, heartbeats.Miss, heartbeats.Decide(begins, r(12)), "a start is no ping")
	require.Empty(t, begins.Missing(r(12)).Failure)
}

func TestAFailureHasItsTextInTheEvent(t *testing.T) {
	t.Parallel()
	h := heartbeats.Heartbeat{ID: 7, MissedAt: at(1), Failure: "the program ended with exit code 3",
		Content: heartbeats.Content{Name: "backup", Description: "See the wiki.", Every: time.Minute}}
	long := strings.Repeat("é", 400)
	e := h.Event(intake.Firing, heartbeats.Text{At: at(1), Signal: heartbeats.Fail, Body: long})
	require.Equal(t, "Heartbeat backup failed", e.Title)
	require.Equal(t, "The program ended with exit code 3. "+long[:500]+" See the wiki.", e.Summary)
	require.Contains(t, string(e.Context), long)
	require.NotContains(t, string(e.Context), "last_ping_at", "it was never pinged")
	require.Equal(t, "The program ended with exit code 3. See the wiki.",
		h.Event(intake.Firing, heartbeats.Text{At: at(0), Body: "of an earlier call"}).Summary)
}

func TestCut(t *testing.T) {
	t.Parallel()
	require.Equal(t, "aé", heartbeats.Cut("aéé", 4))
	require.Equal(t, "aéé", heartbeats.Cut("aéé", 5))
	require.Empty(t, heartbeats.Cut("é", 1))
}

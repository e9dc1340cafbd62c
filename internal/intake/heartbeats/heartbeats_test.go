package heartbeats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

var midnight = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return midnight.Add(time.Duration(minutes) * time.Minute) }

func TestDecide(t *testing.T) {
	t.Parallel()
	content := heartbeats.Content{Name: "backup", Every: 10 * time.Minute, Grace: 2 * time.Minute, Enabled: true}
	off := content
	off.Enabled = false
	always := func(last int) heartbeats.Reception { return heartbeats.Reception{LastAt: at(last), Since: at(-100)} }
	for name, c := range map[string]struct {
		h    heartbeats.Heartbeat
		r    heartbeats.Reception
		want heartbeats.Action
	}{
		"never pinged": {heartbeats.Heartbeat{Content: content, Since: at(0)}, always(1000),
			heartbeats.Nothing},
		"within the interval": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0)}, always(10),
			heartbeats.Nothing},
		"within the grace": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0)}, always(11),
			heartbeats.Nothing},
		"at the deadline": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0)}, always(12),
			heartbeats.Miss},
		"switched off": {heartbeats.Heartbeat{Content: off, LastPingAt: at(0)}, always(1000),
			heartbeats.Nothing},
		"switched on later": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0), Since: at(5)},
			always(12), heartbeats.Nothing},
		"a whole interval since switched on": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0), Since: at(5)},
			always(17), heartbeats.Miss},
		"an outage in progress": {
			heartbeats.Heartbeat{Content: content, LastPingAt: at(0)}, heartbeats.Reception{LastAt: at(11),
				Since: at(-100)}, heartbeats.Nothing},
		"after an outage, a whole interval": {
			heartbeats.Heartbeat{Content: content, LastPingAt: at(0)}, heartbeats.Reception{LastAt: at(41),
				Since: at(30)}, heartbeats.Nothing},
		"after an outage and an interval": {
			heartbeats.Heartbeat{Content: content, LastPingAt: at(0)}, heartbeats.Reception{LastAt: at(42),
				Since: at(30)}, heartbeats.Miss},
		"missed, not reported": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0), MissedAt: at(12)},
			always(13), heartbeats.Report},
		"missed, not reported, outage since": {
			heartbeats.Heartbeat{Content: content, LastPingAt: at(0),
				MissedAt: at(12)}, heartbeats.Reception{LastAt: at(20), Since: at(20)}, heartbeats.Report},
		"missed and reported": {heartbeats.Heartbeat{Content: content, LastPingAt: at(0), MissedAt: at(12),
			Reported: true}, always(99), heartbeats.Nothing},
		"seen again": {heartbeats.Heartbeat{Content: content, LastPingAt: at(14), MissedAt: at(12),
			Reported: true}, always(14), heartbeats.Resolve},
		"seen before the report": {heartbeats.Heartbeat{Content: content, LastPingAt: at(14), MissedAt: at(12)},
			always(14), heartbeats.Resolve},
		"switched off and missed": {heartbeats.Heartbeat{Content: off, LastPingAt: at(0), MissedAt: at(12),
			Reported: true}, always(14), heartbeats.Resolve},
	} {
		require.Equal(t, c.want, heartbeats.Decide(c.h, c.r), name)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	h := heartbeats.Heartbeat{}
	require.Equal(t, heartbeats.Off, h.State())
	h.Enabled = true
	require.Equal(t, heartbeats.Waiting, h.State())
	require.Zero(t, h.Deadline(heartbeats.Reception{Since: at(1)}))
	h.LastPingAt = at(0)
	require.Equal(t, heartbeats.Alive, h.State())
	h.MissedAt = at(1)
	require.Equal(t, heartbeats.Missed, h.State())
}

func TestEvent(t *testing.T) {
	t.Parallel()
	h := heartbeats.Heartbeat{ID: 7, LastPingAt: at(0), MissedAt: at(95),
		Content: heartbeats.Content{Name: "backup", Description: "Runbook: wiki/backup",
			Every: 90 * time.Minute, Grace: 5 * time.Minute, Severity: intake.Critical, Plan: "database"}}
	e := h.Event(intake.Firing, heartbeats.Text{})
	require.Equal(t, "heartbeat/7", e.Key)
	require.Equal(t, "Heartbeat backup missed", e.Title)
	require.Equal(t, "No ping since 2026-11-22 00:00:00 UTC; one is expected every 1h30m. Runbook: wiki/backup",
		e.Summary)
	require.Equal(t, intake.Critical, e.Severity)
	require.JSONEq(t, `{"heartbeat":{"name":"backup","description":"Runbook: wiki/backup","every_seconds":5400,"grace_seconds":300,"last_ping_at":"2026-11-22T00:00:00Z"}}`,
		string(e.Context))
	require.Equal(t, e.Key, h.Event(intake.Resolved, heartbeats.Text{}).Key)

	from := intake.Integration{Content: intake.Content{DefaultPlan: "all", Rules: []intake.Rule{{Plan: "ruled"}}}}
	require.Equal(t, "database", h.From(from).DefaultPlan)
	require.Empty(t, h.From(from).Rules)
	h.Plan = ""
	require.Equal(t, from, h.From(from))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := heartbeats.Content{Name: " backup ", Every: time.Minute}
	require.NoError(t, good.Check())
	require.Equal(t, "backup", good.Name)
	wide := heartbeats.Content{Name: strings.Repeat("あ", 200), Description: strings.Repeat("あ", 10_000),
		Every: time.Minute}
	require.NoError(t, wide.Check(), "limits count characters")
	for field, c := range map[string]heartbeats.Content{
		"name":          {Name: "a/b", Every: time.Minute},
		"every_seconds": {Name: "a", Every: time.Millisecond},
		"grace_seconds": {Name: "a", Every: time.Minute, Grace: -time.Second},
		"severity":      {Name: "a", Every: time.Minute, Severity: "loud"},
		"description":   {Name: "a", Every: time.Minute, Description: string(make([]byte, 10_001))},
	} {
		require.Equal(t, field, fault.FieldOf(c.Check()))
	}
}

func TestNextCheck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := heartbeats.Reception{LastAt: now, Since: now.Add(-time.Hour)}
	of := func(every time.Duration, ping time.Time, enabled bool) heartbeats.Heartbeat {
		return heartbeats.Heartbeat{Content: heartbeats.Content{Every: every, Grace: time.Second, Enabled: enabled},
			LastPingAt: ping}
	}
	for name, c := range map[string]struct {
		h    heartbeats.Heartbeat
		want time.Duration
	}{
		"its deadline":             {of(time.Minute, now.Add(-10*time.Second), true), 51 * time.Second},
		"never pinged":             {of(time.Minute, time.Time{}, true), 61 * time.Second},
		"switched off":             {of(time.Minute, now.Add(-time.Hour), false), 61 * time.Second},
		"at the latest in an hour": {of(24*time.Hour, now, true), time.Hour},
	} {
		require.Equal(t, c.want, c.h.NextCheck(r).Sub(now), name)
	}
}

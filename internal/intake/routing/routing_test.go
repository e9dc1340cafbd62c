package routing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/hours"
	"github.com/iris-oncall/iris/internal/intake"
)

func TestTheFirstRuleThatMatchesWins(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Match: `env="test"`, RecordOnly: true},
		{Match: `team="db"`, Plan: "night", Times: []hours.Window{{Days: []string{"fri"}, From: "22:00", To: "06:00", Zone: "Europe/Berlin"}}},
		{Match: `team="db"`, Plan: "day", Targets: []Target{{"team", "db"}}},
	}
	require.NoError(t, Check(rules))
	db := intake.Event{Labels: map[string]string{"team": "db"}}
	friday := time.Date(2026, 11, 20, 21, 30, 0, 0, time.UTC) // 22:30 in Berlin
	require.Equal(t, Choice{Rule: 2, Plan: "night", Reason: `rule 2 matches: team="db", at its times`}, Choose(rules, db, friday))
	require.Equal(t, 2, Choose(rules, db, friday.Add(7*time.Hour)).Rule, "Saturday at 05:30 belongs to Friday's window")
	require.Equal(t, "day", Choose(rules, db, friday.Add(8*time.Hour)).Plan)
	require.Equal(t, "day", Choose(rules, db, friday.Add(24*time.Hour)).Plan)
	require.Equal(t, []Target{{"team", "db"}}, Choose(rules, db, friday.Add(24*time.Hour)).Targets)
	require.True(t, Choose(rules, intake.Event{Labels: map[string]string{"env": "test", "team": "db"}}, friday).RecordOnly)
	require.Equal(t, Choice{Reason: "none of 3 rules matches"}, Choose(rules, intake.Event{}, friday))
	for _, wrong := range []Rule{{}, {Plan: "a", RecordOnly: true}, {Match: "x", Plan: "a"}, {Plan: "a", Times: []hours.Window{{Zone: "Moon"}}},
		{Plan: "a", Times: []hours.Window{{Days: []string{"x"}}}}, {Plan: "a", Times: []hours.Window{{From: "25:00"}}},
		{RecordOnly: true, Targets: []Target{{"team", "db"}}}, {Plan: "a", Targets: []Target{{Role: "team"}}}, {Plan: "a", Targets: make([]Target, maxTargets+1)}} {
		require.True(t, fault.Is(Check([]Rule{wrong}), fault.Invalid), wrong)
	}
}

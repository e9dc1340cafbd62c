package users_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func TestRulesAreCheckedAndCompleted(t *testing.T) {
	t.Parallel()
	later := users.FollowUp{Mode: users.SMS, After: 2 * time.Minute}
	got, err := users.CheckRules([]users.NotificationRule{{Priority: users.High, Mode: users.Push,
		FollowUps: []users.FollowUp{later}}})
	require.NoError(t, err)
	require.Equal(t, []users.NotificationRule{
		{Priority: users.Urgent}, {Priority: users.High, Mode: users.Push,
			FollowUps: []users.FollowUp{later}}, {Priority: users.Medium}, {Priority: users.Low},
	}, got)
	require.Equal(t, "high by push, sms after 2 min", got[1].String())

	for field, r := range map[string]users.NotificationRule{
		"rules[0].priority": {Priority: "loud"},
		"rules[0].mode":     {Priority: users.High, Mode: "fax"},
		"rules[0].follow_ups": {Priority: users.High, Mode: users.Drop,
			FollowUps: []users.FollowUp{later}},
		"rules[0].follow_ups[0].mode": {Priority: users.High,
			FollowUps: []users.FollowUp{{Mode: users.Drop, After: time.Minute}}},
		"rules[0].follow_ups[0].delay_seconds": {Priority: users.High, FollowUps: []users.FollowUp{{Mode: users.SMS}}},
		"rules[0].follow_ups[1].delay_seconds": {Priority: users.High,
			FollowUps: []users.FollowUp{later, {Mode: users.Call, After: time.Minute}}},
	} {
		_, err := users.CheckRules([]users.NotificationRule{r})
		require.True(t, fault.Is(err, fault.Invalid), field)
		require.Equal(t, field, fault.FieldOf(err), "%v", err)
	}
	_, err = users.CheckRules([]users.NotificationRule{{Priority: users.Low}, {Priority: users.Low}})
	require.Equal(t, "rules[1].priority", fault.FieldOf(err))

	parsed, err := users.ParseFollowUp("sms:2m")
	require.NoError(t, err)
	require.Equal(t, later, parsed)
	for _, bad := range []string{"", "sms", "fax:2m", "sms:soon"} {
		_, err := users.ParseFollowUp(bad)
		require.True(t, fault.Is(err, fault.Invalid), bad)
	}
}

// Every follow-up can be used, keeps its place in the rule, and is due after the page.
func TestFollowUpsAreUsable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := users.Responder{Contacts: map[users.Mode]string{}, AppModes: map[users.Priority]users.Mode{},
			FollowUps: map[users.Priority][]users.FollowUp{}}
		app := users.AppModes{Supported: map[users.Mode]bool{}}
		for _, m := range users.Modes[:6] {
			app.Supported[m] = rapid.Bool().Draw(rt, "supported")
			if rapid.Bool().Draw(rt, "contact") {
				r.Contacts[m] = "x"
			}
		}
		if rapid.Bool().Draw(rt, "own choice for the application") {
			r.AppModes[users.High] = users.Email
		}
		for range rapid.IntRange(0, 8).Draw(rt, "follow-ups") {
			r.FollowUps[users.High] = append(r.FollowUps[users.High],
				users.FollowUp{Mode: rapid.SampledFrom(users.Modes[:6]).Draw(rt, "mode"), After: time.Minute})
		}
		first := rapid.SampledFrom(users.Modes).Draw(rt, "first")
		planned := users.FollowUps(r, users.High, app, first)
		if first == users.Drop || len(r.AppModes) > 0 {
			require.Empty(rt, planned)
		}
		last := 0
		for _, f := range planned {
			require.Equal(rt, r.FollowUps[users.High][f.Number-1], f.FollowUp)
			require.True(rt, users.CanUse(r, app, f.Mode))
			require.Greater(rt, f.Number, last)
			last = f.Number
		}
	})
}

package pg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

func TestSettingsOfAPerson(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Exec(`insert into notification_categories (application_id, name, mode) values ($1, 'news', 'email')`, e.App)
	s, ctx := pgusers.NewSettings(e.DB), t.Context()
	ana, err := pgusers.NewUsers(e.DB).ByName(ctx, "ANA  ")
	require.NoError(t, err)
	byTarget, err := s.ByTarget(ctx, ana.TargetID)
	require.NoError(t, err)
	require.Equal(t, ana, byTarget)

	require.NoError(t, s.SetModes(ctx, ana, []users.ModeChoice{
		{Priority: users.High, Mode: users.Call}, {Priority: users.Low, Mode: users.Drop}, {Priority: users.Low},
		{Application: "SHOP ", Priority: users.Urgent, Mode: users.SMS},
	}, "test"))
	require.NoError(t, s.SetFixedText(ctx, ana, users.SMS, true, "test"))
	require.NoError(t, s.SetCategories(ctx, ana,
		[]users.CategoryChoice{{Application: "Shop", Category: "NEWS ", Mode: users.SMS}}, "test"))
	require.NoError(t, s.RegisterDevice(ctx, ana, users.Device{RegistrationID: "token", Platform: "Android"}, "test"))
	require.NoError(t, s.SetDisplay(ctx, ana, users.Display{TimeZone: "Asia/Kathmandu"}, "test"))
	p, err := s.Profile(ctx, ana.ID)
	require.NoError(t, err)
	ana.TimeZone = "Asia/Kathmandu"
	require.Equal(t, users.Profile{
		User: ana, Teams: []string{"db"},
		Contacts: map[users.Mode]string{users.Email: "ana@email", users.SMS: "ana@sms", users.Call: "ana@call",
			users.Slack: "ana@slack"},
		Modes:      map[users.Priority]users.Mode{users.High: users.Call},
		AppModes:   map[string]map[users.Priority]users.Mode{"shop": {users.Urgent: users.SMS}},
		FixedTexts: []users.Mode{users.SMS},
		Categories: []users.CategoryChoice{{Application: "shop", Category: "news", Mode: users.SMS}},
		Devices:    []users.Device{{RegistrationID: "token", Platform: "Android"}},
	}, p)

	// Paging uses the settings that the person saved.
	seen, err := pgescalation.NewDirectory(e.DB).Responders(ctx,
		[]users.ResponderKey{{User: ana.ID, Application: e.App}})
	require.NoError(t, err)
	r := seen[users.ResponderKey{User: ana.ID, Application: e.App}]
	require.Equal(t, p.Modes, r.Modes)
	require.Equal(t, p.AppModes["shop"], r.AppModes)

	e.Exec(`update teams set active = false`)
	e.Exec(`update devices set active = false`)
	p, err = s.Profile(ctx, ana.ID)
	require.NoError(t, err)
	require.Empty(t, p.Teams)
	require.Empty(t, p.Devices)

	_, err = s.Profile(ctx, 999_999)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.ByTarget(ctx, 999_999)
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestSettingsRefuseWrongData(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s, ctx := pgusers.NewSettings(e.DB), t.Context()
	ana, err := pgusers.NewUsers(e.DB).ByName(ctx, "ana")
	require.NoError(t, err)
	nobody := users.User{ID: 999_999, Name: "nobody"}
	for name, err := range map[string]error{
		"application": s.SetModes(ctx, ana, []users.ModeChoice{{Priority: users.High, Mode: users.SMS},
			{Application: "a\x00", Priority: users.High}}, "test"),
		"category": s.SetCategories(ctx, ana, []users.CategoryChoice{{Application: "shop", Category: "none"}},
			"test"),
		"no count": s.SetReprioritisation(ctx, ana, users.Reprioritisation{Source: users.SMS,
			Destination: users.Email, Window: time.Minute}, "test"),
	} {
		require.True(t, fault.Is(err, fault.Invalid), "%s: %v", name, err)
	}
	_, err = s.ModeChoices(ctx, ana.ID, "none")
	require.EqualError(t, err, "Application none not found")
	require.True(t, fault.Is(s.SetDisplay(ctx, nobody, users.Display{TimeZone: "UTC"}, "test"), fault.NotFound))
	require.True(t, fault.Is(s.SetModes(ctx, nobody, []users.ModeChoice{{Priority: users.High, Mode: users.SMS}},
		"test"), fault.NotFound))
	require.True(t, fault.Is(s.RemoveReprioritisation(ctx, ana, users.SMS, "test"), fault.NotFound))
	require.Zero(t, e.ID(`select count(*) from audit_log`), "what was refused was not done")
	require.Zero(t, e.ID(`select count(*) from user_modes`))

	many := make([]users.CategoryChoice, 500)
	for i := range many {
		many[i] = users.CategoryChoice{Application: "shop", Category: "news"}
	}
	e.Exec(`insert into notification_categories (application_id, name, mode) values ($1, 'news', 'email')`, e.App)
	require.NoError(t, s.SetCategories(ctx, ana, many, strings.Repeat("x", 10)))
	require.Less(t, e.ID(`select max(length(detail)) from audit_log`), int64(600))
}

func TestAModeHasOneReprioritisation(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s, ctx := pgusers.NewSettings(e.DB), t.Context()
	ana, err := pgusers.NewUsers(e.DB).ByName(ctx, "ana")
	require.NoError(t, err)
	rule := func(from, to users.Mode, count int) users.Reprioritisation {
		return users.Reprioritisation{Source: from, Destination: to, Count: count, Window: 5 * time.Minute}
	}
	for _, r := range []users.Reprioritisation{rule(users.Call, users.SMS, 3), rule(users.SMS, users.Email, 9), rule(users.Call, users.Email, 4)} {
		require.NoError(t, s.SetReprioritisation(ctx, ana, r, "test"))
	}
	got, err := s.Reprioritisations(ctx, ana.ID)
	require.NoError(t, err)
	require.Equal(t, []users.Reprioritisation{rule(users.SMS, users.Email, 9), rule(users.Call, users.Email, 4)}, got)
	require.Equal(t, "beyond 9 sms in 5 min: email", got[0].String())
	require.NoError(t, s.RemoveReprioritisation(ctx, ana, users.SMS, "test"))
	got, err = s.Reprioritisations(ctx, ana.ID)
	require.NoError(t, err)
	require.Len(t, got, 1)
}

func TestTargetsAsLists(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.MailingList("db", "ana")
	e.Exec(`update users set active = false where name = 'bo'`)
	targets, ctx := pg.NewTargets(e.DB), t.Context()
	all, err := targets.Names(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []string{"ana", "bo", "boss", "cy", "db", "owner"}, all, "a name of two kinds is there once")
	some, err := targets.Names(ctx, "BO")
	require.NoError(t, err)
	require.Equal(t, []string{"bo", "boss"}, some)
	active := filters.Query{Conditions: []filters.Condition{{Field: "active", Op: filters.Eq, Values: []any{true}}}}
	kind, err := targets.NamesOfKind(ctx, "user", active)
	require.NoError(t, err)
	require.NotContains(t, kind, "bo")
	kind, err = targets.NamesOfKind(ctx, "mailing-list", filters.Query{})
	require.NoError(t, err)
	require.Equal(t, []string{"db"}, kind)
	_, err = targets.NamesOfKind(ctx, "user",
		filters.Query{Conditions: []filters.Condition{{Field: "shoe", Values: []any{1}}}})
	require.True(t, fault.Is(err, fault.Internal))
	for name, want := range map[string]bool{"BO ": true, "db": true, "none": false, "a\x00": false} {
		exists, err := targets.Exists(ctx, name)
		require.NoError(t, err)
		require.Equal(t, want, exists, name)
	}
	on, err := targets.OnAnyList(ctx, "ANA", []string{"none", "DB "})
	require.NoError(t, err)
	require.True(t, on)
	on, err = targets.OnAnyList(ctx, "cy", []string{"db"})
	require.NoError(t, err)
	require.False(t, on)
}

package users

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func everyMode(except ...Mode) AppModes {
	a := AppModes{Supported: map[Mode]bool{}, Defaults: map[Priority]Mode{}}
	for _, m := range Modes {
		a.Supported[m] = m != Drop
	}
	for _, m := range except {
		a.Supported[m] = false
	}
	return a
}

func reachable(modes ...Mode) Responder {
	r := Responder{Contacts: map[Mode]string{}, Modes: map[Priority]Mode{}, AppModes: map[Priority]Mode{}}
	for _, m := range modes {
		r.Contacts[m] = "demo@" + string(m)
	}
	return r
}

func TestModeForAppliesTheRulesInOrder(t *testing.T) {
	t.Parallel()
	r, app := reachable(), everyMode()
	check := func(want Mode, rule string) {
		t.Helper()
		require.Equal(t, want, ModeFor(r, High, app))
		c, _ := Choose(r, High, app)
		require.Equal(t, want, c.Wanted)
		require.Equal(t, rule, c.Rule)
	}
	check(SMS, "the priority's default")
	app.Priorities = map[Priority]Mode{High: Push, Low: SMS}
	check(Push, "the priority's default")
	require.Equal(t, Call, ModeFor(r, Urgent, app), "as in a new installation")
	r.Modes[High] = Slack
	check(Slack, "own choice")
	app.Defaults[High] = Webhook
	check(Webhook, "the application's default")
	r.AppModes[High] = Call
	check(Call, "own choice for the application")
}

func TestChooseMode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		r    Responder
		app  AppModes
		want Choice
		ok   bool
	}{
		"the wanted mode": {
			r: reachable(Call, Email), app: everyMode(), ok: true,
			want: Choice{Mode: Call, Wanted: Call, Rule: "the priority's default"},
		},
		"no contact: e-mail comes next": {
			r: reachable(SMS, Email), app: everyMode(), ok: true,
			want: Choice{Mode: Email, Wanted: Call, Rule: "the priority's default",
				Missing: "there is no call contact"},
		},
		"the application may not": {
			r: reachable(Call, SMS), app: everyMode(Call), ok: true,
			want: Choice{Mode: SMS, Wanted: Call, Rule: "the priority's default",
				Missing: "the application may not use call"},
		},
		"nothing at all": {
			r: reachable(), app: everyMode(),
			want: Choice{Wanted: Call, Rule: "the priority's default", Missing: "there is no call contact"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := Choose(tc.r, Urgent, tc.app)
			require.Equal(t, tc.ok, ok)
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.want.Mode != tc.want.Wanted, got.Changed())
		})
	}
	dropper := reachable(Email)
	dropper.Modes[Low] = Drop
	got, ok := Choose(dropper, Low, everyMode())
	require.True(t, ok, "drop needs no contact")
	require.Equal(t, Drop, got.Mode)
}

func TestNextModeNeverReturnsDropOrATriedMode(t *testing.T) {
	t.Parallel()
	r, app := reachable(Modes...), everyMode(Webhook)
	var tried []Mode
	for {
		m, ok := NextMode(r, app, tried)
		if !ok {
			break
		}
		tried = append(tried, m)
	}
	require.Equal(t, []Mode{Email, Slack, SMS, Call, Push}, tried)
}

package pages

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

func TestRulesThatCannotBeSavedAgainAreShown(t *testing.T) {
	t.Parallel()
	v := showView{}
	v.I.Rules = []intake.Rule{{Match: `a="b"`}, {Match: `a=~"(x{0,30}){0,30}"`}, {}}
	found := v.ResaveProblems()
	require.Len(t, found, 1)
	require.Equal(t, 2, found[0].Rule)
	require.Contains(t, found[0].Why, "use smaller repetitions")
}

func TestHealth(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ago := func(d time.Duration) *time.Time {
		at := now.Add(-d)
		return &at
	}
	one := func(change func(*integration)) (i integration) {
		i.Enabled, i.Tokens, i.Activity.LastAcceptedAt = true, []integrations.Token{{}}, ago(time.Hour)
		change(&i)
		return i
	}
	for want, change := range map[string]func(*integration){
		"works":                 func(*integration) {},
		"switched off":          func(i *integration) { i.Enabled, i.Tokens = false, nil },
		"no token":              func(i *integration) { i.Tokens = nil },
		"last delivery refused": func(i *integration) { i.Activity.LastRefusedAt = &now },
		"nothing received yet":  func(i *integration) { i.Activity.LastAcceptedAt = nil },
		"expressions fail":      func(i *integration) { i.Activity.LastFailureAt = ago(2 * time.Hour) },
		"silent for 31 days":    func(i *integration) { i.Activity.LastAcceptedAt = ago(31 * 24 * time.Hour) },
	} {
		require.Equal(t, want, one(change).healthAt(now).Text)
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hours.Window{
		"mon tue 18:00-08:00 Europe/Berlin": {Days: []string{"mon", "tue"}, From: "18:00", To: "08:00",
			Zone: "Europe/Berlin"},
		"sat, sun":   {Days: []string{"sat", "sun"}, Zone: "Asia/Tokyo"},
		"8:00-24:00": {From: "08:00", To: "24:00", Zone: "Asia/Tokyo"},
	} {
		found, err := window(text, "Asia/Tokyo")
		require.NoError(t, err, text)
		require.Equal(t, want, found, text)
		again, err := window(windowText(found), "UTC")
		require.NoError(t, err)
		require.Equal(t, found, again, "what is shown is read as the same")
	}
	for _, text := range []string{"someday", "8:00", "25:00-26:00", "mon Local", "mon <b>"} {
		_, err := window(text, "UTC")
		require.True(t, fault.Is(err, fault.Invalid), text)
	}
}

func TestTheFieldOfARefusal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rule 2: match: a matcher must begin with a label":             "match.2",
		"rule 12 needs either a plan or record_only":                   "plan.12",
		"rule 1: times: no day":                                        "times.1",
		"rule 1: targets: target 1 needs a role and a name":            "targets.1",
		"rule 1: there is no active plan named x":                      "plan.1",
		"rule 3: there is no target with the role team and the name x": "targets.3",
		"rule 3: plan pager needs 2 targets for its dynamic steps":     "targets.3",
		"rule 3: plan pager has no dynamic steps: remove the targets":  "targets.3",
		"an integration has at most 200 rules":                         "rules",
	} {
		require.Equal(t, want, fieldOf(text), text)
	}
}

// Each type is offered with a set-up that has its address and the token.
func TestEveryTypeHasASetup(t *testing.T) {
	t.Parallel()
	h := Handlers{Deps: Deps{PublicURL: "https://iris.example.com", MailDomain: "alerts.example.com"}}
	for _, kind := range sources.Types() {
		require.True(t, slices.ContainsFunc(known, func(s described) bool { return s.Type == kind }), "known in setup.go has no entry for %s", kind)
		s := h.setup(sourceOf(kind), "secret-token")
		require.Contains(t, s.Config, "secret-token", kind)
		require.NotRegexp(t, `\b(ADDRESS|WITHTOKEN|BASE|TOKEN|DOMAIN)\b`, s.Where+s.Config+s.Test, kind)
		require.Empty(t, s.Missing)
		require.NotContains(t, strings.TrimSuffix(s.Test, "'"), "''", kind)
	}
	require.NotEmpty(t, Handlers{}.setup(sourceOf("email"), "t").Missing)
	for _, r := range recipes.Builtin().All() {
		for kind, has := range map[string]bool{intake.Generic: len(r.Webhook) > 0, intake.Email: len(r.Mail) > 0} {
			if !has {
				continue
			}
			of, ok := recipeSource(integrations.Recipe{Name: r.Name, Setup: operation.Text(r.Setup),
				MailSetup: operation.Text(r.MailSetup), Webhook: true, Mail: true}, kind)
			require.True(t, ok, r.Name)
			s := h.setup(of, "secret-token")
			require.Contains(t, s.Config, "secret-token", "the set-up of the recipe %s", r.Name)
			require.NotRegexp(t, `\b(ADDRESS|WITHTOKEN|TOKEN)\b`, s.Config, r.Name)
		}
	}
}

package teams

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
)

func TestNamesOfTeamsAndRosters(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]string{
		"ops":                    "",
		"ops: night_shift-2 (?)": `team name contains invalid character "("`,
		"a<>b":                   `team name contains invalid character "<>"`,
		"a\x00b":                 "team name contains invalid character \"\x00\"",
		"":                       "empty team name",
		strings.Repeat("x", 255): "",
		strings.Repeat("x", 256): "team name is longer than 255 bytes",
		strings.Repeat("ü", 128): "team name is longer than 255 bytes",
		"Zürich":                 "",
		"a\xffb":                 "team name contains invalid character \"\xff\"",
		"what? $100: a-b_c":      "",
	} {
		err := checkTeamName(name)
		if wrong == "" {
			require.NoError(t, err, name)
			require.NoError(t, checkRosterName(name), name)
			continue
		}
		require.Equal(t, "name", fault.FieldOf(err), name)
		require.Equal(t, wrong, fault.Public(err), name)
		require.Equal(t, strings.Replace(wrong, "team", "roster", 1), fault.Public(checkRosterName(name)), name)
	}
}

func TestTimeZonesOfTeams(t *testing.T) {
	t.Parallel()
	offered := []string{"UTC", "Europe/Zurich"}
	for _, c := range []struct {
		name, want string
		offered    []string
		wrong      bool
	}{
		{"utc", "UTC", offered, false},
		{"Europe/Zurich", "Europe/Zurich", offered, false},
		{"Asia/Tokyo", "Asia/Tokyo", nil, false},
		{"Asia/Tokyo", "", offered, true},
		{"Mars/Base", "", nil, true},
		{"Local", "", nil, true},
		{"", "", nil, true},
		{"../etc/passwd", "", nil, true},
	} {
		got, err := Zone(c.name, c.offered)
		if c.wrong {
			require.Equal(t, "time_zone", fault.FieldOf(err), c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got)
	}
}

func TestChannelsBeginWithAHash(t *testing.T) {
	t.Parallel()
	channel := ""
	require.NoError(t, checkChannel("slack_channel", nil))
	require.NoError(t, checkChannel("slack_channel", &channel))
	channel = "#ops"
	require.NoError(t, checkChannel("slack_channel", &channel))
	channel = "ops"
	require.EqualError(t, checkChannel("slack_channel", &channel), "slack_channel must begin with #")
}

func TestPhoneNumbersBecomeInternationalAndNotesStay(t *testing.T) {
	t.Parallel()
	teams := New(Deps{Store: nobodyThere{}, Region: "CH"})
	for text, want := range map[string]string{"044 668 18 00": "+41446681800", "ask Ann": "ask Ann", "": ""} {
		got, err := teams.overridePhone(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := teams.overridePhone(strings.Repeat("5", 256))
	require.EqualError(t, err, "override_phone_number is longer than 255 bytes")
}

func TestPlansThatTeamsNameMustExistIfTheyAreUsed(t *testing.T) {
	t.Parallel()
	failure := errors.New("no database")
	teams := New(Deps{Store: nobodyThere{}, PlanNamed: func(_ context.Context, name string) error {
		return map[string]error{"ghost": fault.New(fault.NotFound, "not found"), "broken": failure}[name]
	}})
	require.NoError(t, teams.checkPlan(t.Context(), ""))
	require.NoError(t, teams.checkPlan(t.Context(), "pager"))
	require.Equal(t, "plan", fault.FieldOf(teams.checkPlan(t.Context(), "ghost")))
	require.ErrorIs(t, teams.checkPlan(t.Context(), "broken"), failure)
	require.NoError(t, New(Deps{Store: nobodyThere{}}).checkPlan(t.Context(), "ghost"))
}

func TestLeftOutSettingsStayAndNullClears(t *testing.T) {
	t.Parallel()
	text := operation.Text(" x ")
	teams := New(Deps{Store: nobodyThere{}})
	p, err := teams.patch(Settings{Email: operation.Optional[operation.Text]{Given: true, Value: &text},
		Plan: operation.Optional[operation.Text]{Given: true}})
	require.NoError(t, err)
	is := oncall.TeamSettings{Name: "ops", Description: "d", Email: "old", IrisPlan: "pager", IrisEnabled: true}
	after := p.Apply(is)
	require.Equal(t, oncall.TeamSettings{Name: "ops", Description: "d", Email: "x", IrisEnabled: true}, after)
	require.Equal(t, oncall.TeamPatch{}, p.Without(after), "nothing is left of a change that was made")
}

// nobodyThere stores nothing.
type nobodyThere struct{ Store }

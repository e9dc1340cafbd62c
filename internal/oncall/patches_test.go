package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestNoticePatchDecidesWhatASettingBecomes(t *testing.T) {
	t.Parallel()
	hour, day, yes := time.Hour, 24*time.Hour, true
	reminder := NoticeSetting{ID: 1, Type: "oncall_reminder", IsReminder: true, Before: &hour, Mode: users.SMS,
		Roles: []string{"primary"}}
	notice := NoticeSetting{ID: 2, Type: "event_created", OnlyMine: &yes, Mode: users.SMS, Roles: []string{"primary"}}
	email, team := users.Email, int64(7)
	for name, c := range map[string]struct {
		is      NoticeSetting
		p       NoticePatch
		want    NoticeSetting
		refused string
	}{
		"nothing": {is: reminder, want: reminder},
		"parts": {is: reminder, p: NoticePatch{Before: &day, Mode: &email, TeamID: &team, Roles: []string{"secondary"}},
			want: NoticeSetting{ID: 1, Type: "oncall_reminder", IsReminder: true, Before: &day, Mode: users.Email,
				TeamID: 7, Roles: []string{"secondary"}}},
		"a notice becomes a reminder": {is: notice,
			p: NoticePatch{Type: &NoticeType{Name: "oncall_reminder", IsReminder: true}, Before: &hour},
			want: NoticeSetting{ID: 2, Type: "oncall_reminder", IsReminder: true, Before: &hour, Mode: users.SMS,
				Roles: []string{"primary"}}},
		"a reminder without time": {is: notice, p: NoticePatch{Type: &NoticeType{Name: "r", IsReminder: true}},
			refused: "exactly one of"},
		"a notice without only mine": {is: reminder, p: NoticePatch{Type: &NoticeType{Name: "event_created"}},
			refused: "exactly one of"},
		"only mine for a reminder": {is: reminder, p: NoticePatch{OnlyMine: &yes},
			refused: "a reminder has no only_mine"},
		"a time for another notice": {is: notice, p: NoticePatch{Before: &hour},
			refused: "a notice has no before_seconds"},
		"both when the kind changes": {is: notice, p: NoticePatch{Type: &NoticeType{IsReminder: true}, Before: &hour,
			OnlyMine: &yes}, refused: "a reminder has no only_mine"},
	} {
		got, err := c.p.Decide(c.is)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestTeamPatchChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	email, none, on := "ops@example.com", "", true
	is := TeamSettings{Name: "ops", Description: "they operate", TimeZone: "UTC", SlackChannel: "#ops"}
	require.Equal(t, is, TeamPatch{}.Apply(is))
	want := is
	want.Email, want.SlackChannel, want.IrisEnabled = email, "", true
	require.Equal(t, want, TeamPatch{Email: &email, SlackChannel: &none, IrisEnabled: &on}.Apply(is))
}

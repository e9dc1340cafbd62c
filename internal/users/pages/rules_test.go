package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	defaults := map[users.Priority]users.Mode{users.Urgent: users.Call, users.High: users.SMS,
		users.Medium: users.Email, users.Low: users.Email}
	all := map[users.Mode]string{users.Email: "a@example.com", users.SMS: "+15550001111", users.Call: "+15550001111"}
	mail := map[users.Mode]string{users.Email: "a@example.com"}
	for name, c := range map[string]struct {
		rule     users.NotificationRule
		contacts map[users.Mode]string
		text     string
		warn     bool
	}{
		"rule": {users.NotificationRule{Priority: users.High, Mode: users.Call, FollowUps: []users.FollowUp{{Mode: users.SMS, After: 2 * time.Minute}, {Mode: users.Email, After: 30 * time.Second}}}, all,
			"A high priority page is sent by call at once, then by SMS after 2 min, then by e-mail after 30 s.", false},
		"default": {users.NotificationRule{Priority: users.Urgent}, all, "An urgent priority page is sent by call at once.", false},
		"no contact": {users.NotificationRule{Priority: users.Urgent}, mail,
			"An urgent priority page is sent by e-mail at once (there is no contact for call).", true},
		"left out": {users.NotificationRule{Priority: users.Low, FollowUps: []users.FollowUp{{Mode: users.SMS, After: time.Minute}}}, mail,
			"A low priority page is sent by e-mail at once.", false},
		"nothing": {users.NotificationRule{Priority: users.Low}, nil,
			"A low priority page reaches nobody: there is no contact. The plan's fallback is paged instead.", true},
		"discarded": {users.NotificationRule{Priority: users.Low, Mode: users.Drop}, mail,
			"A low priority page is discarded: it reaches nobody.", true},
	} {
		require.Equal(t, []line{{c.rule.Priority, c.text, c.warn}}, summary([]users.NotificationRule{c.rule}, c.contacts, defaults), name)
	}
}

func TestAnswersOfAFormStay(t *testing.T) {
	t.Parallel()
	was := page.Again{Form: "contact", Typed: map[string][]string{"destination": {"12"}}}
	require.Equal(t, "stored", was.Value("contact", "destination", "stored"), "nothing was refused")
	was.Refusal.Text, was.Refusal.Status = "wrong", 400
	require.Equal(t, "12", was.Value("contact", "destination", "stored"))
	require.Equal(t, "stored", was.Value("rules", "destination", "stored"))
	require.Empty(t, was.Problem("rules").Text)
	require.Equal(t, 400, was.Status())
}

package escalation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func message(user users.ID, mode users.Mode, purpose messages.Purpose, state messages.State, minute int) escalation.PastMessage {
	return escalation.PastMessage{Recipient: messages.ToUser(user), Target: fmt.Sprintf("user%d", user), Mode: mode,
		Purpose: purpose, State: state,
		At: noon.Add(time.Duration(minute) * time.Minute)}
}

func TestNoticesOfAResolve(t *testing.T) {
	t.Parallel()
	on := func(modes ...users.Mode) escalation.Settings {
		s := escalation.Settings{ResolvedNotice: map[users.Mode]bool{}}
		for _, m := range modes {
			s.ResolvedNotice[m] = true
		}
		return s
	}
	mail := message(1, users.Email, messages.Primary, messages.Sent, 1)
	text := message(1, users.SMS, messages.Primary, messages.Delivered, 2)
	notified := message(1, users.Email, messages.ResolvedNotice, messages.Sent, 5)
	for name, c := range map[string]struct {
		past     []escalation.PastMessage
		settings escalation.Settings
		by       string
		want     []string
	}{
		"nobody was paged": {want: []string{}},
		"by e-mail":        {past: []escalation.PastMessage{mail}, want: []string{"user1 email 0"}},
		"by text":          {past: []escalation.PastMessage{text}, want: []string{}},
		"by both":          {past: []escalation.PastMessage{mail, text}, want: []string{"user1 email 0"}},
		"by both, texts are allowed": {past: []escalation.PastMessage{mail, text}, settings: on(users.SMS),
			want: []string{"user1 sms 0"}},
		"e-mail is off": {past: []escalation.PastMessage{mail},
			settings: escalation.Settings{ResolvedNotice: map[users.Mode]bool{users.Email: false}}, want: []string{}},
		"by two": {past: []escalation.PastMessage{message(2, users.Email, messages.Fallback,
			messages.Sending, 1), mail}, want: []string{"user1 email 0", "user2 email 0"}},
		"paged twice": {past: []escalation.PastMessage{mail,
			message(1, users.Email, messages.FollowUpNumber(1), messages.Sent, 3)}, want: []string{"user1 email 0"}},
		"who resolved it": {past: []escalation.PastMessage{mail}, by: "User1", want: []string{}},
		"the page was not sent": {past: []escalation.PastMessage{message(1, users.Email, messages.Primary,
			messages.Cancelled, 1)}, want: []string{}},
		"in a digest": {past: []escalation.PastMessage{message(1, users.Email, messages.Primary,
			messages.Aggregated, 1)}, want: []string{}},
		"a tracking address": {past: []escalation.PastMessage{message(1, users.Email, messages.TrackingMsg,
			messages.Sent, 1)}, want: []string{}},
		"notified already": {past: []escalation.PastMessage{mail, notified}, want: []string{}},
		"notified, and paged again": {past: []escalation.PastMessage{mail, notified,
			message(1, users.Email, messages.Primary, messages.Sent, 9)}, want: []string{"user1 email 1"}},
		"the notice was cancelled": {past: []escalation.PastMessage{mail,
			message(1, users.Email, messages.ResolvedNotice, messages.Cancelled, 5)}, want: []string{"user1 email 1"}},
		"news for an owner is no page": {past: []escalation.PastMessage{message(1, users.Email, messages.OwnerNotice,
			messages.Sent, 1)}, want: []string{}},
		"the mode drop is never chosen": {past: []escalation.PastMessage{message(1, users.Drop, messages.Primary,
			messages.Sent, 1)}, settings: on(users.Drop), want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, n := range escalation.Resolved(c.past, c.settings, c.by) {
				require.Equal(t, escalation.Grace, n.After)
				got = append(got, fmt.Sprintf("%s %s %d", n.Target, n.Mode, n.Number))
			}
			require.Equal(t, c.want, got)
		})
	}
	require.Empty(t, escalation.Line(nil))
	require.Equal(t, "notifying of the resolve: user1 by email, user2 by sms",
		escalation.Line([]escalation.Notice{{Target: "user1", Mode: users.Email}, {Target: "user2", Mode: users.SMS}}))
}

func TestNoticesOfNewsToAnOwner(t *testing.T) {
	t.Parallel()
	news := func(state messages.State, minute int) escalation.PastMessage {
		return message(1, users.Slack, messages.OwnerNotice, state, minute)
	}
	for name, c := range map[string]struct {
		past   []escalation.PastMessage
		mode   users.Mode
		none   bool
		number int
		after  time.Duration
	}{
		"no mode":   {none: true},
		"the first": {mode: users.Slack},
		"soon after another": {mode: users.Slack,
			past: []escalation.PastMessage{news(messages.Sent, -2)}, number: 1, after: 3 * time.Minute},
		"long after another": {mode: users.Slack,
			past: []escalation.PastMessage{news(messages.Sent, -9)}, number: 1},
		"while another waits": {mode: users.Slack,
			past: []escalation.PastMessage{news(messages.Pending, -9)}, none: true},
		"after one that was cancelled": {mode: users.Slack,
			past: []escalation.PastMessage{news(messages.Cancelled, -1)}, number: 1},
		"after a notice to a former owner": {mode: users.Slack,
			past: []escalation.PastMessage{message(2, users.Slack, messages.OwnerNotice, messages.Sent,
				-1)}, after: 4 * time.Minute},
		"pages and other notices mean less": {mode: users.Slack,
			past: []escalation.PastMessage{message(1, users.SMS, messages.Primary, messages.Sent, -1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, ok := escalation.Owner(c.past, escalation.Settings{NotifyOwner: c.mode}, 1, "user1", noon)
			require.Equal(t, !c.none, ok)
			if ok {
				require.Equal(t, c.after > 0, strings.Contains(escalation.OwnerLine(n), " in "))
				require.Equal(t, escalation.Notice{Recipient: "user:1", Target: "user1", Mode: c.mode,
					Number: c.number, After: c.after}, n)
			}
		})
	}
}

func TestAChangeOfTheStateCancelsNotices(t *testing.T) {
	t.Parallel()
	for e, want := range map[incidents.Event]messages.Purpose{incidents.Acknowledge: "", incidents.Reopen: messages.OwnerNotice, incidents.Snooze: messages.OwnerNotice,
		incidents.Resolve: messages.OwnerNotice, incidents.Close: messages.OwnerNotice} {
		change, err := incidents.Status{Owned: true}.After(e)
		require.NoError(t, err)
		purpose, _ := escalation.Cancels(change)
		require.Equal(t, want, purpose, e)
	}
	for e, want := range map[incidents.Event]messages.Purpose{incidents.Resolve: "", incidents.UndoResolve: messages.ResolvedNotice, incidents.LateDelivery: messages.ResolvedNotice} {
		change, err := incidents.Status{Owned: true, Resolved: true}.After(e)
		require.NoError(t, err)
		purpose, _ := escalation.Cancels(change)
		require.Equal(t, want, purpose, e)
	}
}

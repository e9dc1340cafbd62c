package escalation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestSentenceOfPages(t *testing.T) {
	t.Parallel()
	pg := func(name string, mode, wanted users.Mode, missing, rule string, p users.Priority) page {
		return page{responder: users.Responder{User: users.User{Name: name}}, priority: p, rule: rule,
			choice: users.Choice{Mode: mode, Wanted: wanted, Missing: missing}}
	}
	require.Equal(t, "demo by email, sms and slack (urgent, named in the plan)", sentence([]page{
		pg("demo", users.Email, users.Email, "", "named in the plan", users.Urgent),
		pg("demo", users.SMS, users.SMS, "", "named in the plan", users.Urgent),
		pg("demo", users.Slack, users.Slack, "", "named in the plan", users.Urgent),
	}))
	require.Equal(t, "ana and bo by sms, cy by email because there is no sms contact (high, everybody in team db); boss by call (urgent, manager of team db)",
		sentence([]page{
			pg("ana", users.SMS, users.SMS, "", "everybody in team db", users.High),
			pg("bo", users.SMS, users.SMS, "", "everybody in team db", users.High),
			pg("cy", users.Email, users.SMS, "there is no sms contact", "everybody in team db", users.High),
			pg("boss", users.Call, users.Call, "", "manager of team db", users.Urgent),
		}))
	require.Empty(t, list(nil))
	require.Equal(t, "a\uFFFDb", clean("a\xff\x00b"))
	long := clean(strings.Repeat("ü", 5000))
	require.Less(t, len(long), maxText+10)
	require.NotContains(t, long, "\uFFFD")
	require.Equal(t, "target number 7", Target{Role: "user", TargetID: 7}.String())
	require.Equal(t, "oncall-primary of db", Target{Role: "oncall-primary", Name: "db"}.String())
	require.True(t, Tracking{Template: []byte(`{"Shop": {"body": "x"}}`)}.Covers("shop"))
	require.False(t, Tracking{Template: []byte(`{"Shop": null}`)}.Covers("shop"))
	require.False(t, Tracking{Template: []byte(`[]`)}.Covers("shop"))
	e := FailureEntry(errors.New(strings.Repeat("ü", 400)), 2, 1500*time.Millisecond)
	require.Contains(t, e.Text, "(2 times so far), trying again in 2s: ü")
	require.Equal(t, "1 page that was not sent yet was cancelled", CancelledEntry(1, noon).Text)
}

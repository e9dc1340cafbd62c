package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// After an account has recovered, no page waits for its next attempt longer than its own back-off. This holds whatever
// state the outage left for the account and the recipient.
func TestNoPageWaitsLongerThanItsBackOffAfterRecovery(t *testing.T) {
	const slack = 2500 * time.Millisecond // a search for work each second, and a quarter of the outage
	for name, down := range map[string]messages.Result{
		"refused at the recipient": {Outcome: messages.OutcomeUnavailable, Detail: "451"},
		"refused at once":          {Outcome: messages.OutcomeUnavailable, Detail: "421", BeforeRecipient: true},
		"broken after the message": {Outcome: messages.OutcomeUnknown, Detail: "the connection broke"},
	} {
		for _, takes := range []time.Duration{20 * time.Millisecond, 2 * time.Second} {
			t.Run(fmt.Sprint(name, " after ", takes), func(t *testing.T) {
				inBubble(t, func(s *bubble) {
					back := time.Now().Add(7 * time.Second)
					mail := smtp(func(int, messages.Outbound) messages.Result {
						if time.Now().Before(back) {
							wait(takes)
							return down
						}
						wait(20 * time.Millisecond)
						return messages.Result{Outcome: messages.OutcomeSent}
					})
					s.run(delivery.Config{}, mail)
					var ids []messages.ID
					for i := range 120 {
						ids = append(ids, s.add(users.Email, messages.ClassRoutine, int64(i%2),
							to(fmt.Sprint("r", i%4))))
						s.worker.Wake(buckets.All())
						s.after(50 * time.Millisecond)
					}
					s.after(40 * time.Second)
					well := back.Add(takes + time.Second) // the last failed call has ended, and a probe may begin
					worst := time.Duration(0)
					for _, id := range ids {
						r := s.row(id)
						require.Equal(t, messages.Sent, r.state)
						due := r.made
						for i, a := range r.attempts {
							if due.Before(well) {
								due = well
							}
							worst = max(worst, a.at.Sub(due))
							due = a.at.Add(takes + min(15*time.Second, time.Second<<i))
						}
					}
					require.Less(t, worst, slack)
				})
			})
		}
	}
}

// A failing account is probed by the first of its messages that becomes due, even if all of them wait for their
// back-off. Messages that move between two closed modes do not delay the discovery that the account has recovered.
func TestRecoveryIsFoundWhileMessagesChangeModes(t *testing.T) {
	inBubble(t, func(s *bubble) {
		back := time.Now().Add(3 * time.Minute)
		outage := func(int, messages.Outbound) messages.Result {
			if time.Now().Before(back) {
				return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "away"}
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		}
		var ids []messages.ID
		for i := range 50 {
			ids = append(ids, s.add([]users.Mode{users.SMS, users.Email}[i%2], messages.ClassUrgent, int64(i%3)))
		}
		s.run(delivery.Config{}, texts(outage), smtp(outage))
		s.after(3*time.Minute + 12*time.Second)
		for _, id := range ids {
			require.Equal(t, messages.Sent, s.row(id).state)
		}
	})
}

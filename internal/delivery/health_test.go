package delivery_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// to gives a message a literal destination.
func to(destination string) func(*delivery.Claimed) {
	return func(c *delivery.Claimed) { c.UserID, c.Destination = 0, destination }
}

// bad returns a vendor's answer that fails for the named destinations after a delay.
func bad(after time.Duration, r messages.Result, destinations ...string) func(int, messages.Outbound) messages.Result {
	return func(_ int, m messages.Outbound) messages.Result {
		for _, d := range destinations {
			if m.Destination == d {
				wait(after)
				return r
			}
		}
		return messages.Result{Outcome: messages.OutcomeSent}
	}
}

// Whatever fails for one recipient, pages to others are sent at once through the same account.
func TestOneBadRecipientDelaysNoOther(t *testing.T) {
	t.Parallel()
	unavailable := func(said string) messages.Result {
		return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: said}
	}
	for name, c := range map[string]struct {
		vendor string
		mode   users.Mode
		after  time.Duration
		result messages.Result
	}{
		"greylisting":        {"smtp", users.Email, 5 * time.Millisecond, unavailable("RCPT: 451 4.7.1 greylisted")},
		"hang at RCPT":       {"smtp", users.Email, 20 * time.Second, unavailable("RCPT: time is up")},
		"503 for one number": {"twilio", users.SMS, 50 * time.Millisecond, unavailable("status 503")},
		"hanging webhook URL": {"webhook", users.Webhook, 10 * time.Second,
			messages.Result{Outcome: messages.OutcomeUnknown, Detail: "time is up"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(s *bubble) {
				v := &post{name: c.vendor, account: "main", modes: []users.Mode{c.mode},
					answer: bad(c.after, c.result, "bad")}
				for range 80 {
					s.add(c.mode, messages.ClassUrgent, 1, to("bad"))
				}
				s.run(delivery.Config{}, v)
				s.after(2 * time.Second)
				for i := range 60 {
					id := s.add(c.mode, messages.ClassUrgent, 2, to(fmt.Sprint("good", i)))
					s.worker.Wake(buckets.All())
					s.after(time.Second)
					r := s.row(id)
					require.Equal(t, messages.Sent, r.state)
					require.Len(t, r.attempts, 1)
					require.Less(t, r.attempts[0].at.Sub(r.made), 600*time.Millisecond, "message %d", i)
				}
			})
		})
	}
}

// Failures at several destinations close the account. The probe that opens it again goes to another recipient.
func TestProbesGoToAnotherRecipient(t *testing.T) {
	inBubble(t, func(s *bubble) {
		v := smtp(bad(0, messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "451"}, "a", "b", "c"))
		for i := range 60 {
			s.add(users.Email, messages.ClassUrgent, 1, to(string(rune('a'+i%3))))
		}
		s.run(delivery.Config{}, v)
		s.after(5 * time.Second)
		before := v.count()
		s.after(5 * time.Second)
		require.LessOrEqual(t, v.count()-before, 6, "a sick account gets probes only")
		id := s.add(users.Email, messages.ClassUrgent, 2, to("d"))
		s.worker.Wake(buckets.All())
		s.after(2500 * time.Millisecond)
		require.Equal(t, messages.Sent, s.row(id).state)
	})
}

// probed is a vendor that can be probed without a message.
type probed struct {
	*post
	reached func() bool
	probes  atomic.Int64
}

func (p *probed) Probe(context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probes.Add(1)
	return p.reached()
}

// While the only account is unavailable, the backlog stays in the queue. After the account has recovered, everything is
// sent within two seconds.
func TestTheBacklogIsNotTakenWhileEveryAccountIsClosed(t *testing.T) {
	for _, knocks := range []bool{false, true} {
		t.Run(fmt.Sprint("probed without messages: ", knocks), func(t *testing.T) {
			inBubble(t, func(s *bubble) {
				back := time.Now().Add(18 * time.Second)
				up := func() bool { return time.Now().After(back) }
				mail := smtp(func(int, messages.Outbound) messages.Result {
					if up() {
						return messages.Result{Outcome: messages.OutcomeSent}
					}
					return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "refused",
						BeforeRecipient: true}
				})
				p := &probed{post: mail, reached: up}
				var v messages.Vendor = mail
				if knocks {
					v = p
				}
				s.run(delivery.Config{}, v)
				for range 20 {
					s.add(users.Email, messages.ClassUrgent, 1)
				}
				s.worker.Wake(buckets.All())
				s.after(2 * time.Second)
				s.set(func() { s.takes = nil })
				calls := mail.count()
				var ids []messages.ID
				for range 1000 {
					ids = append(ids, s.add(users.Email, messages.ClassUrgent, 1))
				}
				s.worker.Wake(buckets.All())
				s.after(15 * time.Second)
				taken := 0
				s.set(func() {
					for _, n := range s.takes {
						taken += n
					}
				})
				require.LessOrEqual(t, taken, 20+15)
				if knocks {
					require.Equal(t, calls, mail.count(), "no message is a probe")
					require.GreaterOrEqual(t, p.probes.Load(), int64(14))
				} else {
					require.LessOrEqual(t, mail.count()-calls, 16)
				}
				s.after(3 * time.Second) // the account recovers after the first of them
				for _, id := range ids {
					require.Equal(t, messages.Sent, s.row(id).state)
				}
			})
		})
	}
}

// A message that cannot wait longer for a closed account goes to another mode.
func TestAMessageWithoutBudgetLeavesAClosedMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text, mail := texts(always(messages.OutcomeUnavailable)), smtp(nil)
		s.run(delivery.Config{}, mail, text)
		for range 20 {
			s.add(users.SMS, messages.ClassUrgent, 1)
		}
		s.worker.Wake(buckets.All())
		s.after(3 * time.Second)
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		s.worker.Wake(buckets.All())
		s.after(15 * time.Second)
		require.NotEqual(t, messages.Sent, s.row(id).state)
		s.after(8 * time.Second)
		require.Equal(t, messages.Sent, s.row(id).state)
		require.Equal(t, users.Email, s.row(id).Mode)
	})
}

// stuck is a mail server that accepts connections and never answers.
type stuck struct{ *post }

func (s stuck) Send(ctx context.Context, m messages.Outbound) messages.Result {
	s.post.Send(ctx, m)
	<-ctx.Done()
	return messages.Result{Outcome: messages.OutcomeUnknown, Detail: "no answer to the message: time is up"}
}

// A mail server that hangs delays an urgent page by the budget of a mode (docs/reference/delivery.md 3). The timeline
// and the audit log report the same.
func TestAHangingMailServerDelaysAnUrgentPageByItsBudget(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail, text := smtp(nil), texts(nil)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, stuck{mail}, text)
		s.after(21 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, users.SMS, r.Mode)
		require.Equal(t, []string{"Email to ana may or may not have left (no answer to the message: time is up). Trying sms next."}, r.why)
	})
}

// A page that already requested its fallback requests it again when the page is given up. Only then it is certain that
// the page does not arrive.
func TestAGivenUpPageAsksForItsFallbackAgain(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(always(messages.OutcomeUnavailable))
		id := s.add(users.Email, messages.ClassUrgent, 1, to("list@example.com"))
		s.run(delivery.Config{}, mail)
		s.after(2 * time.Minute)
		require.Equal(t, 1, s.row(id).asks)
		require.Equal(t, messages.Pending, s.row(id).state)
		s.after(2 * time.Hour)
		require.Equal(t, messages.Failed, s.row(id).state)
		require.Equal(t, 2, s.row(id).asks)
	})
}

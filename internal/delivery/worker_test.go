package delivery_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestAMessageIsDeliveredAtOnce(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		s.run(delivery.Config{}, mail)
		s.after(300 * time.Millisecond)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		made := time.Now()
		s.worker.Wake(buckets.All())
		s.after(100 * time.Millisecond)
		require.Equal(t, messages.Sent, s.row(id).state)
		c := mail.all()[0]
		require.Less(t, c.at.Sub(made), 10*time.Millisecond)
		require.Regexp(t, `^e\+`, c.m.Destination)
		require.Equal(t, "incident-1-user:1", c.m.ThreadKey)
		require.Equal(t, "https://iris.test/ack/x", c.m.AckURL)
		require.False(t, s.worker.LastPass().IsZero())
	})
}

// A take costs about the same for one message as for many. During a flood, messages therefore wait a little for a
// larger batch. A single message never waits.
func TestTakesAreBatchedDuringAFlood(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.run(delivery.Config{}, smtp(nil))
		s.after(300 * time.Millisecond)
		add := func(n int) {
			for range n {
				s.add(users.Email, messages.ClassRoutine, 1)
			}
			s.worker.Wake(buckets.All())
			s.after(time.Millisecond)
		}
		add(20)
		for range 30 {
			add(1)
		}
		s.after(100 * time.Millisecond)
		for range 5 {
			add(1)
		}
		s.after(100 * time.Millisecond)
		require.Equal(t, 55, s.count(messages.Sent))
		var crowds, lone int
		s.set(func() {
			require.Equal(t, 20, s.takes[0])
			for _, n := range s.takes[1:] {
				crowds += min(1, n/8)
				lone += min(1, 1/n)
			}
		})
		require.Positive(t, crowds)
		require.LessOrEqual(t, len(s.takes), 30)
		require.GreaterOrEqual(t, lone, 5)
	})
}

func TestAMessageIsFoundWithoutAWakeUp(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		s.run(delivery.Config{}, mail)
		s.after(300 * time.Millisecond)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.after(1100 * time.Millisecond)
		require.Equal(t, messages.Sent, s.row(id).state)
	})
}

func TestUnavailableIsRetriedWithANewKey(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(n int, _ messages.Outbound) messages.Result {
			if n < 3 {
				return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "busy"}
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail)
		s.after(5 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Len(t, r.attempts, 3)
		require.NotEqual(t, r.attempts[0].key, r.attempts[1].key, "the first definitely failed")
		gap := r.attempts[1].at.Sub(r.attempts[0].at)
		require.GreaterOrEqual(t, gap, 250*time.Millisecond)
		require.LessOrEqual(t, gap, 600*time.Millisecond)
		require.Empty(t, r.why, "retries do not fill the timeline")
	})
}

func TestAnAttemptInDoubtKeepsItsKey(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(n int, _ messages.Outbound) messages.Result {
			if n < 3 {
				return messages.Result{Outcome: messages.OutcomeUnknown, Detail: "no answer"}
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail)
		s.after(5 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		keys := []string{r.attempts[0].key, r.attempts[1].key, r.attempts[2].key}
		require.Len(t, slices.Compact(keys), 1)
		require.Contains(t, r.why[0], "may or may not have left")
	})
}

func TestARejectedMessageIsSentByTheNextMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text, mail := texts(always(messages.OutcomeRejected)), smtp(nil)
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail, text)
		s.after(200 * time.Millisecond)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, users.Email, r.Mode)
		require.Equal(t, []string{"SMS to ana failed (no rejected). Trying email next."}, r.why)
		require.Equal(t, 1, text.count())
	})
}

func TestAMessageRejectedInEveryModeAsksForAFallback(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text, mail := texts(always(messages.OutcomeRejected)), smtp(always(messages.OutcomeRejected))
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		copied := s.add(users.SMS, messages.ClassUrgent, 1, func(c *delivery.Claimed) { c.Purpose = messages.Copy })
		s.run(delivery.Config{}, mail, text)
		s.after(time.Second)
		r := s.row(id)
		require.Equal(t, messages.Failed, r.state)
		require.True(t, r.asked)
		require.Contains(t, r.why[1], "cannot be reached in any other way")
		require.Equal(t, messages.Failed, s.row(copied).state)
		require.False(t, s.row(copied).asked, "who gets the original knows already")
		require.True(t, r.forGood, "nobody waits for it")
		require.Equal(t, 2, text.count())
		require.Equal(t, 2, mail.count())
	})
}

func TestANoticeHasOneModeAndNothingToAcknowledge(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text, mail := texts(always(messages.OutcomeRejected)), smtp(nil)
		notice := func(m users.Mode) messages.ID {
			return s.add(m, messages.ClassRoutine, 1, func(c *delivery.Claimed) { c.Purpose = messages.ResolvedNotice })
		}
		rejected, sent := notice(users.SMS), notice(users.Email)
		s.run(delivery.Config{}, mail, text)
		s.after(time.Second)
		r := s.row(rejected)
		require.Equal(t, messages.Failed, r.state)
		require.Equal(t, users.SMS, r.Mode)
		require.False(t, r.asked, "no fallback")
		require.Equal(t, messages.Sent, s.row(sent).state)
		m := mail.all()[0].m
		require.Empty(t, m.AckURL)
		require.Zero(t, m.IncidentID)
		require.NotEmpty(t, m.ThreadKey)
	})
}

func TestAnUpdateHasOneMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text, mail := texts(nil), smtp(always(messages.OutcomeRejected))
		id := s.add(users.Email, messages.ClassOutOfBand, 1, func(c *delivery.Claimed) { c.Purpose, c.IncidentID = messages.StatusUpdate, 0 })
		s.run(delivery.Config{}, mail, text)
		s.after(time.Minute)
		require.Equal(t, messages.Failed, s.row(id).state)
		require.False(t, s.row(id).asked, "no fallback")
		require.Zero(t, text.count())
	})
}

func TestMessagesLeaveABrokenVendorForTheNextMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text, mail := texts(always(messages.OutcomeUnavailable)), smtp(nil)
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail, text)
		s.after(25 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, users.Email, r.Mode)
		require.Greater(t, text.count(), 3)
	})
}

func TestNoMessageIsLostWhileEveryVendorIsUnavailable(t *testing.T) {
	inBubble(t, func(s *bubble) {
		back := time.Now().Add(3 * time.Minute)
		outage := func(int, messages.Outbound) messages.Result {
			if time.Now().Before(back) {
				return messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "away"}
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		}
		text, mail := texts(outage), smtp(outage)
		var ids []messages.ID
		for i := range 50 {
			ids = append(ids, s.add([]users.Mode{users.SMS, users.Email}[i%2], messages.ClassUrgent, int64(i%3)))
		}
		literal := s.add(users.Email, messages.ClassRoutine, 1,
			func(c *delivery.Claimed) { c.UserID, c.Destination = 0, "list@example.com" })
		s.run(delivery.Config{}, mail, text)
		s.after(80 * time.Second)
		require.True(t, s.row(ids[0]).asked, "others are told meanwhile")
		s.after(2 * time.Minute)
		for _, id := range append(ids, literal) {
			require.Equal(t, messages.Sent, s.row(id).state)
		}
	})
}

func TestTheSpareAccountIsUsedAfterTheMainOne(t *testing.T) {
	inBubble(t, func(s *bubble) {
		main := smtp(always(messages.OutcomeUnavailable))
		spare := &post{name: "smtp", account: "spare", modes: []users.Mode{users.Email}}
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{BreakAfter: 1000}, main, spare)
		s.after(20 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, users.Email, r.Mode)
		require.Equal(t, "smtp/spare", r.attempts[len(r.attempts)-1].vendor)
		require.Equal(t, 1, spare.count())
	})
}

func TestThrottlingPausesTheAccountForAllMessages(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(n int, _ messages.Outbound) messages.Result {
			if n == 1 {
				return messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: 8 * time.Second}
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail)
		s.after(100 * time.Millisecond)
		require.Equal(t, 1, mail.count())
		s.set(func() {
			require.Equal(t, "account:smtp/main", s.pauses[0].Key)
			s.pauses = nil // the database would report that the pause has ended
			s.pauses = append(s.pauses, account.Pause{Key: "account:smtp/main", For: 7 * time.Second})
		})
		s.add(users.Email, messages.ClassUrgent, 2)
		s.after(6 * time.Second)
		require.Equal(t, 1, mail.count(), "nobody calls during the pause")
		s.set(func() { s.pauses = nil })
		s.after(8 * time.Second)
		require.Equal(t, 3, mail.count())
	})
}

func TestAHangingVendorDelaysNoOtherMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(int, messages.Outbound) messages.Result {
			wait(20 * time.Second)
			return messages.Result{Outcome: messages.OutcomeUnknown, Detail: "timeout"}
		})
		text := texts(nil)
		for range 300 {
			s.add(users.Email, messages.ClassUrgent, 1)
		}
		s.run(delivery.Config{}, mail, text)
		s.after(2 * time.Second)
		ids := []messages.ID{}
		for range 20 {
			ids = append(ids, s.add(users.SMS, messages.ClassRoutine, 2))
		}
		s.worker.Wake(buckets.All())
		s.after(50 * time.Millisecond)
		for _, id := range ids {
			require.Equal(t, messages.Sent, s.row(id).state)
		}
		require.Equal(t, 64, mail.count(), "its own calls are bounded")
		s.after(90 * time.Second)
		require.Equal(t, 320, s.count(messages.Sent), "what could not be mailed went another way")
		for _, r := range []messages.ID{1, 100, 300} {
			require.Equal(t, users.SMS, s.row(r).Mode)
		}
	})
}

func TestNoContactMeansAnotherMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.people[2] = users.Responder{Contacts: map[users.Mode]string{users.Email: "e2"}}
		s.people[3] = users.Responder{}
		s.allowed[users.Slack] = false
		mail, text := smtp(nil), texts(nil)
		none := s.add(users.SMS, messages.ClassUrgent, 1, func(c *delivery.Claimed) { c.UserID, c.Target = 2, "bo" })
		nobody := s.add(users.SMS, messages.ClassUrgent, 1, func(c *delivery.Claimed) { c.UserID, c.Target = 3, "cy" })
		forbidden := s.add(users.Slack, messages.ClassUrgent, 1)
		unserved := s.add(users.Push, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail, text)
		s.after(time.Second)
		require.Equal(t, messages.Sent, s.row(none).state)
		require.Equal(t, []string{"bo has no sms contact. Trying email next."}, s.row(none).why)
		require.Equal(t, messages.Failed, s.row(nobody).state)
		require.True(t, s.row(nobody).asked)
		require.Equal(t, messages.Sent, s.row(forbidden).state)
		require.Equal(t, []string{"The application may not use slack. Trying email next."}, s.row(forbidden).why)
		require.Equal(t, messages.Sent, s.row(unserved).state)
	})
}

func TestAcknowledgedMessagesAreNotSent(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.silenced[id] = true
		s.run(delivery.Config{}, mail)
		s.after(time.Second)
		require.Zero(t, mail.count())
		require.Equal(t, messages.Cancelled, s.row(id).state)
	})
}

// An incident is acknowledged when its page is about to be sent, and reopened at once: the page does not wait for the
// end of the claim.
func TestAPageOfAnIncidentThatWasStoppedAndRestartedIsSentAtOnce(t *testing.T) {
	for name, stop := range map[string]func(*bubble) map[messages.ID]bool{
		"before the mark": func(s *bubble) map[messages.ID]bool { return s.silenced },
		"after the mark":  func(s *bubble) map[messages.ID]bool { return s.silencedLate },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(s *bubble) {
				mail := smtp(nil)
				id := s.add(users.Email, messages.ClassUrgent, 1)
				stop(s)[id] = true
				s.restarts, s.slowMark = true, 200*time.Millisecond
				s.run(delivery.Config{}, mail)
				s.after(time.Second)
				require.Equal(t, messages.Sent, s.row(id).state)
				require.Equal(t, 1, mail.count())
			})
		})
	}
}

func TestALostMarkIsRetracted(t *testing.T) {
	for name, lost := range map[string]int{"it was done": 1, "it was not done": 2} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(s *bubble) {
				mail := smtp(nil)
				id := s.add(users.Email, messages.ClassUrgent, 1)
				s.lostMark = lost
				s.run(delivery.Config{}, mail)
				s.after(500 * time.Millisecond)
				r := s.row(id)
				require.Equal(t, messages.Sent, r.state)
				require.Equal(t, 1, mail.count())
				require.Empty(t, r.why, "there is no doubt")
			})
		})
	}
}

// A crash of the database loses the mark, and the take before it, which was committed asynchronously. The message is
// taken again before the retraction of the mark is stored. The retraction must not become the outcome of the new
// attempt.
func TestARetractionDoesNotChangeTheAttemptOfALaterTake(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(int, messages.Outbound) messages.Result {
			wait(3 * time.Second)
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.lostMark, s.recordFrom = 3, time.Now().Add(1500*time.Millisecond)
		s.run(delivery.Config{}, mail)
		s.after(15 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, 1, mail.count())
		require.Len(t, r.attempts, 1)
	})
}

func TestOutcomesAreKeptUntilTheyAreStored(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(int, messages.Outbound) messages.Result {
			wait(100 * time.Millisecond)
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		for range 20 {
			s.add(users.Email, messages.ClassUrgent, 1)
		}
		s.run(delivery.Config{}, mail)
		s.after(50 * time.Millisecond)
		s.set(func() { s.down = true })
		s.after(30 * time.Second)
		require.Zero(t, s.count(messages.Sent))
		s.set(func() { s.down = false })
		s.after(3 * time.Second)
		require.Equal(t, 20, s.count(messages.Sent))
		require.Equal(t, 20, mail.count())
	})
}

func TestAnOutcomeThatCannotBeStoredDelaysNoOther(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(n int, _ messages.Outbound) messages.Result {
			wait(10 * time.Millisecond)
			r := messages.Result{Outcome: messages.OutcomeSent}
			if n == 5 {
				r.Detail = "poison"
			}
			return r
		})
		for range 20 {
			s.add(users.Email, messages.ClassUrgent, 1)
		}
		s.run(delivery.Config{}, mail)
		s.after(time.Second)
		require.Equal(t, 20, s.count(messages.Sent))
	})
}

// slowWords is a renderer that is slow for one template.
type slowWords struct{ words }

func (w slowWords) Render(ctx context.Context, reqs []messages.Request) ([]messages.Content, error) {
	for _, r := range reqs {
		if r.Template == "poison" {
			wait(time.Second)
		}
	}
	return w.words.Render(ctx, reqs)
}

func TestASlowTemplateDelaysOnlyItself(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		s.deps.Renderer = slowWords{}
		s.run(delivery.Config{}, mail)
		s.after(100 * time.Millisecond)
		for i := range 40 {
			s.add(users.Email, messages.ClassUrgent, 1, func(c *delivery.Claimed) {
				if c.Template = "poison"; i%2 == 1 {
					c.Template = "good"
				}
			})
		}
		s.worker.Wake(buckets.All())
		s.after(100 * time.Millisecond)
		require.Equal(t, 20, s.count(messages.Sent), "the good ones")
		id := s.add(users.Email, messages.ClassRoutine, 1)
		s.worker.Wake(buckets.All())
		s.after(100 * time.Millisecond)
		require.Equal(t, messages.Sent, s.row(id).state)
		s.after(time.Minute)
		require.Equal(t, 41, s.count(messages.Sent), "the bad ones too, in the end")
	})
}

func TestAPanicInAVendorLeavesTheAttemptInDoubt(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(n int, _ messages.Outbound) messages.Result {
			if n == 1 {
				panic("oops")
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail)
		s.after(3 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, messages.OutcomeUnknown, r.attempts[0].result.Outcome)
	})
}

func TestStopWaitsForRunningSends(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(func(int, messages.Outbound) messages.Result {
			wait(3 * time.Second)
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		for range 200 {
			s.add(users.Email, messages.ClassUrgent, 1)
		}
		s.run(delivery.Config{}, mail)
		s.after(time.Second)
		began := time.Now()
		s.stop()
		require.Less(t, time.Since(began), 5*time.Second)
		require.Equal(t, 64, s.count(messages.Sent))
		require.Equal(t, 136, s.count(messages.Pending), "the others are free for somebody else")
		require.Equal(t, 64, mail.count())
	})
}

func TestStopCancelsHangingSends(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.deps.Vendors = nil
		hung := &hanging{post: smtp(nil)}
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{StopWithin: 2 * time.Second}, hung)
		s.after(time.Second)
		began := time.Now()
		s.stop()
		require.Less(t, time.Since(began), 4*time.Second)
		require.Equal(t, messages.OutcomeUnknown, s.row(id).attempts[0].result.Outcome)
	})
}

// hanging is a vendor that answers only when its context ends.
type hanging struct{ *post }

func (hanging) Send(ctx context.Context, _ messages.Outbound) messages.Result {
	<-ctx.Done()
	return messages.Result{Outcome: messages.OutcomeUnknown, Detail: "no answer"}
}

func TestDryRunsStopBeforeTheVendor(t *testing.T) {
	for _, dry := range []delivery.DryRun{delivery.DryRunRender, delivery.DryRunStore} {
		t.Run(string(dry), func(t *testing.T) {
			inBubble(t, func(s *bubble) {
				mail := smtp(nil)
				id := s.add(users.Email, messages.ClassUrgent, 1)
				s.run(delivery.Config{DryRun: dry}, mail)
				s.after(time.Second)
				require.Equal(t, messages.Dropped, s.row(id).state)
				require.Zero(t, mail.count())
			})
		})
	}
}

func TestPausedModesWait(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		s.pauses = []account.Pause{{Key: delivery.ModeKey(users.Email), For: time.Hour}}
		s.run(delivery.Config{}, mail)
		s.after(100 * time.Millisecond)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.after(time.Minute)
		require.Equal(t, messages.Pending, s.row(id).state)
		s.set(func() { s.pauses = nil })
		s.after(3 * time.Second)
		require.Equal(t, messages.Sent, s.row(id).state)
	})
}

func TestARateIsKeptAndUsed(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		for i := range 400 {
			s.add(users.Email, messages.ClassOutOfBand, int64(i%3))
		}
		s.run(delivery.Config{Limits: map[string]rate.Limit{delivery.ModeKey(users.Email): {PerSecond: 20}}}, mail)
		s.after(10 * time.Second)
		calls := mail.all()
		require.LessOrEqual(t, len(calls), 201)
		require.GreaterOrEqual(t, len(calls), 190)
		for i := 1; i < len(calls); i++ {
			require.GreaterOrEqual(t, calls[i].at.Sub(calls[i-1].at), 49*time.Millisecond)
		}
		id := s.add(users.Email, messages.ClassUrgent, 9)
		s.worker.Wake(buckets.All())
		s.after(700 * time.Millisecond)
		require.Equal(t, messages.Sent, s.row(id).state, "the urgent one goes first")
	})
}

func TestSeveralLimitsAreKeptAndUsed(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		for i := range 600 {
			s.add(users.Email, messages.ClassOutOfBand, int64(i%3))
		}
		s.run(delivery.Config{Limits: map[string]rate.Limit{
			delivery.ModeKey(users.Email):                {PerSecond: 10},
			delivery.AccountKey("smtp", "main"):          {PerSecond: 12},
			delivery.ApplicationKey("shop", users.Email): {PerSecond: 8},
		}}, mail)
		s.after(20 * time.Second)
		calls := mail.all()
		require.LessOrEqual(t, len(calls), 161, "the narrowest limit holds")
		require.GreaterOrEqual(t, len(calls), 152, "and is used")
	})
}

func TestAnApplicationsLimitDelaysNoOtherApplication(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		for range 100 {
			s.add(users.Email, messages.ClassUrgent, 1)
		}
		s.run(delivery.Config{Limits: map[string]rate.Limit{delivery.ApplicationKey("shop",
			users.Email): {PerSecond: 5, Burst: 3}}}, mail)
		s.after(10 * time.Second)
		require.InDelta(t, 52, mail.count(), 4)
	})
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	m := newMemory()
	deps := delivery.Deps{
		Queue: m, Ledger: m, Rescuer: m, Limits: m, Leases: &holder{id: "me"}, Renderer: words{}, Directory: m, Links: links{},
	}
	_, err := delivery.New(deps, delivery.Config{})
	require.ErrorContains(t, err, "log")
	deps.Log, deps.Metrics = zaptest.NewLogger(t), prometheus.NewRegistry()
	_, err = delivery.New(deps, delivery.Config{})
	require.NoError(t, err, "every metric is registered")
	_, err = delivery.New(deps, delivery.Config{Limits: map[string]rate.Limit{"mode:sms": {}}})
	require.ErrorContains(t, err, "mode:sms")
	_, err = delivery.New(deps, delivery.Config{DryRun: "sometimes"})
	require.ErrorContains(t, err, "dry run")
	deps.Vendors = []messages.Vendor{smtp(nil), smtp(nil)}
	_, err = delivery.New(deps, delivery.Config{})
	require.ErrorContains(t, err, "smtp/main")
}

// With slow commits, pages must still be sent (promise P1), and none long after an acknowledgement (promise P4).
func TestSlowCommitsDoNotStopPages(t *testing.T) {
	for name, slow := range map[string]time.Duration{"400 ms": 400 * time.Millisecond, "2 s": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(s *bubble) {
				mail := smtp(nil)
				s.slowMark = slow
				for range 10 {
					s.add(users.Email, messages.ClassUrgent, 1)
				}
				s.run(delivery.Config{}, mail)
				s.after(3 * slow)
				require.Equal(t, 10, s.count(messages.Sent))
				for _, c := range mail.all() {
					require.False(t, c.m.TooLate(c.at))
					require.LessOrEqual(t, c.m.BeginBefore.Sub(c.at), 300*time.Millisecond)
				}
			})
		})
	}
}

func TestAnAcknowledgementDuringASlowCommitStopsTheCall(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		s.slowMark = 2 * time.Second
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail)
		s.after(time.Second)
		s.set(func() { s.silencedLate[id] = true })
		s.after(time.Second + 500*time.Millisecond)
		require.Zero(t, mail.count())
		require.Equal(t, messages.OutcomeCancelled, s.row(id).attempts[0].result.Outcome)
	})
}

// A limit is fully used even with slow marks: its slots are reserved as far ahead as the marks take.
func TestALimitIsFullyUsedWithSlowCommits(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		s.slowMark = 400 * time.Millisecond
		for range 400 {
			s.add(users.Email, messages.ClassUrgent, 1)
		}
		s.run(delivery.Config{Limits: map[string]rate.Limit{delivery.ModeKey(users.Email): {PerSecond: 20}}}, mail)
		s.after(20 * time.Second)
		calls := mail.all()
		require.LessOrEqual(t, len(calls), 401)
		require.GreaterOrEqual(t, len(calls), 200)
		empty := calls[0].at // when a bucket that leaks at the rate is empty; a slot may be used 50 ms late
		for _, c := range calls {
			if c.at.After(empty) {
				empty = c.at
			}
			empty = empty.Add(50 * time.Millisecond)
			require.LessOrEqual(t, empty.Sub(c.at), 101*time.Millisecond)
		}
	})
}

// A page whose call never begins in time goes to the next mode when the budget of its mode is used up.
func TestCallsThatNeverBeginUseUpTheBudgetOfTheMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text := texts(func(int, messages.Outbound) messages.Result { return messages.NotBegun() })
		mail := smtp(nil)
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, text, mail)
		s.after(25 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, users.Email, r.Mode)
		require.Contains(t, r.why[0], "the call was not begun")
		require.Less(t, text.count(), 100)
	})
}

func TestAStaleReadIsRepeated(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := smtp(nil)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.slowLook = 350 * time.Millisecond
		s.run(delivery.Config{}, mail)
		s.after(500 * time.Millisecond)
		s.set(func() { s.slowLook = 100 * time.Millisecond })
		s.after(500 * time.Millisecond)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Len(t, r.attempts, 1)
	})
}

// prepared is a Preparer: its calls need a connection first.
type prepared struct {
	*post
	connect  time.Duration
	refused  messages.Result // when not empty, Prepare fails with it
	open     atomic.Int64    // connections that were neither used nor released
	prepares atomic.Int64
}

type line struct {
	*prepared
}

func (p *prepared) Prepare(context.Context, messages.Outbound) (messages.Prepared, messages.Result, bool) {
	p.prepares.Add(1)
	wait(p.connect)
	if p.refused.Outcome != "" {
		return nil, p.refused, false
	}
	p.open.Add(1)
	return line{p}, messages.Result{}, true
}

func (l line) Send(ctx context.Context, m messages.Outbound) messages.Result {
	l.open.Add(-1)
	return l.post.Send(ctx, m)
}

func (l line) Release() { l.open.Add(-1) }

func TestConnectionsAreReadyBeforeTheMark(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := &prepared{post: smtp(nil), connect: 8 * time.Second}
		id := s.add(users.Email, messages.ClassUrgent, 1)
		late := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail)
		s.after(7 * time.Second)
		require.Equal(t, messages.Taken, s.row(id).state)
		s.set(func() { s.silenced[late] = true })
		s.after(2 * time.Second)
		require.Equal(t, messages.Sent, s.row(id).state)
		require.Equal(t, 1, mail.count())
		require.Zero(t, mail.open.Load(), "the connection of the acknowledged page is given back")
	})
}

func TestAFailedConnectionCountsAsAnAttempt(t *testing.T) {
	inBubble(t, func(s *bubble) {
		mail := &prepared{post: smtp(nil), refused: messages.Result{Outcome: messages.OutcomeUnavailable,
			Detail: "connection refused"}}
		text := texts(nil)
		id := s.add(users.Email, messages.ClassUrgent, 1)
		s.run(delivery.Config{}, mail, text)
		s.after(25 * time.Second)
		r := s.row(id)
		require.Equal(t, messages.Sent, r.state)
		require.Equal(t, users.SMS, r.Mode)
		require.Equal(t, "connection refused", r.attempts[0].result.Detail)
	})
}

// A message does not wait for a pause that is known to exceed the budget of its mode.
func TestAPauseLongerThanTheBudgetMovesTheMessageToTheNextMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		text := texts(func(int, messages.Outbound) messages.Result {
			return messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: time.Hour}
		})
		mail := smtp(nil)
		s.run(delivery.Config{}, text, mail)
		s.after(300 * time.Millisecond)
		first := s.add(users.SMS, messages.ClassUrgent, 1)
		s.worker.Wake(buckets.All())
		s.after(time.Second)
		require.Equal(t, messages.Sent, s.row(first).state)
		for range 3 {
			id := s.add(users.SMS, messages.ClassUrgent, 1)
			routine := s.add(users.SMS, messages.ClassRoutine, 1)
			s.worker.Wake(buckets.All())
			s.after(2 * time.Second)
			require.Equal(t, messages.Sent, s.row(id).state)
			require.Equal(t, users.Email, s.row(id).Mode)
			require.Equal(t, messages.Sent, s.row(routine).state)
		}
		require.Equal(t, 1, text.count())
	})
}

// If there is no other mode, a long pause does not fill the timeline.
func TestAMessageWaitsForALongPauseOfItsOnlyMode(t *testing.T) {
	inBubble(t, func(s *bubble) {
		back := time.Now().Add(10 * time.Minute)
		text := texts(func(int, messages.Outbound) messages.Result {
			if left := time.Until(back); left > 0 {
				return messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: left}
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		s.run(delivery.Config{}, text)
		s.add(users.SMS, messages.ClassUrgent, 1)
		s.after(time.Second)
		id := s.add(users.SMS, messages.ClassUrgent, 1)
		s.worker.Wake(buckets.All())
		s.after(5 * time.Minute)
		s.set(func() { s.pauses = nil })
		require.True(t, s.row(id).asked, "others are told")
		require.Less(t, len(s.row(id).why), 5)
		s.after(5 * time.Minute)
		s.set(func() { s.pauses = nil })
		s.after(time.Minute)
		require.Equal(t, messages.Sent, s.row(id).state)
	})
}

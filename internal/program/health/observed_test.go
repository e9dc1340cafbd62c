package health

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// moody is a vendor with settable results.
type moody struct{ result messages.Result }

func (*moody) Name() string                                              { return "twilio" }
func (*moody) Account() string                                           { return "main" }
func (*moody) Modes() []users.Mode                                       { return []users.Mode{users.SMS} }
func (m *moody) Send(context.Context, messages.Outbound) messages.Result { return m.result }

func TestFailuresAndRecoveriesAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		v := &moody{}
		w := Observe(v, zap.New(core))
		send := func(r messages.Result, times int) {
			v.result = r
			for range times {
				require.Equal(t, r, w.Send(t.Context(), messages.Outbound{MessageID: 7, IncidentID: 3, Mode: users.SMS,
					Application: "shop"}))
			}
		}
		said := func() (out []string) {
			for _, e := range logs.TakeAll() {
				require.Equal(t, "twilio", e.ContextMap()["vendor"])
				require.Equal(t, "main", e.ContextMap()["account"])
				out = append(out, e.Message)
			}
			return out
		}
		sent := messages.Result{Outcome: messages.OutcomeSent}
		away := messages.Result{Outcome: messages.OutcomeUnavailable,
			Detail: "dial tcp 10.0.0.1:443: connection refused"}
		const fails, works = "vendor fails, its messages are retried or sent another way", "vendor works again"

		send(sent, 3)
		require.Empty(t, said(), "what works is not worth a line")
		send(away, 5)
		require.Equal(t, away.Detail, logs.All()[0].ContextMap()["reason"])
		require.Equal(t, []string{fails}, said(), "once")
		send(sent, 2)
		require.Equal(t, []string{works}, said())
		send(away, 1)
		send(sent, 1)
		require.Empty(t, said(), "a vendor that wavers does not fill the log")
		<-time.After(outageEvery)
		send(messages.Result{Outcome: messages.OutcomeUnknown, Detail: "timeout"}, 1)
		require.EqualValues(t, 6, logs.All()[0].ContextMap()["failures"], "unlogged failures count")
		require.Equal(t, []string{fails}, said())

		send(messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: time.Second}, 3)
		require.Equal(t, []string{"vendor asks for fewer messages"}, said())
		send(messages.Result{Outcome: messages.OutcomeRejected,
			Detail: "The number +1 (555) 123-4567 is not valid, asked 10.0.0.1"}, 2)
		refusal := logs.All()[0].ContextMap()
		require.Equal(t, "The number (number) is not valid, asked 10.0.0.1", refusal["reason"])
		require.EqualValues(t, 7, refusal["message_id"])
		require.Len(t, said(), 2, "each of them is a page that went another way")
	})
}

// Readiness names the failing account and the cause. The log names plan and target.
func TestReadinessNamesTheAccountThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		v := &moody{}
		w := Observe(v, zap.New(core))
		all := []messages.Vendor{w}
		send := func(r messages.Result) {
			v.result = r
			w.Send(t.Context(), messages.Outbound{Plan: "db-on-call", Target: "ana"})
		}
		state := func() error { return VendorCheck(all).Ask(t.Context()) }
		metric := func(want string) {
			t.Helper()
			require.NoError(t, testutil.CollectAndCompare(Accounts(all), strings.NewReader(`
				# HELP iris_delivery_account_failing 1 while an account of a vendor fails: its messages are retried or sent another way.
				# TYPE iris_delivery_account_failing gauge
				iris_delivery_account_failing{account="main",vendor="twilio"} `+want+"\n")))
		}
		metric("0")
		require.NoError(t, state())
		send(messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "451 4.7.1 greylisted"})
		require.NoError(t, state(), "one recipient says little")
		require.Equal(t, "db-on-call", logs.All()[0].ContextMap()["plan"])
		require.Equal(t, "ana", logs.All()[0].ContextMap()["target"])
		require.Equal(t, "451 4.7.1 greylisted", logs.All()[0].ContextMap()["reason"])
		send(messages.Result{Outcome: messages.OutcomeUnavailable, Detail: "connection refused", BeforeRecipient: true})
		var worry Concern
		require.ErrorAs(t, state(), &worry)
		require.Contains(t, worry.Error(),
			"twilio/main fails since 2000-01-01T00:00:00Z (2 calls, last: connection refused)")
		metric("1")
		send(messages.Result{Outcome: messages.OutcomeSent})
		require.NoError(t, state())
		metric("0")
	})
}

func TestDatesAreNotHiddenAsPhoneNumbers(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"certificate has expired: current time 2026-11-22T04:42:50Z is after 2026-11-21T04:42:48Z", "no service before 2026-11-22 04:42", "asked 10.0.0.1:25",
	} {
		require.Equal(t, said, hideNumbers(said))
	}
	require.Equal(t, "RCPT: 451 4.7.1 <(number)> greylisted",
		hideNumbers("RCPT: 451 4.7.1 <+41 44 123 45 67> greylisted"))
	require.Equal(t, "421 4.7.0 10.0.0.1 too fast; 550-5.1.1 gone",
		hideNumbers("421 4.7.0 10.0.0.1 too fast; 550-5.1.1 gone"))
	require.Equal(t, "to (number) and (number)", hideNumbers("to 2026-555-0100 and +41 44 123 45 67"))
}

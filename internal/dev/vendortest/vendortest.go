package vendortest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Backend is the pretend server of a vendor.
type Backend interface {
	Behave(list ...pretend.Behaviour)
	Limit(r pretend.Rate)
	Log() *pretend.Log
}

// Rig is a vendor connected to its own backend.
type Rig struct {
	Vendor  messages.Vendor
	Backend Backend
	// Secrets must not occur in any result.
	Secrets []string
}

// Suite says how to build a vendor and what it supports.
type Suite struct {
	// New returns a new rig; it ends with the test.
	New func(t *testing.T) Rig
	// Mode of the messages sent.
	Mode users.Mode
	// Destination that is accepted, and those that are refused for good by us or by the vendor. For the webhook the
	// destination depends on the rig.
	Destination func(r Rig) string
	Malformed   []string
	// DefiniteBeforeData: a connection that is broken before the message was read is a definite failure (SMTP), not in
	// doubt (HTTP, where the request may have been read).
	DefiniteBeforeData bool
	// RetryAfter: the vendor says when to retry.
	RetryAfter bool
	// Open is how many calls occupy all connections of a vendor that can make n calls at once; nil = n.
	Open func(n int) int
	// LongestBody is the longest body that arrives, in characters; 0 = all.
	LongestBody int
}

// Run runs the suite.
func Run(t *testing.T, s Suite) {
	for name, test := range map[string]func(*testing.T, Suite){
		"accepted":        accepted,
		"outcomes":        outcomes,
		"malformed":       malformed,
		"recovers":        recovers,
		"hang":            hang,
		"broken off":      brokenOff,
		"cancelled":       cancelled,
		"concurrent":      concurrent,
		"injection":       injection,
		"huge":            huge,
		"empty":           empty,
		"limits":          limits,
		"late":            late,
		"late in queue":   lateInQueue,
		"preparing":       preparing,
		"preparing fails": preparingFails,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

func (s Suite) message(r Rig) messages.Outbound {
	return messages.Outbound{
		MessageID: 4711, Attempt: 1, Mode: s.Mode, Destination: s.Destination(r), Subject: "4711 Disk full", Body: "db1 is at 99 %",
		EmailHTML: "<p>db1 is at 99 %</p>", Application: "demo", Plan: "demo-plan", Priority: users.High, Target: "ann", IncidentID: 17,
		ThreadKey: "17/ann", AckURL: "https://iris.example/ack/abc", IncidentURL: "https://iris.example/incidents/17", IdempotencyKey: "4711-1",
	}
}

// send sends a message and checks what holds for every result.
func (s Suite) send(t *testing.T, r Rig, m messages.Outbound) messages.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return s.sendIn(t, ctx, r, m)
}

func (s Suite) sendIn(t *testing.T, ctx context.Context, r Rig, m messages.Outbound) messages.Result {
	t.Helper()
	res := r.Vendor.Send(ctx, m)
	check(t, r, res)
	return res
}

func check(t *testing.T, r Rig, res messages.Result) {
	t.Helper()
	require.Contains(t, []messages.Outcome{
		messages.OutcomeSent, messages.OutcomeRejected, messages.OutcomeThrottled, messages.OutcomeUnavailable,
		messages.OutcomeUnknown, messages.OutcomeCancelled,
	}, res.Outcome)
	require.NotEmpty(t, res.Detail)
	require.LessOrEqual(t, len(res.Detail), 300)
	require.NotContains(t, res.Detail, "\n")
	require.NotContains(t, res.Detail, "\x00")
	for _, secret := range r.Secrets {
		require.NotContains(t, res.Detail, secret)
		require.NotContains(t, res.VendorMessageID, secret)
	}
}

// last returns the newest entry of a message, not of a lookup.
func last(t *testing.T, r Rig) pretend.Entry {
	t.Helper()
	all := r.Backend.Log().Entries()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Mode != "lookup" {
			return all[i]
		}
	}
	require.Fail(t, "nothing was received")
	return pretend.Entry{}
}

func accepted(t *testing.T, s Suite) {
	r := s.New(t)
	res := s.send(t, r, s.message(r))
	require.Equal(t, messages.OutcomeSent, res.Outcome, res.Detail)
	e := last(t, r)
	require.True(t, e.Accepted, e.Reason)
	const passed = "the vendor sends it, and the pretend server copies it to the entry"
	require.Equal(t, int64(4711), e.MessageID, passed)
	require.Equal(t, int64(17), e.IncidentID, passed)
	require.Equal(t, "demo", e.Application, passed)
	require.Equal(t, string(s.Mode), e.Mode)
	if s.Mode != users.Call { // which fetches its text later
		require.Contains(t, e.Body, "db1 is at 99 %")
	}
	require.NotEmpty(t, res.VendorMessageID)
	require.Equal(t, e.VendorID, res.VendorMessageID)
	require.Contains(t, r.Vendor.Modes(), s.Mode)
	require.NotEmpty(t, r.Vendor.Name())
	require.NotEmpty(t, r.Vendor.Account())
}

// outcomes checks the outcome for each behaviour of the server, and that the next message is sent.
func outcomes(t *testing.T, s Suite) {
	unsure := []messages.Outcome{messages.OutcomeUnknown, messages.OutcomeUnavailable}
	unreadable := unsure
	if s.Mode == users.Webhook { // only the status of a receiver's answer matters
		unreadable = []messages.Outcome{messages.OutcomeSent}
	}
	for _, c := range []struct {
		server pretend.Behaviour
		want   []messages.Outcome
	}{
		{pretend.Behaviour{Do: pretend.Reject}, []messages.Outcome{messages.OutcomeRejected}},
		{pretend.Behaviour{Do: pretend.Throttle, RetryAfter: 7}, []messages.Outcome{messages.OutcomeThrottled}},
		{pretend.Behaviour{Do: pretend.Throttle}, []messages.Outcome{messages.OutcomeThrottled}},
		{pretend.Behaviour{Do: pretend.Fail}, []messages.Outcome{messages.OutcomeUnavailable}},
		{pretend.Behaviour{Do: pretend.RefuseConnections}, unsure},
		{pretend.Behaviour{Do: pretend.Garbage}, unreadable},
	} {
		r := s.New(t)
		r.Backend.Behave(c.server)
		for range 3 {
			res := s.send(t, r, s.message(r))
			require.Contains(t, c.want, res.Outcome, "%s: %s", c.server.Do, res.Detail)
			require.Equal(t, res.Outcome == messages.OutcomeRejected, res.DestinationGone)
			if s.RetryAfter || c.server.RetryAfter == 0 {
				require.Equal(t, time.Duration(c.server.RetryAfter)*time.Second, res.RetryAfter)
			}
		}
		if c.server.Do != pretend.Garbage { // which accepts the message
			require.Empty(t, r.Backend.Log().Accepted(), c.server.Do)
		}
		r.Backend.Behave()
		require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome, c.server.Do)
	}
}

func malformed(t *testing.T, s Suite) {
	r := s.New(t)
	for _, dest := range append(s.Malformed, "", " ", "\x00", "\r\n") {
		m := s.message(r)
		m.Destination = dest
		res := s.send(t, r, m)
		require.Equal(t, messages.OutcomeRejected, res.Outcome, "%q: %s", dest, res.Detail)
	}
	require.Empty(t, r.Backend.Log().Accepted())
}

// recovers checks that sending works after each kind of fault, over connections in any state.
func recovers(t *testing.T, s Suite) {
	r := s.New(t)
	for _, kind := range []pretend.Kind{
		pretend.Fail, pretend.BreakBefore, pretend.Reject, pretend.BreakAfter, pretend.Throttle, pretend.Garbage,
	} {
		r.Backend.Behave(pretend.Behaviour{Do: kind})
		res := s.send(t, r, s.message(r))
		require.True(t, res.Outcome != messages.OutcomeSent || kind == pretend.Garbage, "%s: %s", kind, res.Outcome)
		r.Backend.Behave()
		res = s.send(t, r, s.message(r))
		require.Equal(t, messages.OutcomeSent, res.Outcome, "after %s: %s", kind, res.Detail)
	}
}

func hang(t *testing.T, s Suite) {
	for kind, outcomes := range map[pretend.Kind][]messages.Outcome{
		pretend.Hang:      {messages.OutcomeUnknown, messages.OutcomeUnavailable},
		pretend.HangAfter: {messages.OutcomeUnknown},
	} {
		for _, warm := range []bool{false, true} {
			r := s.New(t)
			if warm {
				require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome)
			}
			r.Backend.Behave(pretend.Behaviour{Do: kind})
			before := len(r.Backend.Log().Accepted())
			var res messages.Result
			// On a busy machine the deadline may end before the message is sent: then nothing was tried. Repeat with a
			// longer one.
			for patience := 300 * time.Millisecond; patience < time.Minute; patience *= 4 {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				began := time.Now()
				res = s.sendIn(t, ctx, r, s.message(r))
				cancel()
				require.Less(t, time.Since(began), patience+5*time.Second)
				if kind != pretend.HangAfter || len(r.Backend.Log().Accepted()) > before {
					break
				}
			}
			if kind == pretend.Hang && s.DefiniteBeforeData {
				outcomes = []messages.Outcome{messages.OutcomeUnavailable}
			}
			require.Contains(t, outcomes, res.Outcome, "%s: %s", kind, res.Detail)
		}
	}
}

func brokenOff(t *testing.T, s Suite) {
	for _, warm := range []bool{false, true} {
		r := s.New(t)
		if warm {
			require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome)
		}
		r.Backend.Behave(pretend.Behaviour{Do: pretend.BreakAfter})
		before := len(r.Backend.Log().Accepted())
		res := s.send(t, r, s.message(r))
		require.Equal(t, messages.OutcomeUnknown, res.Outcome, res.Detail)
		require.Len(t, r.Backend.Log().Accepted(), before+1, "sent once, whatever came of it")

		r.Backend.Behave(pretend.Behaviour{Do: pretend.BreakBefore})
		res = s.send(t, r, s.message(r))
		if s.DefiniteBeforeData {
			require.Equal(t, messages.OutcomeUnavailable, res.Outcome, res.Detail)
		} else {
			require.Contains(t, []messages.Outcome{messages.OutcomeUnavailable, messages.OutcomeUnknown}, res.Outcome,
				res.Detail)
		}
		require.Len(t, r.Backend.Log().Accepted(), before+1)
	}
}

func cancelled(t *testing.T, s Suite) {
	r := s.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, messages.OutcomeCancelled, s.sendIn(t, ctx, r, s.message(r)).Outcome)
	require.Zero(t, r.Backend.Log().Last(), "the call was not begun")

	// Cancelled while the vendor delays its answer.
	r.Backend.Behave(pretend.Behaviour{Do: pretend.Hang})
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	done := make(chan messages.Result, 1)
	go func() { done <- r.Vendor.Send(ctx, s.message(r)) }()
	wait, end := context.WithTimeout(t.Context(), 5*time.Second)
	defer end()
	require.NoError(t, r.Backend.Log().Wait(wait, func(all []pretend.Entry) bool { return len(all) > 0 }))
	cancel()
	select {
	case res := <-done:
		check(t, r, res)
		require.Contains(t, []messages.Outcome{messages.OutcomeUnknown, messages.OutcomeUnavailable}, res.Outcome)
	case <-wait.Done():
		require.Fail(t, "Send did not return after it was cancelled")
	}
}

func concurrent(t *testing.T, s Suite) {
	r := s.New(t)
	const n = 200
	m := s.message(r)
	results := make([]messages.Result, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			m := m
			m.MessageID = messages.ID(i + 1)
			m.IdempotencyKey = ""
			results[i] = r.Vendor.Send(t.Context(), m)
		})
	}
	wg.Wait()
	ids := map[string]bool{}
	for _, res := range results {
		check(t, r, res)
		require.Equal(t, messages.OutcomeSent, res.Outcome, res.Detail)
		ids[res.VendorMessageID] = true
	}
	require.Len(t, ids, n, "each message has an id of its own at the vendor")
	got := map[int64]int{}
	for _, e := range r.Backend.Log().Accepted() {
		got[e.MessageID]++
	}
	require.Len(t, got, n)
	for id, times := range got {
		require.Equal(t, 1, times, "message %d", id)
	}
}

// nasty are injection texts: they try to break out of their field.
var nasty = []string{
	"a\r\nBcc: victim@example.com", "a\nX-Evil: 1", "a\r\n\r\nbody", "a\x00b", "a\xff\xfeb", "\r\n.\r\nMAIL FROM:<evil@example.com>\r\n",
	".\r\n..\r\n", "a\u2028b", "\"}],\"ok\":false", "a&To=%2B15005550009&From=evil", "<script>alert(1)</script>", "\x1b[31mred", "=?utf-8?q?=0D=0A?=",
	strings.Repeat("é", 300), "🔥", "\u202eevil",
}

func injection(t *testing.T, s Suite) {
	r := s.New(t)
	for _, text := range nasty {
		m := s.message(r)
		m.Subject, m.Body, m.EmailHTML, m.Application, m.Plan = text, text+"\nend", "<p>"+text+"</p>", text, text
		m.Target, m.ThreadKey, m.IdempotencyKey, m.Sender, m.Priority = text, text, text, text, users.Priority(text)
		res := s.send(t, r, m)
		require.Equal(t, messages.OutcomeSent, res.Outcome, "%q: %s", text, res.Detail)
		e := last(t, r)
		require.Equal(t, int64(4711), e.MessageID, "%q", text)
		for name := range e.Headers {
			require.NotContains(t, []string{"Bcc", "X-Evil"}, name, "%q", text)
		}
		if s.Mode != users.Call {
			require.Contains(t, e.Body, "end", "%q", text)
		}

		// As a destination it is refused, or remains one destination.
		m = s.message(r)
		m.Destination += text
		before := len(r.Backend.Log().Accepted())
		if s.send(t, r, m).Outcome == messages.OutcomeSent {
			require.Len(t, r.Backend.Log().Accepted(), before+1)
			e := last(t, r)
			require.NotContains(t, e.To, "\n")
			require.NotContains(t, e.To, "\r")
		}
	}
}

func huge(t *testing.T, s Suite) {
	r := s.New(t)
	for _, unit := range []string{"word ", "ä🔥", "line of text\n", "x"} {
		m := s.message(r)
		m.Subject, m.Body = strings.Repeat(unit, 5000), strings.Repeat(unit, 40000/len([]rune(unit)))
		m.EmailHTML = "<p>" + m.Body + "</p>"
		res := s.send(t, r, m)
		require.Equal(t, messages.OutcomeSent, res.Outcome, "%q: %s", unit, res.Detail)
		e := last(t, r)
		if s.LongestBody > 0 {
			require.LessOrEqual(t, len([]rune(e.Body)), s.LongestBody)
		} else {
			require.GreaterOrEqual(t, len(e.Body), len(strings.TrimSpace(m.Body)))
		}
		require.NotContains(t, e.Body, "\uFFFD", "no character is split")
	}
}

func empty(t *testing.T, s Suite) {
	r := s.New(t)
	m := messages.Outbound{MessageID: 1, Attempt: 1, Mode: s.Mode, Destination: s.Destination(r)}
	res := s.send(t, r, m)
	require.Equal(t, messages.OutcomeSent, res.Outcome, res.Detail)
}

// limits checks the vendor's own limits: messages over them are throttled, neither lost nor rejected.
func limits(t *testing.T, s Suite) {
	r := s.New(t)
	require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome)
	r.Backend.Limit(pretend.Rate{PerSecond: 0.01, Burst: 1})
	require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome)
	res := s.send(t, r, s.message(r))
	require.Equal(t, messages.OutcomeThrottled, res.Outcome, res.Detail)
	if s.RetryAfter {
		require.Greater(t, res.RetryAfter, 90*time.Second)
	}
}

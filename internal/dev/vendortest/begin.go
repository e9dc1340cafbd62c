package vendortest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/messages"
)

// late checks that nothing is sent once BeginBefore has passed, with and without an idle connection, and that later
// calls work.
func late(t *testing.T, s Suite) {
	r := s.New(t)
	m := s.message(r)
	for _, warm := range []bool{false, true} {
		before := len(r.Backend.Log().Entries())
		m.BeginBefore = time.Now().Add(-time.Millisecond)
		require.Equal(t, messages.NotBegun(), s.send(t, r, m), "warm: %v", warm)
		require.Empty(t, pages(r.Backend.Log().Entries()[before:]))
		m.BeginBefore = time.Now().Add(time.Minute)
		require.Equal(t, messages.OutcomeSent, s.send(t, r, m).Outcome)
	}
}

// lateInQueue waits for a connection while all are in use, and checks that nothing is sent if one becomes free too
// late.
func lateInQueue(t *testing.T, s Suite) {
	r := s.New(t)
	pool, ok := r.Vendor.(messages.Pooled)
	require.True(t, ok, "every vendor with connections says how many")
	require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome)
	r.Backend.Behave(pretend.Behaviour{Do: pretend.Hang})
	modes := len(r.Vendor.Modes())
	n := pool.Connections() * modes
	if s.Open != nil {
		n = s.Open(n)
	}
	before := len(pages(r.Backend.Log().Entries()))
	hung, end := context.WithCancel(t.Context())
	defer end()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { r.Vendor.Send(hung, s.message(r)) })
	}
	wait, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, r.Backend.Log().Wait(wait, func(all []pretend.Entry) bool {
		return len(pages(all)) >= before+
			n
	}))
	r.Backend.Behave()
	done := make(chan messages.Result, 1)
	m := s.message(r)
	m.BeginBefore = time.Now().Add(50 * time.Millisecond)
	go func() { done <- r.Vendor.Send(wait, m) }()
	timer := time.NewTimer(time.Until(m.BeginBefore) + time.Millisecond)
	defer timer.Stop()
	select {
	case res := <-done:
		require.Fail(t, "a call did not wait for a connection", "%+v", res)
	case <-timer.C:
	}
	end()
	wg.Wait()
	require.Equal(t, messages.NotBegun(), <-done)
	require.Len(t, pages(r.Backend.Log().Entries()), before+n)
	require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome)
}

// preparing checks that Prepare opens connections and sends nothing that can page before Send.
func preparing(t *testing.T, s Suite) {
	r := s.New(t)
	v, ok := r.Vendor.(messages.Preparer)
	require.True(t, ok, "every vendor with connections prepares them")
	m := s.message(r)
	for range 3 {
		p, res, ok := v.Prepare(t.Context(), m)
		require.True(t, ok, res.Detail)
		p.Release()
	}
	require.Empty(t, pages(r.Backend.Log().Entries()))

	// As many as there are permits, all ready before any of them begins.
	var all []messages.Prepared
	for range v.(messages.Pooled).Connections() {
		p, res, ok := v.Prepare(t.Context(), m)
		require.True(t, ok, res.Detail)
		all = append(all, p)
	}
	require.Empty(t, pages(r.Backend.Log().Entries()))
	var wg sync.WaitGroup
	results := make([]messages.Result, len(all))
	for i, p := range all {
		wg.Go(func() {
			m := m
			m.MessageID, m.IdempotencyKey = messages.ID(i+1), ""
			results[i] = p.Send(t.Context(), m)
		})
	}
	wg.Wait()
	for _, res := range results {
		check(t, r, res)
		require.Equal(t, messages.OutcomeSent, res.Outcome, res.Detail)
	}
	require.Len(t, pages(r.Backend.Log().Accepted()), len(all))

	if p, ok := r.Vendor.(messages.Prober); ok {
		require.True(t, p.Probe(t.Context()))
	}
	p, res, ok := v.Prepare(t.Context(), m)
	require.True(t, ok, res.Detail)
	m.BeginBefore = time.Now().Add(-time.Millisecond)
	require.Equal(t, messages.NotBegun(), p.Send(t.Context(), m))
	require.Len(t, pages(r.Backend.Log().Accepted()), len(all))
}

// preparingFails checks that a failed Prepare says why, and sends nothing.
func preparingFails(t *testing.T, s Suite) {
	r := s.New(t)
	v, ok := r.Vendor.(messages.Preparer)
	require.True(t, ok, "every vendor with connections prepares them")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, res, ok := v.Prepare(ctx, s.message(r))
	require.False(t, ok)
	check(t, r, res)
	require.Contains(t, []messages.Outcome{messages.OutcomeUnavailable, messages.OutcomeCancelled}, res.Outcome)
	require.Empty(t, pages(r.Backend.Log().Entries()))
	require.Equal(t, messages.OutcomeSent, s.send(t, r, s.message(r)).Outcome, "the permit was given back")
}

// pages are the entries of messages, without lookups.
func pages(all []pretend.Entry) (out []pretend.Entry) {
	for _, e := range all {
		if e.Mode != "lookup" {
			out = append(out, e)
		}
	}
	return out
}

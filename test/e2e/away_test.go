package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// This is the longest story. Its file is one of the first, so that it does not run alone at the end.
func TestVendorDownForAMinute(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.alarm()
	s.plan("mail", []notification{notify("user", "ann", "low", 3600)})
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.RefuseConnections})
	down := time.Now()
	id := s.open("mail", "mail server away")
	s.eventually(20*time.Second, "a failed attempt on record", func() bool {
		return s.count("select count(*) from attempts where outcome = 'unavailable'") > 0
	})
	require.NotEmpty(t, s.incident(id).Active)
	ctx, cancel := context.WithDeadline(t.Context(), down.Add(time.Minute))
	defer cancel()
	<-ctx.Done()
	for _, p := range append(s.processors, s.api) {
		select {
		case <-p.done:
			require.Fail(t, p.name+" ended because a vendor was away")
		default:
		}
	}
	require.Zero(t, s.messagesOf(id))
	s.vendors.SMTP.Behave()
	s.eventually(60*time.Second, "the page to arrive once the vendor is back",
		func() bool { return s.messagesOf(id) > 0 })
	s.settled(30 * time.Second)
	s.check([]int64{id})
	require.Less(t, len(s.attempts()[s.vendors.Log().Accepted()[0].MessageID]), 60, "retries back off")
}

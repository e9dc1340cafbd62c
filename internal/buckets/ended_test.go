package buckets

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// noStore is a Store that the test does not call.
type noStore struct{ Store }

// endedLog records the members that were found to have ended.
type endedLog chan string

func (l endedLog) MarkEnded(_ context.Context, id string, _ time.Duration) error {
	l <- id
	return nil
}

func TestOnlyAClosedPortOrASuccessorShowsThatAMemberHasEnded(t *testing.T) {
	t.Parallel()
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listening.Close() })
	open := listening.Addr().String() // of a process that hangs: its kernel accepts
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := gone.Addr().String()
	require.NoError(t, gone.Close())

	start := time.Unix(1000, 0)
	dead := func(addr string) MemberState {
		return MemberState{Member: Member{ProcessID: "dead", Host: "h1", GossipAddr: addr}, StartedAt: start}
	}
	ended := dead(closed)
	ended.Ended = true
	for name, c := range map[string]struct {
		dead     MemberState
		other    MemberState // lives
		suspects []string
		found    bool
	}{
		"the port is closed":        {dead(closed), MemberState{}, []string{"dead"}, true},
		"the port is open":          {dead(open), MemberState{}, []string{"dead"}, false},
		"no gossip":                 {dead(""), MemberState{}, []string{"dead"}, false},
		"gossip never knew it":      {dead(closed), MemberState{}, nil, false},
		"it is known to have ended": {ended, MemberState{}, []string{"dead"}, false},
		"a successor has its address": {dead(open), MemberState{Member{Host: "h1", GossipAddr: open}, start.Add(1),
			start, 0, false}, nil, true},
		"an older member has it too": {dead(open), MemberState{Member{Host: "h1", GossipAddr: open}, start.Add(-1),
			start, 0, false}, nil, false},
		"another host has it too": {dead(open), MemberState{Member{Host: "h2", GossipAddr: open}, start.Add(1),
			start, 0, false}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := make(endedLog, 2)
			h, err := NewHolder(Deps{Store: noStore{}, Ended: found, Self: Member{ProcessID: "me"}, Log: zap.NewNop()},
				Config{})
			require.NoError(t, err)
			c.other.ProcessID = "other"
			v := View{Members: []MemberState{c.dead, c.other}}
			h.probeDead(t.Context(), &v, survey{living: map[string]bool{"me": true, "other": true},
				suspects: c.suspects})
			h.probes.Wait()
			close(found)
			require.Equal(t, c.found, len(found) == 1)
		})
	}
}

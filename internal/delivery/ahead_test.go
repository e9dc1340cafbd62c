package delivery_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// With slow marks and fast calls, the connections stay in use. If each connection waited for its mark, 8 connections
// would carry only 6 messages to one recipient every 62 ms.
func TestConnectionsDoNotWaitForMarks(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.slowMark = 60 * time.Millisecond
		v := smtp(func(int, messages.Outbound) messages.Result {
			wait(2 * time.Millisecond)
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		for range 4000 {
			s.add(users.Email, messages.ClassOutOfBand, 1, to("ana"))
		}
		s.run(delivery.Config{Concurrency: map[string]int{"smtp": 8}}, v)
		s.after(10 * time.Second)
		require.Equal(t, 4000, s.count(messages.Sent))
		require.Len(t, v.all(), 4000)
	})
}

// Marks that take more than a second do not make a destination count as stalled.
func TestSlowMarksDoNotCountAsStalledCalls(t *testing.T) {
	inBubble(t, func(s *bubble) {
		s.slowMark = 1500 * time.Millisecond
		v := smtp(func(int, messages.Outbound) messages.Result {
			wait(2 * time.Millisecond)
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		for range 400 {
			s.add(users.Email, messages.ClassOutOfBand, 1, to("ana"))
		}
		s.run(delivery.Config{}, v)
		s.after(25 * time.Second)
		require.Equal(t, 400, s.count(messages.Sent))
	})
}

// If the vendor suddenly hangs, messages that were marked before they had a connection return to the queue. They do not
// keep others from the connections.
func TestMarkedMessagesAreReturnedIfTheVendorHangs(t *testing.T) {
	inBubble(t, func(s *bubble) {
		var hangs atomic.Bool
		v := smtp(func(_ int, m messages.Outbound) messages.Result {
			wait(2 * time.Millisecond)
			if hangs.Load() && m.Destination == "ana" {
				wait(10 * time.Second)
			}
			return messages.Result{Outcome: messages.OutcomeSent}
		})
		s.slowMark = 60 * time.Millisecond
		for range 4000 {
			s.add(users.Email, messages.ClassOutOfBand, 1, to("ana"))
		}
		s.run(delivery.Config{Concurrency: map[string]int{"smtp": 8}}, v)
		s.after(2 * time.Second)
		hangs.Store(true)
		s.after(100 * time.Millisecond)
		var others []messages.ID
		for i := range 20 {
			others = append(others, s.add(users.Email, messages.ClassUrgent, 2, to(fmt.Sprint("other ", i))))
		}
		s.after(3 * time.Second)
		for _, id := range others {
			require.Equal(t, messages.Sent, s.row(id).state)
		}
		sending := s.count(messages.Sending)
		require.Positive(t, sending)
		require.LessOrEqual(t, sending, 8, "only calls that run are under way")
	})
}

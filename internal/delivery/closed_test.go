package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// While no account of a mode can be used, a take returns only messages that have used up the budget of the mode.
func TestTakeFromAClosedModeTakesOnlyMessagesWithoutBudget(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	h := o.own("me", 0, 256)
	_, fresh := o.incident(users.Email, messages.ClassUrgent)
	_, waited := o.incident(users.Email, messages.ClassUrgent)
	_, old := o.incident(users.Email, messages.ClassUrgent)
	o.exec(`update messages set mode_since = mode_since - interval '30 seconds' where id = $1`, waited)
	o.exec(`update messages set created_at = created_at - interval '2 minutes' where id = $1`, old)
	r := o.request(h, o.lane(users.Email, messages.ClassUrgent), 10)
	r.Takes[0].Waited, r.Takes[0].FirstWaited, r.Takes[0].Older = 20*time.Second, 20*time.Second, time.Minute
	got, err := pg.New(o.db).Take(t.Context(), r)
	require.NoError(t, err)
	var ids []int64
	for _, c := range got {
		ids = append(ids, int64(c.ID))
	}
	require.ElementsMatch(t, []int64{waited, old}, ids)
	require.Equal(t, "pending", o.state(messages.ID(fresh)))
}

package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// Incidents that a silence hides when it begins, and those that open under it, do not all page in the second in which
// it ends.
func TestTheEndOfASilenceIsSpreadOverTwoMinutes(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for range 5 {
		s.open(1, `{"team":"db"}`)
	}
	made, err := s.ops.Create.Do(t.Context(), s.admin, silenceOf(nil))
	require.NoError(t, err)
	for range 5 {
		s.open(1, `{"team":"db"}`)
	}
	var hidden, instants int
	var first, last time.Time
	require.NoError(t, s.db.Pool().QueryRow(t.Context(),
		`select count(*), count(distinct silenced_until), min(silenced_until), max(silenced_until) from incidents`).
		Scan(&hidden, &instants, &first, &last))
	require.Equal(t, 10, hidden)
	require.Equal(t, 10, instants)
	require.False(t, first.Before(made.To.Truncate(time.Microsecond)))
	require.LessOrEqual(t, last.Sub(made.To), 2*time.Minute)

	shown, err := pgincidents.New(s.db).List(t.Context(), filters.Query{Limit: 20})
	require.NoError(t, err)
	require.Len(t, shown, 10)
	for _, i := range shown {
		require.WithinDuration(t, made.To, i.SilencedUntil, time.Millisecond, "incidents show the end of the silence")
	}
}

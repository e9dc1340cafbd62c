package bench_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/bench"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

func TestFillScalesTheNumberOfRows(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	require.NoError(t, bench.Fill(t.Context(), url, 0.001, io.Discard))
	d := pgtest.Open(t, url, postgres.Config{})
	for query, want := range map[string]int{
		"select count(*) from incidents where due_at is null":     3000,
		"select count(*) from incidents where due_at is not null": 500,
		"select count(*) from message_history":                    6000,
		"select count(*) from message_history_default":            0,
		"select count(*) from users":                              5,
	} {
		var n int
		require.NoError(t, d.Pool().QueryRow(t.Context(), query).Scan(&n))
		require.Equal(t, want, n, query)
	}
	require.Error(t, bench.Fill(t.Context(), "", 0.001, io.Discard))
}

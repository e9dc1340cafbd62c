package pg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsAreInsertedOnlyUntilTheyAreKnown(t *testing.T) {
	t.Parallel()
	known := NewKnownKeys[string]()
	table := map[string]int{}
	made := 0
	lock := func(keys ...string) map[string]int {
		got, err := lockRows(known, keys, func() error {
			made++
			for _, k := range keys {
				table[k]++
			}
			return nil
		}, func() (map[string]int, error) {
			out := map[string]int{}
			for _, k := range keys {
				if n, ok := table[k]; ok {
					out[k] = n
				}
			}
			return out, nil
		})
		require.NoError(t, err)
		return got
	}
	require.Len(t, lock("a", "b"), 2)
	require.Equal(t, 1, made)
	require.Len(t, lock("a", "b"), 2)
	require.Len(t, lock("b"), 1)
	require.Equal(t, 1, made, "both are known")
	require.Len(t, lock("b", "c"), 2)
	require.Equal(t, 2, made)
	delete(table, "a") // deleted, or never committed
	require.Len(t, lock("a"), 1)
	require.Equal(t, 3, made)
}

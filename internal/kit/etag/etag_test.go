package etag_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestEqualStatesHaveEqualTags(t *testing.T) {
	t.Parallel()
	type state struct {
		Name  string
		Modes map[string]string
	}
	one := state{"db", map[string]string{"high": "call", "low": "email"}}
	same := state{"db", map[string]string{"low": "email", "high": "call"}}
	require.Equal(t, etag.Of(one), etag.Of(same), "the order of a map does not count")
	require.Regexp(t, "^[0-9a-f]{24}$", etag.Of(one))
	for _, other := range []any{state{"DB", one.Modes}, state{"db", nil}, []any{"db"}, nil} {
		require.NotEqual(t, etag.Of(one), etag.Of(other))
	}
	require.Equal(t, etag.Of([]string{"a", "b"}), etag.Of([]any{"a", "b"}))
	require.NotEqual(t, etag.Of([]string{"a", "b"}), etag.Of([]string{"b", "a"}), "the order of a list counts")
	require.Empty(t, etag.Of(func() {}), "what JSON cannot encode has no tag")
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		wanted  []string
		matches bool
	}{
		{"no condition", nil, true},
		{"the tag", []string{"7"}, true},
		{"one of several", []string{"5", "7"}, true},
		{"any", []string{"*"}, true},
		{"another tag", []string{"5"}, false},
		{"a part of the tag", []string{"77"}, false},
		{"a condition without a readable tag", []string{}, false},
	} {
		err := etag.Match(tc.wanted, "7")
		if tc.matches {
			require.NoError(t, err, tc.name)
			continue
		}
		require.ErrorIs(t, err, etag.ErrStale, tc.name)
		require.True(t, fault.Is(err, fault.Stale), tc.name)
	}
}

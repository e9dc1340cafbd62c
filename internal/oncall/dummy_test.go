package oncall

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func TestDummyFindsFoo(t *testing.T) {
	t.Parallel()
	people := map[string]users.User{"foo": {ID: 7, Name: "foo", Active: true}}
	r := (&Resolver{}).Dummy(func(_ context.Context, name string) (users.User, error) {
		u, ok := people[name]
		if !ok {
			return u, fault.New(fault.NotFound, "no such user")
		}
		return u, nil
	})
	require.NoError(t, r.Prefetch(t.Context(), []Query{{Role: "user", TargetID: 1}}))
	for _, q := range []Query{{Role: "user", Name: "x"}, {Role: "oncall-x", TargetID: 3, Name: "y"}} {
		answer, err := r.Resolve(t.Context(), q, time.Now())
		require.NoError(t, err)
		require.Equal(t, []users.ID{7}, answer.Users)
	}
	for _, q := range []Query{{Role: "_invalid_role", Name: "x"}, {Role: "user", Name: "_invalid_user"}} {
		answer, err := r.Resolve(t.Context(), q, time.Now())
		require.NoError(t, err)
		require.Empty(t, answer.Users)
		require.NotEmpty(t, answer.Rule)
	}
	people["foo"] = users.User{ID: 7, Name: "foo"}
	answer, err := r.Resolve(t.Context(), Query{Role: "user"}, time.Now())
	require.NoError(t, err)
	require.Empty(t, answer.Users)
	delete(people, "foo")
	_, err = r.Resolve(t.Context(), Query{Role: "user"}, time.Now())
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

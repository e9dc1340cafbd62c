package oncall

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func (f *fakeDirectory) Lists(_ context.Context, ids []int64) (map[int64]List, error) {
	f.reads++
	out := map[int64]List{}
	for _, id := range ids {
		if l, ok := f.lists[id]; ok {
			out[id] = l
		}
	}
	return out, f.fail
}

// withLists returns a directory with everybody and the lists all (201), idle (202), closed (203) and huge (204, only
// some members known).
func withLists() *fakeDirectory {
	f := newDirectory()
	f.lists[201] = List{TargetID: 201, Name: "all", Active: true, Members: []users.ID{1, 2, 3, 4}, Size: 4}
	f.lists[202] = List{TargetID: 202, Name: "idle", Active: true, Members: []users.ID{2}}
	f.lists[203] = List{TargetID: 203, Name: "closed", Members: []users.ID{1}}
	f.lists[204] = List{TargetID: 204, Name: "huge", Active: true, Members: []users.ID{1}, Size: 5000}
	return f
}

func TestResolveMailingLists(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		target int64
		limit  int
		want   Answer
	}{
		"active members": {201, 0, Answer{Users: []users.ID{1, 3, 4},
			Rule: "everybody on mailing list all"}},
		"just below the limit": {201, 5, Answer{Users: []users.ID{1, 3, 4},
			Rule: "everybody on mailing list all"}},
		"at the limit": {201, 4,
			Answer{Rule: "mailing list all is too large: it has 4 members, and lists of 4 or more are not unrolled"}},
		"size as it was told": {204, 100,
			Answer{Rule: "mailing list huge is too large: it has 5000 members, and lists of 100 or more are not unrolled"}},
		"size as it is known": {202, 1,
			Answer{Rule: "mailing list idle is too large: it has 1 members, and lists of 1 or more are not unrolled"}},
		"no limit":                  {204, -1, Answer{Users: []users.ID{1}, Rule: "everybody on mailing list huge"}},
		"nobody active":             {202, 0, Answer{Rule: "mailing list idle has no active member"}},
		"a list that is not active": {203, 0, Answer{Rule: "mailing list closed is not active"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewResolver(LimitLists(withLists(), tc.limit), nil, time.Minute)
			got, err := r.Resolve(t.Context(), Query{Role: "Mailing-List", TargetID: tc.target}, time.Now())
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	r := NewResolver(LimitLists(withLists(), 10), nil, time.Minute)
	_, err := r.Resolve(t.Context(), Query{Role: RoleMailingList, TargetID: 9, Name: "none"}, time.Now())
	require.True(t, fault.Is(err, fault.NotFound))
	require.EqualError(t, err, "mailing list none does not exist")
}

func TestMailingListsWhenTheDirectoryFails(t *testing.T) {
	t.Parallel()
	dir := withLists()
	dir.fail = fault.New(fault.Unavailable, "away")
	q := Query{Role: RoleMailingList, TargetID: 201}
	r := NewResolver(LimitLists(dir, 3), nil, time.Minute)
	_, err := r.Resolve(t.Context(), q, time.Now())
	require.True(t, fault.Is(err, fault.Unavailable))
	require.Error(t, r.Prefetch(t.Context(), []Query{q}))
}

func TestPrefetchReadsListsAndTheirMembersAtOnce(t *testing.T) {
	t.Parallel()
	dir := withLists()
	r := NewResolver(LimitLists(dir, 100), nil, time.Minute)
	queries := []Query{{Role: RoleMailingList, TargetID: 201}, {Role: RoleMailingList, TargetID: 204},
		{Role: RoleTeam, TargetID: 101}}
	require.NoError(t, r.Prefetch(t.Context(), queries))
	require.Equal(t, 3, dir.reads)
	for _, q := range queries {
		_, err := r.Resolve(t.Context(), q, time.Now())
		require.NoError(t, err)
	}
	require.Equal(t, 3, dir.reads)
}

package oncall

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

type fakeDirectory struct {
	teams map[int64]Team
	users map[users.ID]users.User
	lists map[int64]List
	reads int
	fail  error
}

func (f *fakeDirectory) Teams(_ context.Context, ids []int64) (map[int64]Team, error) {
	f.reads++
	out := map[int64]Team{}
	for _, id := range ids {
		if t, ok := f.teams[id]; ok {
			out[id] = t
		}
	}
	return out, f.fail
}

func (f *fakeDirectory) UsersByTarget(_ context.Context, ids []int64) (map[int64]users.User, error) {
	f.reads++
	out := map[int64]users.User{}
	for _, id := range ids {
		for _, u := range f.users {
			if u.TargetID == id {
				out[id] = u
			}
		}
	}
	return out, f.fail
}

func (f *fakeDirectory) UsersByID(_ context.Context, ids []users.ID) (map[users.ID]users.User, error) {
	f.reads++
	out := map[users.ID]users.User{}
	for _, id := range ids {
		if u, ok := f.users[id]; ok {
			out[id] = u
		}
	}
	return out, f.fail
}

// newDirectory returns ana (1), bo (2, inactive), cy (3) and boss (4). All but boss are in team db (target 101), in
// that order.
func newDirectory() *fakeDirectory {
	f := &fakeDirectory{users: map[users.ID]users.User{}, teams: map[int64]Team{}, lists: map[int64]List{}}
	for i, name := range []string{"ana", "bo", "cy", "boss"} {
		id := users.ID(i + 1)
		f.users[id] = users.User{ID: id, TargetID: int64(id), Name: name, Active: name != "bo"}
	}
	f.teams[101] = Team{TargetID: 101, Name: "db", Active: true, ManagerID: 4, DirectorID: 2,
		Members: []users.ID{1, 2, 3, 1}}
	f.teams[102] = Team{TargetID: 102, Name: "idle", Active: true, Members: []users.ID{2}}
	f.teams[103] = Team{TargetID: 103, Name: "closed", Members: []users.ID{1}}
	f.teams[104] = Team{TargetID: 104, Name: "solo", Active: true, Members: []users.ID{3}}
	return f
}

type fakeCalendar func(team Team, role string) (Answer, bool, error)

func (f fakeCalendar) OnCall(_ context.Context, team Team, role string, _ time.Time) (Answer, bool, error) {
	return f(team, role)
}

func (f fakeCalendar) NextOnCall(_ context.Context, team Team, role string, _ time.Time) (Answer, bool, error) {
	return f(team, "next "+role)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		query Query
		users []users.ID
		rule  string
		kind  fault.Kind
		err   string
	}{
		"user": {query: Query{Role: "user", TargetID: 1}, users: []users.ID{1},
			rule: "named in the plan"},
		"inactive user": {query: Query{Role: "user", TargetID: 2}, rule: "user bo is not active"},
		"unknown user": {query: Query{Role: "user", TargetID: 9, Name: "zoe"}, kind: fault.NotFound,
			err: "user zoe does not exist"},
		"team: active, each once": {query: Query{Role: "Team", TargetID: 101}, users: []users.ID{1, 3},
			rule: "everybody in team db"},
		"team without active members": {query: Query{Role: "team", TargetID: 102},
			rule: "team idle has no active member"},
		"inactive team": {query: Query{Role: "team", TargetID: 103}, rule: "team closed is not active"},
		"unknown team": {query: Query{Role: "team", TargetID: 9}, kind: fault.NotFound,
			err: "team number 9 does not exist"},
		"manager": {query: Query{Role: "manager", TargetID: 101}, users: []users.ID{4},
			rule: "manager of team db"},
		"no manager": {query: Query{Role: "manager", TargetID: 104}, rule: "team solo has no manager"},
		"inactive director": {query: Query{Role: "director", TargetID: 101},
			rule: "the director of team db is not active"},
		"primary": {query: Query{Role: "oncall-primary", TargetID: 101}, users: []users.ID{1},
			rule: "primary of team db: first in its fixed order"},
		"oncall is primary": {query: Query{Role: "oncall", TargetID: 101}, users: []users.ID{1},
			rule: "primary of team db: first in its fixed order"},
		"secondary skips inactive": {query: Query{Role: "oncall-secondary", TargetID: 101}, users: []users.ID{3},
			rule: "secondary of team db: second in its fixed order"},
		"tertiary wraps": {query: Query{Role: "oncall-tertiary", TargetID: 101}, users: []users.ID{1},
			rule: "tertiary of team db: first in its fixed order"},
		"a team of one": {query: Query{Role: "oncall-secondary", TargetID: 104}, users: []users.ID{3},
			rule: "secondary of team solo: first in its fixed order"},
		"any other duty": {query: Query{Role: "oncall-shadow", TargetID: 101}, users: []users.ID{1},
			rule: "shadow of team db: first in its fixed order"},
		"nobody on call": {query: Query{Role: "oncall-primary", TargetID: 102},
			rule: "nobody is primary: team idle has no active member"},
		"round-robin, first": {query: Query{Role: "round-robin", TargetID: 101, Turn: 4},
			users: []users.ID{1}, rule: "round-robin in team db: 1 of 2"},
		"round-robin, next": {query: Query{Role: "round-robin", TargetID: 101, Turn: 4, Round: 1},
			users: []users.ID{3}, rule: "round-robin in team db: 2 of 2"},
		"round-robin of nobody": {query: Query{Role: "round-robin", TargetID: 102},
			rule: "team idle has no active member"},
		"next on call": {query: Query{Role: "next-on-call", TargetID: 101}, users: []users.ID{3},
			rule: "next on call of team db: after the primary in its fixed order"},
		"next of a team of one": {query: Query{Role: "next-on-call", TargetID: 104}, users: []users.ID{3},
			rule: "next on call of team solo: after the primary in its fixed order"},
		"next of nobody": {query: Query{Role: "next-on-call", TargetID: 102},
			rule: "nobody is next on call: team idle has no active member"},
		"unknown role": {query: Query{Role: "king", TargetID: 101, Name: "db"}, kind: fault.Invalid,
			err: `the role "king" of db is not known`},
		"half a role": {query: Query{Role: "oncall-", TargetID: 101, Name: "db"}, kind: fault.Invalid,
			err: `the role "oncall-" of db is not known`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewResolver(newDirectory(), nil, time.Minute)
			answer, err := r.Resolve(t.Context(), tc.query, time.Now())
			if tc.kind != "" {
				require.Equal(t, tc.kind, fault.KindOf(err))
				require.EqualError(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, Answer{Users: tc.users, Rule: tc.rule}, answer)
		})
	}
}

func TestResolveAsksTheCalendarFirst(t *testing.T) {
	t.Parallel()
	calendar := fakeCalendar(func(team Team, role string) (Answer, bool, error) {
		switch role {
		case "primary":
			return Answer{Users: []users.ID{2, 4}, Rule: "shift of roster nights"}, true, nil
		case "secondary":
			return Answer{Users: []users.ID{2}}, true, nil
		case "shadow":
			return Answer{}, true, nil
		case "vacation":
			return Answer{Users: []users.ID{1}}, true, nil
		case "broken":
			return Answer{}, false, errors.New("no answer")
		case "manager":
			return Answer{Users: []users.ID{1}, Rule: "manager this week"}, true, nil
		}
		return Answer{}, false, nil
	})
	r := NewResolver(newDirectory(), calendar, time.Minute)
	ask := func(role string) (Answer, error) {
		return r.Resolve(t.Context(), Query{Role: role, TargetID: 101}, time.Now())
	}
	for role, want := range map[string]Answer{
		"oncall":           {Users: []users.ID{4}, Rule: "shift of roster nights"},
		"oncall-secondary": {Rule: "who is secondary of team db is not active"},
		"oncall-shadow":    {Rule: "nobody is shadow of team db"},
		"oncall-vacation":  {Users: []users.ID{1}, Rule: "vacation of team db"},
		"manager":          {Users: []users.ID{1}, Rule: "manager this week"},
		"oncall-tertiary":  {Users: []users.ID{1}, Rule: "tertiary of team db: first in its fixed order"},
	} {
		got, err := ask(role)
		require.NoError(t, err)
		require.Equal(t, want, got, role)
	}
	_, err := ask("oncall-broken")
	require.EqualError(t, err, "read the calendar of team db: no answer")
	require.Equal(t, fault.Internal, fault.KindOf(err), "worth trying again")
}

func TestResolveReturnsTheErrorOfTheDirectory(t *testing.T) {
	t.Parallel()
	dir := newDirectory()
	dir.fail = fault.New(fault.Unavailable, "away")
	r := NewResolver(dir, nil, time.Minute)
	for _, role := range []string{"user", "team", "manager", "oncall-primary"} {
		_, err := r.Resolve(t.Context(), Query{Role: role, TargetID: 101}, time.Now())
		require.True(t, fault.Is(err, fault.Unavailable), role)
	}
	require.Error(t, r.Prefetch(t.Context(), []Query{{Role: "team", TargetID: 101}}))
	require.Error(t, r.Prefetch(t.Context(), []Query{{Role: "user", TargetID: 1}}))
	dir.fail = nil
	_, err := r.Resolve(t.Context(), Query{Role: "user", TargetID: 1}, time.Now())
	require.NoError(t, err, "a failure is not remembered")
}

func TestPrefetchReadsEverythingInThreeReads(t *testing.T) {
	t.Parallel()
	dir := newDirectory()
	r := NewResolver(dir, nil, time.Minute)
	queries := []Query{
		{Role: "user", TargetID: 1}, {Role: "user", TargetID: 9}, {Role: "team", TargetID: 101}, {Role: "manager",
			TargetID: 101},
		{Role: "oncall-primary", TargetID: 104}, {Role: "director", TargetID: 103},
	}
	require.NoError(t, r.Prefetch(t.Context(), queries))
	require.Equal(t, 3, dir.reads)
	for _, q := range queries {
		_, _ = r.Resolve(t.Context(), q, time.Now())
	}
	require.Equal(t, 3, dir.reads)
}

func TestRecentReadsAgainAfterItsTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked [][]string
		r := NewRecent(time.Second, func(_ context.Context, keys []string) (map[string]int, error) {
			asked = append(asked, keys)
			return map[string]int{"a": len(asked)}, nil
		})
		get := func(keys ...string) map[string]int {
			got, err := r.Get(t.Context(), keys...)
			require.NoError(t, err)
			return got
		}
		require.Equal(t, map[string]int{"a": 1}, get("a", "b", "a"))
		require.Equal(t, map[string]int{"a": 1}, get("a", "b"), "absence is remembered too")
		require.Equal(t, [][]string{{"a", "b"}}, asked)
		<-time.After(time.Second)
		require.Equal(t, map[string]int{"a": 2}, get("a"))
		reads := 0
		never := NewRecent(0, func(_ context.Context, keys []string) (map[string]int, error) {
			reads++
			return map[string]int{"a": 7}, nil
		})
		for range 2 {
			_, err := never.Get(t.Context(), "a")
			require.NoError(t, err)
		}
		require.Equal(t, 2, reads, "nothing is kept")
	})
}

// If the calendar has no secondary, the secondary is from the team's fixed order, without the present primary, while
// another person is left. The same holds for a missing primary.
func TestNobodyIsTheirOwnSecondary(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		shifts  map[string]users.ID
		members []users.ID
		role    string
		want    users.ID
		rule    string
	}{
		"the second is primary": {shifts: map[string]users.ID{"primary": 3}, members: []users.ID{1, 3, 4},
			role: "secondary", want: 4,
			rule: "secondary of team db: third in its fixed order, because the second is already on call in another role"},
		"it wraps": {shifts: map[string]users.ID{"primary": 3}, members: []users.ID{1, 3}, role: "secondary", want: 1,
			rule: "secondary of team db: first in its fixed order, because the second is already on call in another role"},
		"the second is free": {shifts: map[string]users.ID{"primary": 1}, members: []users.ID{1, 3}, role: "secondary",
			want: 3,
			rule: "secondary of team db: second in its fixed order"},
		"nobody else is there": {shifts: map[string]users.ID{"primary": 3}, members: []users.ID{3}, role: "secondary",
			want: 3,
			rule: "secondary of team db: first in its fixed order"},
		"the first is secondary": {shifts: map[string]users.ID{"secondary": 1}, members: []users.ID{1, 3},
			role: "primary", want: 3,
			rule: "primary of team db: second in its fixed order, because the first is already on call in another role"},
		"tertiary is neither": {shifts: map[string]users.ID{"primary": 4}, members: []users.ID{1, 3, 4},
			role: "tertiary", want: 1,
			rule: "tertiary of team db: first in its fixed order, because the third is already on call in another role"},
		"who is switched off is no primary": {shifts: map[string]users.ID{"primary": 2}, members: []users.ID{1, 2, 3},
			role: "secondary", want: 3,
			rule: "secondary of team db: second in its fixed order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := newDirectory()
			team := directory.teams[101]
			team.Members = tc.members
			directory.teams[101] = team
			r := NewResolver(directory, fakeCalendar(func(_ Team, role string) (Answer, bool, error) {
				user, ok := tc.shifts[role]
				return Answer{Users: []users.ID{user}}, ok, nil
			}), time.Minute)
			got, err := r.Resolve(t.Context(), Query{Role: "oncall-" + tc.role, TargetID: 101}, time.Now())
			require.NoError(t, err)
			require.Equal(t, Answer{Users: []users.ID{tc.want}, Rule: tc.rule}, got)
		})
	}
}

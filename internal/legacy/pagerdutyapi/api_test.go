package pagerdutyapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

func TestAWindowHasThePageOfAList(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		items, read int
		more        bool
	}{
		"": {25, 26, true}, "limit=30": {30, 30, false}, "limit=10&offset=20": {10, 30, false}, "limit=10&offset=19": {10, 30, true},
		"limit=2&total=true": {2, 30, true}, "limit=500": {30, 30, false}, "offset=90": {0, 30, false},
	} {
		values, _ := url.ParseQuery(query)
		in, err := readWindow(values, nil)
		require.NoError(t, err, query)
		read := 0
		require.NoError(t, walk(func(operation.Paging) (operation.Page[int], error) {
			return operation.Page[int]{Items: make([]int, 30)}, nil
		}, func(int) bool { read++; return in.add(object{}) }))
		require.Len(t, in.items, want.items, query)
		require.Equal(t, want.read, read, query)
		require.Equal(t, want.more, in.more, query)
	}
}

func TestAWalkIsBounded(t *testing.T) {
	t.Parallel()
	next, pages := "x", 0
	require.NoError(t, walk(func(p operation.Paging) (operation.Page[int], error) {
		pages++
		return operation.Page[int]{Items: make([]int, p.Limit), Next: &next}, nil
	}, func(int) bool { return true }))
	require.Equal(t, mostItems/mostPage, pages)
}

func TestParametersThatWouldGiveAWrongAnswerAreRefused(t *testing.T) {
	t.Parallel()
	for query, field := range map[string]string{"limit=x": "limit", "offset=-1": "offset", "offset=10000": "offset", "team_ids[]=a": "team_ids[]",
		"urgencies[]=high": "urgencies[]", "incident_key=a": "incident_key", "statuses[]=triggered": "", "include[]=x": "", "time_zone=UTC": ""} {
		values, _ := url.ParseQuery(query)
		_, err := readWindow(values, []string{"statuses[]"})
		require.Equal(t, field, fault.FieldOf(err), query)
	}
}

func TestStatesOfIncidents(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]incidents.IncidentInList{
		triggered:    {{State: incidents.StateEscalating}, {State: incidents.StateSnoozed}, {State: incidents.StateMerged}},
		acknowledged: {{State: incidents.StateAcknowledged, Owner: "ann"}, {State: incidents.StateSnoozed, Owner: "ann"}},
		resolved:     {{State: incidents.StateResolved, Owner: "ann"}, {State: incidents.StateClosed}},
	} {
		for _, i := range all {
			require.Equal(t, want, status(i), i)
		}
	}
}

func TestTokensOfPagerDutyAreBearerTokens(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"Token token=iris_p_x": "Bearer iris_p_x", `token token="x"`: "Bearer x", "Bearer x": "Bearer x",
		"Token x": "Token x", "": ""} {
		var got string
		a := API{Deps{Authenticate: func(next http.Handler) http.Handler { return next }}}
		r := httptest.NewRequest(http.MethodGet, Root+"/users", nil)
		r.Header.Set("Authorization", sent)
		a.identify(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Authorization")
		})).ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, want, got)
	}
}

type addresses map[string]string

func (a addresses) ByContact(_ context.Context, _ users.Mode, source string) (users.User, error) {
	if name, ok := a[source]; ok {
		return users.User{Name: name}, nil
	}
	return users.User{}, fault.New(fault.NotFound, "unknown")
}

func TestTheHeaderFromNamesThePerson(t *testing.T) {
	t.Parallel()
	a := API{Deps{Addresses: addresses{"ann@example.com": "ann"}}}
	for header, want := range map[string]string{"ann@example.com": "ann", "bob": "bob", "": ""} {
		got, err := a.from(t.Context(), header)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := a.from(t.Context(), "zoe@example.com")
	require.Equal(t, "From", fault.FieldOf(err))
}

func TestTimesWithoutAZoneAreInUTC(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"2026-11-22T00:00:00", "2026-11-22", "2026-11-22T01:00:00+01:00", "2026-11-22T01:00:00+0100"} {
		got, err := parseTime(s)
		require.NoError(t, err)
		require.True(t, got.Equal(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)), s)
	}
	_, err := parseTime("yesterday")
	require.Error(t, err)
}

package hooks

import (
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestIDsOfRequestsAndAlerts(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_772_618_400, 0)
	for _, incident := range []int64{0, 1, 1 << 40} {
		id := requestID('a', alertClosed, incident, at)
		require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", id)
		b, got, ok := parseUUID(id)
		require.True(t, ok)
		require.Equal(t, []any{byte('a'), byte(alertClosed), incident}, []any{b[0], b[1], got})
		b, got, ok = parseUUID(alertID(incident))
		require.True(t, ok && b[0] == 0 && got == incident)
	}
	letters := map[byte]bool{'c': true, 'e': true, 'r': true}
	for name, a := range alertActions() {
		require.False(t, letters[a.letter], "%s has a letter of its own", name)
		letters[a.letter] = true
		found, known := statusOf(a.letter)
		require.True(t, known && found.name == a.name && found.done != "", name)
	}
	for o := alertMissing; o <= alertRefused; o++ {
		require.NotEmpty(t, o.text())
	}
}

// FuzzAlertPath checks that any path and identifier is refused with a reason or understood.
func FuzzAlertPath(f *testing.F) {
	for _, path := range []string{"x/close", "disk/db7/close", "disk%2Fdb7/tags", "%zz/close", "/close", "close", "x/", "x/actions/restart", "a/%00/notes", "requests/x"} {
		f.Add("POST", path, "id")
		f.Add("DELETE", path, "tiny")
	}
	f.Fuzz(func(t *testing.T, method, path, kind string) {
		u, err := url.Parse("http://iris.example" + alertsPath + "/" + path)
		if err != nil || !strings.HasPrefix(u.EscapedPath(), alertsPath+"/") {
			return
		}
		act, identifier, err := actionOf(&http.Request{Method: method, URL: u})
		if err != nil {
			require.NotEmpty(t, fault.FieldOf(err))
			return
		}
		require.NotEmpty(t, act.name)
		require.NotEmpty(t, identifier)
	})
}

// FuzzAlertFields checks the plans of all actions with any body and query.
func FuzzAlertFields(f *testing.F) {
	for _, s := range []string{"", "{}", `{"note":"n","tags":["t"],"details":{"a":"b"},"owner":{"username":"u"},"message":"m","priority":"P1"}`, `{"note":7,"owner":[],"tags":[""]}`, "[", "null"} {
		f.Add([]byte(s), "tags=a,,b&keys=x")
	}
	f.Fuzz(func(t *testing.T, body []byte, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		fields, err := newAlertFields(body, values)
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		for name, a := range alertActions() {
			if a.plan == nil {
				continue
			}
			if _, err := a.plan(fields); err != nil {
				require.True(t, fault.Is(err, fault.Invalid), name)
				require.NotEmpty(t, fault.FieldOf(err), name)
			}
		}
		q, err := readAlertQuery(values)
		if err == nil {
			require.LessOrEqual(t, q.Limit, maxAlerts)
		}
	})
}

func TestListsOfAlertsAreBounded(t *testing.T) {
	t.Parallel()
	for query, field := range map[string]string{"offset=20000": "offset", "offset=9223372036854775807": "offset", "limit=-1": "limit", "order=asc": "order", "query=tag:": "query", "query=priority%3DP9": "query", "query=createdAt:2026-01-01": "query", "query=createdAt%3Esoon": "query"} {
		r := httptest.NewRequest(http.MethodGet, "/v2/alerts?"+query, nil)
		_, err := readAlertQuery(r.URL.Query())
		require.Equal(t, field, fault.FieldOf(err), query)
	}
	q, err := readAlertQuery(url.Values{"limit": {"500"}})
	require.NoError(t, err)
	require.Equal(t, maxAlerts, q.Limit)
	require.Less(t, maxOffset, math.MaxInt32)
}

func TestSearchesOfAlerts(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	for search, want := range map[string]intake.AlertQuery{
		`tag: env:prod AND tag:"two words"`: {Tags: []string{"env:prod", "two words"}},
		"priority=P1":                       {Priority: "P1"},
		"priority: P5":                      {Priority: "P5"},
		"createdAt>1798675200000":           {CreatedFrom: day.Add(time.Microsecond)},
		"createdAt >= 31-12-2026 and createdAt < 2026-12-31T01:00:00+01:00": {CreatedFrom: day, CreatedBefore: day},
		"createdAt<=31-12-2026T00:00:00":                                    {CreatedBefore: day.Add(time.Microsecond)},
	} {
		var q intake.AlertQuery
		require.NoError(t, readSearch(search, &q), search)
		require.Equal(t, want, q, search)
	}
}

func TestPagesOfNotes(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "5 4 3 2 1", "limit=2": "5 4 > 4", "limit=2&offset=4": "3 2 > 2",
		"limit=2&offset=2": "1", "order=asc&limit=3": "1 2 3 > 3", "order=asc&offset=3": "4 5", "offset=90": "5 4 3 2 1",
		"order=asc&offset=90": "", "order=up": "!order", "offset=-1": "!offset", "direction=prev": "!direction"} {
		a := &alertRequest{r: httptest.NewRequest(http.MethodGet, "/v2/alerts/x/notes?apiKey=secret&"+query, nil)}
		data, err := a.page(make([]alertLine, 5))
		if field := fault.FieldOf(err); field != "" {
			require.Equal(t, want, "!"+field, query)
			continue
		}
		require.NoError(t, err, query)
		var got []string
		for _, line := range data.([]alertLine) {
			got = append(got, line.Offset)
		}
		if next, err := url.Parse(a.paging.Next); err == nil && a.paging.Next != "" {
			got = append(got, ">", next.Query().Get("offset"))
		}
		require.Equal(t, want, strings.Join(got, " "), query)
		require.NotContains(t, a.paging.First+a.paging.Next, "secret")
	}
}

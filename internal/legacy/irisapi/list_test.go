package irisapi

import (
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/messages"
)

var testList = List{
	Schema: filters.Schema{"id": filters.Int, "name": filters.Text, "created": filters.Time, "active": filters.Bool,
		"resolved": filters.Flag, "target": filters.Text},
	AnyOf: []string{"target"}, Columns: []string{"id", "name"}, Limited: true,
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	cond := func(field string, op filters.Op, values ...any) filters.Condition {
		return filters.Condition{Field: field, Op: op, Values: values}
	}
	for query, want := range map[string]filters.Query{
		"":                         {},
		"unknown=1&unknown__zap=2": {},
		"id=7":                     {Conditions: []filters.Condition{cond("id", filters.Eq, int64(7))}},
		"id=1,7": {Conditions: []filters.Condition{cond("id", filters.Eq, int64(1)),
			cond("id", filters.Eq, int64(7))}},
		"id__in=1,+2": {Conditions: []filters.Condition{cond("id", filters.In, int64(1), int64(2))}},
		"name__contains=a&name__ne=b": {Conditions: []filters.Condition{cond("name", filters.Contains, "a"),
			cond("name", filters.Ne, "b")}},
		"name=": {Conditions: []filters.Condition{cond("name", filters.Eq, "")}},
		"created__gt=10": {Conditions: []filters.Condition{cond("created", filters.Gt,
			time.Unix(10, 0).UTC())}},
		"created__lt=99999999999999": {Conditions: []filters.Condition{cond("created", filters.Lt,
			time.Unix(jsonbody.LastSecond, 0).UTC())}},
		"active=yes": {Conditions: []filters.Condition{cond("active", filters.Eq, true)}},
		"resolved__gt=0,2": {Conditions: []filters.Condition{cond("resolved", filters.Gt, false),
			cond("resolved", filters.Gt, int64(2))}},
		"id__contains=1":              {Conditions: []filters.Condition{cond("id", filters.Contains, "1")}},
		"id__lt=99999999999999999999": {Conditions: []filters.Condition{cond("id", filters.Lt, int64(math.MaxInt64))}},
		"limit=99999999999999999999":  {Limit: math.MaxInt32},
		"created__startswith=17":      {Conditions: []filters.Condition{cond("created", filters.StartsWith, "17")}},
		"resolved=0":                  {Conditions: []filters.Condition{cond("resolved", filters.Eq, false)}},
		"target=a,b&target=c":         {Conditions: []filters.Condition{cond("target", filters.In, "a", "b", "c")}},
		"fields=id,zap&fields=name":   {Fields: []string{"id", "name"}},
		"fields=zap":                  {},
		"limit=3":                     {Limit: 3},
		"limit=0":                     {},
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		got, _, err := testList.parse(values)
		require.NoError(t, err, query)
		require.Equal(t, want, got, query)
	}
}

func TestParseQueryRefuses(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"id=x":               "invalid argument type: id should be <class 'int'>",
		"id=":                "invalid argument type: id should be <class 'int'>",
		"created__lt=now":    "invalid argument type: created should be <class 'int'>",
		"id__zap=1":          "invalid filter operator zap",
		"id__contains=x":     "invalid argument type: id should be <class 'int'>",
		"active__contains=1": "invalid filter operator contains",
		"active=2":           `Invalid parameter: The "active" parameter is invalid. The value of the parameter must be "true" or "false".`,
		"name__a__b=1":       "invalid filter operator a__b",
		"active=maybe":       `Invalid parameter: The "active" parameter is invalid. The value of the parameter must be "true" or "false".`,
		"limit=x":            `Invalid parameter: The "limit" parameter is invalid. The value must be an integer.`,
		"limit=-1":           `Invalid parameter: The "limit" parameter is invalid. The value must not be negative.`,
		"name=a%00b":         `Invalid parameter: The "name" parameter is invalid. The value must be UTF-8 text.`,
		"name__in=a,%ff,b":   `Invalid parameter: The "name" parameter is invalid. The value must be UTF-8 text.`,
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		_, _, err = testList.parse(values)
		require.EqualError(t, err, want, query)
		require.True(t, fault.Is(err, fault.Invalid))
	}
}

func FuzzParseQuery(f *testing.F) {
	f.Add("id__in=1,2&name__contains=%25&limit=5&fields=id")
	f.Add("created__ge=-9223372036854775808&active=1&target=a,b")
	lists := []List{testList, {Schema: catalog.PlanFilters, Limited: true}, {Schema: incidents.FilterSchema},
		{Schema: messages.FilterSchema}}
	f.Fuzz(func(t *testing.T, query string) {
		values, _ := url.ParseQuery(query)
		for _, l := range lists {
			q, _, err := l.parse(values)
			require.True(t, err == nil || fault.Is(err, fault.Invalid), "%v", err)
			for _, c := range q.Conditions {
				require.NotEmpty(t, c.Values)
				require.Contains(t, ops[l.Schema[c.Field]], c.Op)
			}
		}
	})
}

// Without the bound, a filter of 60,000 commas becomes 60,000 conditions on each row.
func TestQueriesHaveABoundedNumberOfConditions(t *testing.T) {
	t.Parallel()
	refused := func(q url.Values) {
		_, _, err := testList.parse(q)
		require.True(t, fault.Is(err, fault.Invalid), err)
	}
	taken := func(q url.Values) {
		_, _, err := testList.parse(q)
		require.NoError(t, err)
	}
	refused(url.Values{"name__contains": {strings.Repeat(",", 60000)}})
	refused(url.Values{"name__contains": {strings.Repeat("a,", 25), strings.Repeat("b,", 25)}})
	refused(url.Values{"name": {strings.Repeat("a,", 25)}, "name__ne": {strings.Repeat("b,", 25)}})
	refused(url.Values{"id__in": {strings.Repeat("1,", 1500) + "1"}, "name__in": {strings.Repeat("b,", 1500)}})
	refused(url.Values{"target": {strings.Repeat("a,", 3000)}})
	refused(url.Values{"name__contains": {strings.Repeat("x", 501)}})
	taken(url.Values{"id__in": {strings.Repeat("1,", 1999) + "1"}})
	taken(url.Values{"name__contains": {strings.Repeat("a,", 49) + "a"}})
	taken(url.Values{"name__contains": {strings.Repeat("x", 500)}})
}

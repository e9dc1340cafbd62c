package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNotificationRulesOfAPerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path = "/v1/users/ann/notification-rules"
	none := `{"rules":[{"priority":"urgent","mode":null,"follow_ups":[]},{"priority":"high","mode":null,"follow_ups":[]},` +
		`{"priority":"medium","mode":null,"follow_ups":[]},{"priority":"low","mode":null,"follow_ups":[]}]}`
	require.JSONEq(t, none, f.do("ann", "GET", path, "").Body.String())
	rule := `{"priority":"high","mode":"push","follow_ups":[{"mode":"sms","delay_seconds":120},{"mode":"call","delay_seconds":300}]}`
	rec := f.do("ann", "PUT", path, `{"rules":[`+rule+`]}`)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Contains(t, rec.Body.String(), rule)
	require.Equal(t, rec.Body.String(), f.do("ann", "GET", path, "").Body.String())
	require.Equal(t, 200, f.do("ann", "PUT", path, `{"rules":[]}`).Code)
	require.JSONEq(t, none, f.do("ann", "GET", path, "").Body.String())

	require.Equal(t, 401, f.do("bob", "GET", path, "").Code)
	require.Equal(t, 401, f.do("bob", "PUT", path, `{"rules":[]}`).Code)
	require.Equal(t, 404, f.do("ann", "GET", "/v1/users/nix/notification-rules", "").Code)
	for body, want := range map[string]string{
		`{}`:                         "#/rules",
		`{"rules":[{"mode":"sms"}]}`: "#/rules/0/priority",
		`{"rules":[{"priority":"high","mode":"fax"}]}`:                                              "#/rules/0/mode",
		`{"rules":[{"priority":"high","follow_ups":[{"mode":"sms"}]}]}`:                             "#/rules/0/follow_ups/0/delay_seconds",
		`{"rules":[{"priority":"high","follow_ups":[{"mode":"drop","delay_seconds":5}]}]}`:          "#/rules/0/follow_ups/0/mode",
		`{"rules":[{"priority":"high","follow_ups":[{"mode":"sms","delay_seconds":5,"x":1}]}]}`:     "#/rules/0/follow_ups/0/x",
		`{"rules":[{"priority":"high","follow_ups":[{"mode":"sms","delay_seconds":"2 minutes"}]}]}`: "#/rules/0/follow_ups/0/delay_seconds",
	} {
		rec := f.do("ann", "PUT", path, body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
}

func TestQuietLimitsOfAPerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path, none = "/v1/users/ann/quiet-limits", `{"calls_and_texts_per_day":null,"working_days_only":[]}`
	require.JSONEq(t, none, f.do("ann", "GET", path, "").Body.String())
	limits := `{"calls_and_texts_per_day":0,"working_days_only":["low","medium"]}`
	rec := f.do("ann", "PUT", path, limits)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.JSONEq(t, limits, rec.Body.String())
	require.Equal(t, rec.Body.String(), f.do("ann", "GET", path, "").Body.String())
	require.JSONEq(t, none, f.do("ann", "PUT", path, `{}`).Body.String())
	require.Equal(t, 401, f.do("bob", "PUT", path, `{}`).Code)
	for body, want := range map[string]string{
		`{"calls_and_texts_per_day":-1}`:         "#/calls_and_texts_per_day",
		`{"calls_and_texts_per_day":1001}`:       "#/calls_and_texts_per_day",
		`{"working_days_only":["urgent"]}`:       "#/working_days_only",
		`{"working_days_only":["low","low"]}`:    "#/working_days_only",
		`{"working_days_only":"low"}`:            "#/working_days_only",
		`{"working_days_only":["low"],"zone":1}`: "#/zone",
	} {
		rec := f.do("ann", "PUT", path, body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
}

package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPeopleChooseModesByApplicationAndPriority(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path, none = "/v1/users/ann/modes", `{"items":[],"next":null}`
	require.JSONEq(t, none, f.do("ann", "GET", path, "").Body.String())
	rec := f.do("ann", "POST", path, `{"choices":[{"application":"DEMO","priority":"low","mode":"drop"},
		{"priority":"low","mode":"email"},{"priority":"urgent","mode":"call"},{"application":"demo","priority":"high","mode":"sms"},
		{"application":"demo","priority":"medium","mode":"push"},{"application":"demo","priority":"medium","mode":"slack"}]}`)
	require.Equal(t, 200, rec.Code, rec.Body)
	demo := `{"application":"demo","priority":"high","mode":"sms"},{"application":"demo","priority":"medium","mode":"slack"},
		{"application":"demo","priority":"low","mode":"drop"}`
	require.JSONEq(t, `{"items":[{"application":null,"priority":"urgent","mode":"call"},
		{"application":null,"priority":"low","mode":"email"},`+demo+`],"next":null}`, rec.Body.String())
	require.Equal(t, rec.Body.String(), f.do("ann", "GET", path, "").Body.String())
	require.JSONEq(t, `{"items":[`+demo+`],"next":null}`, f.do("ann", "GET", path+"?application=Demo", "").Body.String())
	require.Contains(t, f.do("ann", "GET", "/v1/users/ann/notification-rules", "").Body.String(),
		`{"priority":"urgent","mode":"call","follow_ups":[]}`, "a choice for all applications is the rule's")

	require.Equal(t, 200, f.do("ann", "POST", path, `{"choices":[{"priority":"urgent","mode":null},{"priority":"low"},
		{"application":"demo","priority":"medium","mode":null},{"application":"demo","priority":"low"}]}`).Code)
	require.JSONEq(t, `{"items":[{"application":"demo","priority":"high","mode":"sms"}],"next":null}`,
		f.do("ann", "GET", path, "").Body.String(), "what is left out stays")

	require.Equal(t, 401, f.do("bob", "GET", path, "").Code)
	require.Equal(t, 401, f.do("bob", "POST", path, `{"choices":[]}`).Code)
	require.Equal(t, 404, f.do("ann", "GET", "/v1/users/nix/modes", "").Code)
	require.Equal(t, 400, f.do("ann", "GET", path+"?application=nix", "").Code)
	for body, want := range map[string]string{
		`{}`: "#/choices",
		`{"choices":[{"priority":"low","mode":"sms"},{"priority":"last","mode":"sms"}]}`:                     "#/choices/1/priority",
		`{"choices":[{"priority":"low","mode":"fax"}]}`:                                                      "#/choices/0/mode",
		`{"choices":[{"priority":"low","mode":"sms"},{"application":"nix","priority":"low","mode":"call"}]}`: "#/choices/1/application",
	} {
		rec := f.do("ann", "POST", path, body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
	require.NotContains(t, f.do("ann", "GET", path, "").Body.String(), "null,\"priority", "all or none")
}

func TestPeopleChooseModesByCategory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into notification_categories (application_id, name, mode)
		select id, c, 'email' from applications, unnest(array['news', 'ads']) c where name = 'demo'`)
	const path, none = "/v1/users/ann/categories", `{"items":[],"next":null}`
	rec := f.do("ann", "POST", path, `{"choices":[{"application":"demo","category":"News","mode":"sms"},
		{"application":"demo","category":"ads","mode":"drop"}]}`)
	require.Equal(t, 200, rec.Code, rec.Body)
	require.JSONEq(t, `{"items":[{"application":"demo","category":"news","mode":"sms"},
		{"application":"demo","category":"ads","mode":"drop"}],"next":null}`, rec.Body.String())
	require.Equal(t, rec.Body.String(), f.do("ann", "GET", path+"?application=demo", "").Body.String())
	require.JSONEq(t, none, f.do("ann", "GET", path+"?application=other", "").Body.String())
	require.JSONEq(t, `{"items":[{"application":"demo","category":"news","mode":"sms"}],"next":null}`,
		f.do("ann", "POST", path, `{"choices":[{"application":"demo","category":"ads"}]}`).Body.String())
	for body, want := range map[string]string{
		`{"choices":[{"category":"news","mode":"sms"}]}`:                      "#/choices/0/application",
		`{"choices":[{"application":"demo","category":"news","mode":"fax"}]}`: "#/choices/0/mode",
		`{"choices":[{"application":"demo","category":"nix","mode":"sms"}]}`:  "#/choices/0/category",
	} {
		rec := f.do("ann", "POST", path, body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, []string{want}, places(t, rec), body)
	}
	require.Equal(t, 400, f.do("ann", "DELETE", path, "").Code, "of which application?")
	require.Equal(t, 401, f.do("bob", "DELETE", path+"?application=demo", "").Code)
	require.Equal(t, 204, f.do("ann", "DELETE", path+"?application=demo", "").Code)
	require.JSONEq(t, none, f.do("ann", "GET", path, "").Body.String())
}

func TestReprioritisationsOfAPerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path = "/v1/users/ann/reprioritisations"
	rule := `{"mode":"call","count":3,"window_seconds":600,"to":"email"}`
	require.Equal(t, 200, f.do("ann", "PUT", path+"/call", `{"count":1,"window_seconds":60,"to":"drop"}`).Code)
	require.JSONEq(t, rule, f.do("ann", "PUT", path+"/CALL", `{"count":3,"window_seconds":600,"to":"email"}`).Body.String())
	require.JSONEq(t, `{"items":[`+rule+`],"next":null}`, f.do("ann", "GET", path, "").Body.String())
	for body, want := range map[string][]string{
		`{"count":3,"window_seconds":600}`:               {"#/to"},
		`{"count":3,"window_seconds":600,"to":""}`:       {"#/to"},
		`{"count":0,"window_seconds":59,"to":"fax"}`:     {"#/count", "#/window_seconds", "#/to"},
		`{"count":256,"window_seconds":3601,"to":"sms"}`: {"#/count", "#/window_seconds"},
	} {
		rec := f.do("ann", "PUT", path+"/sms", body)
		require.Equal(t, 400, rec.Code, body)
		require.Equal(t, want, places(t, rec), body)
	}
	require.Equal(t, 404, f.do("ann", "PUT", path+"/fax", `{"count":3,"window_seconds":600,"to":"email"}`).Code)
	require.Equal(t, 404, f.do("ann", "DELETE", path+"/fax", "").Code)
	require.Equal(t, 404, f.do("ann", "DELETE", path+"/sms", "").Code)
	require.Equal(t, 401, f.do("bob", "DELETE", path+"/call", "").Code)
	require.Equal(t, 204, f.do("ann", "DELETE", path+"/call", "").Code)
	require.JSONEq(t, `{"items":[],"next":null}`, f.do("ann", "GET", path, "").Body.String())
}

func TestFixedTextsAndDevicesOfAPerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path = "/v1/users/ann/fixed-texts"
	require.JSONEq(t, `{"sms":false}`, f.do("ann", "GET", path, "").Body.String())
	for _, body := range []string{`{"sms":true}`, `{"sms":false}`} {
		require.JSONEq(t, body, f.do("ann", "PUT", path, body).Body.String())
		require.JSONEq(t, body, f.do("ann", "GET", path, "").Body.String())
	}
	require.Equal(t, 400, f.do("ann", "PUT", path, `{}`).Code)
	require.Equal(t, 400, f.do("ann", "PUT", path, `{"sms":true,"call":true}`).Code, "only SMS have a fixed text")
	require.Equal(t, 401, f.do("bob", "PUT", path, `{"sms":true}`).Code)

	f.exec(`insert into devices (registration_id, user_id, platform) select 'the secret', id, 'iOS' from users where name = 'ann'`)
	rec := f.do("ann", "GET", "/v1/users/ann/devices", "")
	require.Contains(t, rec.Body.String(), `"platform":"iOS","registration":"fingerprint `)
	require.NotContains(t, rec.Body.String(), "secret")
	require.Equal(t, 401, f.do("bob", "GET", "/v1/users/ann/devices", "").Code)
}

func TestPrioritiesHaveTheDefaultsOfTheInstallation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`update priorities set default_mode = 'push' where name = 'low'`)
	require.JSONEq(t, `{"items":[{"priority":"urgent","default_mode":"call"},{"priority":"high","default_mode":"sms"},
		{"priority":"medium","default_mode":"email"},{"priority":"low","default_mode":"push"}],"next":null}`,
		f.do("bob", "GET", "/v1/priorities", "").Body.String())
}

package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlansAndTemplatesAreFoundByTheApplicationOfTheirTexts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec("insert into applications (name) values ('other')")
	for _, kind := range []string{"plans", "templates"} {
		require.JSONEq(t, `{"items":[],"next":null}`, f.do("", "GET", "/v1/"+kind+"?application=demo", "").Body.String(), kind)
	}
	f.exec(`insert into template_contents (template_id, application_id, mode, subject, body)
		select t.id, a.id, 'email', 's', 'b' from templates t, applications a where a.name = 'demo'`)
	for kind, name := range map[string]string{"plans": "pager", "templates": "words"} {
		require.Contains(t, f.do("", "GET", "/v1/"+kind+"?application=DEMO", "").Body.String(), `"name":"`+name+`"`)
		require.JSONEq(t, `{"items":[],"next":null}`, f.do("", "GET", "/v1/"+kind+"?application=other", "").Body.String(), kind)
	}
}

func TestWhatAnApplicationNamesMustExist(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into application_owners select a.id, u.id from applications a, users u where u.name = 'ann'`)
	quota := func(plan, target string) string {
		return `{"hard_threshold":2,"hard_seconds":60,"soft_threshold":1,"soft_seconds":60,"plan":"` + plan +
			`","target":"` + target + `","wait_seconds":60}`
	}
	const at = "/v1/applications/demo"
	for _, c := range []struct{ path, body, field string }{
		{"/quota", quota("none", "ops"), "plan"},
		{"/quota", quota("pager", "none"), "target"},
		{"/incident-addresses", `{"addresses":[{"address":"a@example.com","plan":"none"}]}`, "addresses[0].plan"},
		{"/categories", `{"categories":[{"name":"news","mode":"fax"}]}`, "categories[0].mode"},
	} {
		rec := f.do("ann", "PUT", at+c.path, c.body)
		require.Equal(t, 400, rec.Code, rec.Body)
		require.Contains(t, rec.Body.String(), `"field":"`+c.field+`"`)
	}
	require.Equal(t, 404, f.do("", "GET", at+"/quota", "").Code)
	rec := f.do("ann", "PUT", at+"/quota", quota("PAGER", "ops"))
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Contains(t, rec.Body.String(), `"plan":"pager","target":"ops"`)
	require.Equal(t, 204, f.do("ann", "DELETE", at+"/quota", "").Code)
	require.Equal(t, 204, f.do("ann", "DELETE", at+"/quota", "").Code, "it has none")
	require.JSONEq(t, `{"addresses":[]}`, f.do("", "GET", at+"/incident-addresses", "").Body.String())
	require.JSONEq(t, `{"categories":[]}`, f.do("", "GET", at+"/categories", "").Body.String())
	require.Contains(t, f.do("", "GET", "/v1/target-roles", "").Body.String(), `{"name":"round-robin","kind":"team"}`)
}

func TestAKeyIsRotatedInThreeRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into application_owners select a.id, u.id from applications a, users u where u.name = 'ann'`)
	const at = "/v1/applications/demo"
	require.JSONEq(t, `{"key":"demo-key"}`, f.do("ann", "GET", at+"/key", "").Body.String())
	require.Equal(t, 404, f.do("ann", "GET", at+"/secondary-key", "").Code)
	require.Equal(t, 409, f.do("ann", "POST", at+"/key/rotate", "").Code)
	require.Equal(t, 400, f.do("ann", "POST", at+"/secondary-key", "", "Idempotency-Key", "k").Code,
		"the key would be stored with the answer")
	made := f.do("ann", "POST", at+"/secondary-key", "")
	require.Equal(t, 201, made.Code, made.Body)
	require.Equal(t, "no-store", made.Header().Get("Cache-Control"))
	require.Equal(t, made.Body.String(), f.do("ann", "GET", at+"/secondary-key", "").Body.String())
	require.Equal(t, 409, f.do("ann", "POST", at+"/secondary-key", "").Code)
	require.Equal(t, 204, f.do("ann", "POST", at+"/key/rotate", "").Code)
	require.Equal(t, 401, f.do("ann", "GET", at+"/key", "").Code, "demo signed with the old key")
}

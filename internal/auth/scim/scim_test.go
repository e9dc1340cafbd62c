package scim_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func decode(t require.TestingT, text string) map[string]any {
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

func operations(t require.TestingT, text string) []scim.Operation {
	var out []scim.Operation
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

const mia = `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"externalId":"e-17","userName":"mia@corp.test","name":{"givenName":"Mia","familyName":"Vu"},
	"emails":[{"type":"work","primary":true,"value":"mia@corp.test"}],"active":true,"roles":[],"password":"secret","meta":{"x":1},"nickName":null}`

func TestReadKeepsWhatIrisKnows(t *testing.T) {
	t.Parallel()
	d, err := scim.User.Read(decode(t, mia))
	require.NoError(t, err)
	require.JSONEq(t, `{"externalId":"e-17","userName":"mia@corp.test","name":{"givenName":"Mia","familyName":"Vu"},
		"emails":[{"type":"work","primary":true,"value":"mia@corp.test"}],"active":true}`, text(t, d))
	require.Equal(t, "Mia Vu", d.FullName())
	contacts, unclear := d.Contacts("")
	require.Equal(t, map[users.Mode]string{users.Email: "mia@corp.test"}, contacts)
	require.Empty(t, unclear)

	d, err = scim.User.Read(decode(t, `{"USERNAME":"x","Active":"False","phoneNumbers":[{"type":"work","value":"+15550000001"},{"type":"mobile","value":"tel:+15550000002"}]}`))
	require.NoError(t, err)
	require.False(t, d.Active())
	contacts, _ = d.Contacts("")
	require.Equal(t, map[users.Mode]string{users.SMS: "+15550000002", users.Call: "+15550000002"}, contacts)
	d = scim.Document{"phoneNumbers": []any{map[string]any{"value": "079 123 45 67"}}}
	contacts, unclear = d.Contacts("")
	require.Empty(t, contacts)
	require.Equal(t, []users.Mode{users.SMS, users.Call}, unclear, "a national number without a region")
	contacts, unclear = d.Contacts("CH")
	require.Equal(t, map[users.Mode]string{users.SMS: "+41791234567", users.Call: "+41791234567"}, contacts)
	require.Empty(t, unclear)

	for bad, field := range map[string]string{
		`{}`:                                "userName",
		`{"userName":7}`:                    "userName",
		`{"userName":"x","active":"maybe"}`: "active",
		`{"userName":"x","name":"Mia"}`:     "name",
		`{"userName":"x","emails":[{"value":"none"}]}`:                                                  "emails",
		`{"userName":"` + strings.Repeat("x", 501) + `"}`:                                               "userName",
		`{"userName":"x","emails":[` + strings.Repeat(`{"value":"a@b.c"},`, 20) + `{"value":"a@b.c"}]}`: "emails",
	} {
		_, err := scim.User.Read(decode(t, bad))
		var f *fault.Error
		require.ErrorAs(t, err, &f, bad)
		require.Equal(t, field, f.Field, bad)
	}
}

func text(t require.TestingT, d scim.Document) string {
	raw, err := json.Marshal(d)
	require.NoError(t, err)
	return string(raw)
}

// The shapes of Okta, Entra ID and RFC 7644.
func TestPatchOfUsers(t *testing.T) {
	t.Parallel()
	before, err := scim.User.Read(decode(t, mia))
	require.NoError(t, err)
	for patch, want := range map[string]string{
		`[{"op":"Replace","path":"active","value":"False"}]`:                                                           `"active":false`,
		`[{"op":"replace","value":{"active":false}}]`:                                                                  `"active":false`,
		`[{"op":"replace","path":"urn:ietf:params:scim:schemas:core:2.0:User:active","value":false}]`:                  `"active":false`,
		`[{"op":"replace","value":{"displayName":"A","name.givenName":"B"}}]`:                                          `"givenName":"B"`,
		`[{"op":"replace","path":"name.familyName","value":"Wu"}]`:                                                     `"familyName":"Wu"`,
		`[{"op":"Add","path":"emails[type eq \"work\"].value","value":"a@corp.test"}]`:                                 `"value":"a@corp.test"`,
		`[{"op":"Replace","path":"emails[type eq \"Work\"].value","value":"b@corp.test"}]`:                             `"value":"b@corp.test"`,
		`[{"op":"Add","path":"phoneNumbers[type eq \"mobile\"].value","value":"+15550000001"}]`:                        `"phoneNumbers":[{"type":"mobile","value":"+15550000001"}]`,
		`[{"op":"remove","path":"emails[type eq \"work\"]"}]`:                                                          `"emails":[]`,
		`[{"op":"remove","path":"externalId"}]`:                                                                        `{"active":true,"emails"`,
		`[{"op":"Add","path":"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager","value":"u9"}]`:      `"manager":"u9"`,
		`[{"op":"replace","value":{"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department":"C"}}]`:     `"department":"C"`,
		`[{"op":"replace","value":{"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":{"department":"D"}}}]`: `"department":"D"`,
		`[{"op":"add","path":"nickName","value":"m"},{"op":"add","path":"title","value":null}]`:                        text(t, before),
	} {
		after, err := scim.User.Patch(before, operations(t, patch))
		require.NoError(t, err, patch)
		require.Contains(t, text(t, after), want, patch)
	}
	require.JSONEq(t, `{"externalId":"e-17","userName":"mia@corp.test","name":{"givenName":"Mia","familyName":"Vu"},
		"emails":[{"type":"work","primary":true,"value":"mia@corp.test"}],"active":true}`, text(t, before), "Patch changes a copy")
	for patch, field := range map[string]string{
		`[{"op":"move","path":"active","value":false}]`:                                    "op",
		`[{"op":"replace","path":"emails[","value":"x"}]`:                                  scim.ErrPath,
		`[{"op":"replace","path":"active[type eq \"x\"]","value":"x"}]`:                    scim.ErrPath,
		`[{"op":"replace","path":"emails[type eq \"home\"].value","value":"x@corp.test"}]`: scim.ErrNoTarget,
		`[{"op":"remove"}]`:                                                     scim.ErrNoTarget,
		`[{"op":"replace","value":"x"}]`:                                        scim.ErrNoTarget,
		`[{"op":"remove","path":"userName"}]`:                                   "userName",
		`[{"op":"replace","path":"active","value":7}]`:                          "active",
		`[{"op":"add","path":"emails[type eq 5].value","value":"x@corp.test"}]`: "emails.type",
		`[{"op":"add","path":"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department","value":"a\u0000b"}]`: scim.EnterpriseSchema,
	} {
		_, err := scim.User.Patch(before, operations(t, patch))
		var f *fault.Error
		require.ErrorAs(t, err, &f, patch)
		require.Equal(t, field, f.Field, patch)
	}
}

func TestPatchOfGroups(t *testing.T) {
	t.Parallel()
	before, err := scim.Group.Read(decode(t, `{"displayName":"ops","members":[{"value":"1"},{"value":"2"}]}`))
	require.NoError(t, err)
	for patch, want := range map[string][]string{
		`[{"op":"Add","path":"members","value":[{"$ref":null,"value":"3"}]}]`: {"1",
			"2", "3"},
		`[{"op":"Add","path":"members","value":[{"value":"1"},{"value":"1"}]}]`: {"1",
			"2"},
		`[{"op":"add","value":{"members":[{"value":"4"}]}}]`: {"1",
			"2", "4"},
		`[{"op":"Remove","path":"members","value":[{"value":"1"}]}]`: {"2"},
		`[{"op":"remove","path":"members[value eq \"1\"]"}]`:         {"2"},
		`[{"op":"remove","path":"members[value eq \"7\"]"}]`: {"1",
			"2"},
		`[{"op":"remove","path":"members"}]`:                          {},
		`[{"op":"replace","path":"members","value":[{"value":"9"}]}]`: {"9"},
		`[{"op":"replace","value":{"id":"5","displayName":"ops 2"}}]`: {"1",
			"2"},
		`[{"op":"add","path":"members","value":{"value":"3"}},{"op":"remove","path":"members[value eq \"2\"]"}]`: {"1",
			"3"},
	} {
		after, err := scim.Group.Patch(before, operations(t, patch))
		require.NoError(t, err, patch)
		require.ElementsMatch(t, want, after.Members(), patch)
	}
	require.Equal(t, []string{"1", "2"}, before.Members())
}

func TestFilters(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]scim.Filter{
		"":                                    {},
		`userName eq "x"`:                     {scim.ByUserName: "x"},
		`USERNAME EQ "x"`:                     {scim.ByUserName: "x"},
		`externalId eq e-17`:                  {scim.ByExternalID: "e-17"},
		`emails[type eq "work"].value eq "x"`: {scim.ByEmail: "x"},
		`emails[type eq "work" and value eq "x"]`: {scim.ByEmail: "x"},
		`emails.value eq "x"`:                     {scim.ByEmail: "x"},
		`userName eq "mia[x].y"`:                  {scim.ByUserName: "mia[x].y"},
		`id eq "3" and manager eq "4"`:            {scim.ByID: "3", scim.ByManager: "4"},
	} {
		f, err := scim.User.ReadFilter(filter)
		require.NoError(t, err, filter)
		require.Equal(t, want, f, filter)
	}
	for _, bad := range []string{`userName sw "x"`, `userName eq "x" or id eq "3"`, `not (userName eq "x")`, `userName eq`, `displayName eq "x"`, `userName pr`, `)(`,
		`userName eq "x" and userName eq "y"`, `active eq true`,
		`emails.type eq "work"`, `emails[type eq "work"]`} {
		_, err := scim.User.ReadFilter(bad)
		var f *fault.Error
		require.ErrorAs(t, err, &f, bad)
		require.Equal(t, scim.ErrFilter, f.Field, bad)
	}
	f, err := scim.Group.ReadFilter(`displayName eq "ops" and members.value eq "3"`)
	require.NoError(t, err)
	require.Equal(t, scim.Filter{scim.ByName: "ops", scim.ByMember: "3"}, f)
}

func TestTheGuardHoldsFurtherDeactivations(t *testing.T) {
	t.Parallel()
	p := scim.Policy{MostDeactivations: 2}
	require.Equal(t, []bool{false, false, true, true}, []bool{p.Holds(0), p.Holds(1), p.Holds(2), p.Holds(3)})
}

// FuzzPatch checks that no operation panics, and that what is accepted can be read again.
func FuzzPatch(f *testing.F) {
	f.Add("replace", "active", `"False"`)
	f.Add("add", `emails[type eq "work"].value`, `"a@corp.test"`)
	f.Add("remove", `members[value eq "1"]`, `null`)
	f.Add("replace", "", `{"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department":"C"}`)
	f.Fuzz(func(t *testing.T, op, path, value string) {
		var v any
		_ = json.Unmarshal([]byte(value), &v)
		before, err := scim.User.Read(decode(t, mia))
		require.NoError(t, err)
		after, err := scim.User.Patch(before, []scim.Operation{{Op: op, Path: path, Value: v}})
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		again, err := scim.User.Read(decode(t, text(t, after)))
		require.NoError(t, err)
		require.JSONEq(t, text(t, after), text(t, again))
		_, _ = scim.User.ReadFilter(path)
	})
}

package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// directoryServer is a server with a provider whose groups give a role and a team.
func directoryServer(t *testing.T) *server {
	s := newServer(t, configured(t, `auth:
  scim: {max_deactivations: 2}
  oidc:
    - {name: corp, issuer: "http://127.0.0.1:1", client_id: iris, roles: {admin: [admins]}, teams: [{group: ops, team: crew}]}
`))
	s.do(admin, post, "/api/v0/teams", m{"name": "crew", "scheduling_timezone": "UTC"}).is(201)
	return s
}

// connect adds a SCIM connection and returns its token.
func (s *server) connect(name string, more m) string {
	s.Helper()
	body := m{"name": name}
	for k, v := range more {
		body[k] = v
	}
	return decode[struct{ Token string }](s.do(admin, post, "/v1/scim-connections", body).is(201)).Token
}

// scim sends a request of a directory. body is JSON; "" = none.
func (s *server) scim(token, method, path, body string, header ...string) (int, m, http.Header) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+"/scim/v2"+path, bytes.NewReader([]byte(body)))
	require.NoError(s, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/scim+json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(s, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s, err)
	var out m
	if len(raw) > 0 {
		require.Equal(s, "application/scim+json", res.Header.Get("Content-Type"))
		require.NoError(s, json.Unmarshal(raw, &out), "%s", raw)
	}
	return res.StatusCode, out, res.Header
}

// pushed creates a person and returns their id.
func (s *server) pushed(token, name string) string {
	s.Helper()
	status, out, header := s.scim(token, post, "/Users",
		fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"externalId":"e-%[1]s","userName":"%[1]s",
		"name":{"givenName":"Mia","familyName":"Vu"},"emails":[{"type":"work","primary":true,"value":"%[1]s@corp.test"}],"active":true,"password":"never kept"}`, name))
	require.Equal(s, 201, status, "%v", out)
	require.Equal(s, header.Get("Location"), out["meta"].(map[string]any)["location"])
	require.Equal(s, name, out["userName"])
	require.NotContains(s, out, "password")
	return out["id"].(string)
}

func (s *server) activeUser(name string) bool {
	s.Helper()
	return s.number("select count(*) from users where name = $1 and active", name) == 1
}

func filter(text string) string { return "?filter=" + url.QueryEscape(text) }

func TestDirectoriesPushPeople(t *testing.T) {
	t.Parallel()
	s := directoryServer(t)
	token := s.connect("corp", nil)
	id := s.pushed(token, "mia")
	require.Equal(t, "Mia Vu", s.text("select full_name from users where name = 'mia'"))
	require.Equal(t, "mia@corp.test", s.text("select destination from user_contacts c join users u on u.id = c.user_id where u.name = 'mia' and mode = 'email'"))

	status, out, _ := s.scim(token, post, "/Users", `{"userName":"MIA"}`)
	require.Equal(t, 409, status)
	require.Equal(t, "uniqueness", out["scimType"])
	require.Equal(t, "409", out["status"])
	status, out, _ = s.scim(token, post, "/Users", `{"userName":"bob"}`) // bob is no person of the connection
	require.Equal(t, 409, status, "%v", out)

	for query, total := range map[string]int{
		"": 1, filter(`userName eq "MIA"`): 1, filter(`externalId eq "e-mia"`): 1, filter(`emails[type eq "work"].value eq "mia@corp.test"`): 1,
		filter(`id eq "` + id + `"`): 1, filter(`userName eq "bob"`): 0, filter(`userName eq "` +
			strings.Repeat("x", 50) + `"`): 0,
		filter(`id eq "none"`): 0, "?count=0": 1, "?startIndex=2": 1, "?startIndex=0&count=1": 1,
	} {
		status, out, _ := s.scim(token, get, "/Users"+query, "")
		require.Equal(t, 200, status, query)
		require.EqualValues(t, total, out["totalResults"], query)
	}
	status, out, _ = s.scim(token, get, "/Users"+filter(`userName sw "m"`), "")
	require.Equal(t, 400, status)
	require.Equal(t, "invalidFilter", out["scimType"])
	_, out, _ = s.scim(token, get, "/Users/"+id+"?attributes=userName", "")
	require.ElementsMatch(t, []string{"schemas", "id", "userName"}, keys(out))
	_, out, header := s.scim(token, get, "/Users/"+id+"?excludedAttributes=emails,name", "")
	require.NotContains(t, out, "emails")

	status, _, _ = s.scim(token, "PATCH", "/Users/"+id,
		`{"Operations":[{"op":"replace","path":"name.familyName","value":"Wu"}]}`, "If-Match", `W/"0"`)
	require.Equal(t, 412, status)
	status, out, _ = s.scim(token, "PATCH", "/Users/"+id,
		`{"Operations":[{"op":"Replace","value":{"name.familyName":"Wu","userName":"mia2"}}]}`, "If-Match", header.Get("ETag"))
	require.Equal(t, 200, status)
	require.Equal(t, "mia2", out["userName"])
	require.Equal(t, "Mia Wu", s.text("select full_name from users where name = 'mia2'"))
	status, _, _ = s.scim(token, put, "/Users/"+id, `{"userName":"mia","emails":[{"value":"m@corp.test"}]}`)
	require.Equal(t, 200, status)
	require.Equal(t, "m@corp.test", s.text("select destination from user_contacts c join users u on u.id = c.user_id where u.name = 'mia' and mode = 'email'"))
	for path, want := range map[string]int{"/Users/none": 404, "/Users/999999999": 404, "/Groups/1": 404, "/Nothing": 404} {
		status, out, _ = s.scim(token, get, path, "")
		require.Equal(t, want, status, path)
		require.Equal(t, "404", out["status"])
	}
	status, out, _ = s.scim(token, post, "/Users", `{"userName":`)
	require.Equal(t, 400, status, "%v", out)
	status, _, _ = s.scim(token, post, "/Users", `{"userName":"`+strings.Repeat("x", 3<<20)+`"}`)
	require.Equal(t, 413, status)
	for _, path := range []string{"/ServiceProviderConfig", "/ResourceTypes", "/ResourceTypes/User", "/Schemas", "/Schemas/urn:ietf:params:scim:schemas:core:2.0:User"} {
		status, _, _ = s.scim(token, get, path, "")
		require.Equal(t, 200, status, path)
	}
}

func keys(v m) []string {
	var out []string
	for k := range v {
		out = append(out, k)
	}
	return out
}

// Tokens of a directory open nothing else, other tokens do not open SCIM, and one connection does not see the people of
// another.
func TestTokensOfDirectories(t *testing.T) {
	t.Parallel()
	s := directoryServer(t)
	first, second := s.connect("first", nil), s.connect("second", nil)
	id := s.pushed(first, "mia")
	status, _, _ := s.scim(second, get, "/Users/"+id, "")
	require.Equal(t, 404, status)
	status, _, _ = s.scim(second, "DELETE", "/Users/"+id, "")
	require.Equal(t, 404, status)
	require.True(t, s.activeUser("mia"))

	personal, _ := s.token(admin, "admin")
	for name, bad := range map[string]string{"none": "", "unknown": "iris_d_" + first[7:50] + "00000000", "of a person": personal.token} {
		status, out, _ := s.scim(bad, get, "/Users", "")
		require.Equal(t, 401, status, name)
		require.Equal(t, "401", out["status"], name)
	}
	s.do(caller{name: "a directory", token: first}, get, "/v1/incidents", nil).is(401)

	rotated := decode[struct{ Token string }](s.do(admin, put, "/v1/scim-connections/first/token", nil).is(201)).Token
	for _, token := range []string{first, rotated} {
		status, _, _ = s.scim(token, get, "/Users", "")
		require.Equal(t, 200, status, "both tokens work during a rotation")
	}
	s.do(admin, del, "/v1/scim-connections/first/token", nil).is(204)
	status, _, _ = s.scim(first, get, "/Users", "")
	require.Equal(t, 401, status)
	status, _, _ = s.scim(rotated, get, "/Users", "")
	require.Equal(t, 200, status)
}

// A deactivation ends sessions and tokens at once. A person comes back only if the directory switched them off.
func TestDeactivationByADirectory(t *testing.T) {
	t.Parallel()
	s := directoryServer(t)
	token := s.connect("corp", nil)
	s.do(admin, post, "/v1/scim-connections/corp/users", m{"user": "bob"}).is(204)
	s.do(admin, post, "/v1/scim-connections/corp/users", m{"user": "bob"}).is(409)
	id := s.text("select x.id::text from scim_users x join users u on u.id = x.user_id where u.name = 'bob'")
	personal, _ := s.token(bob, "read")
	s.do(personal, get, "/v1/incidents", nil).is(200)

	status, out, _ := s.scim(token, "PATCH", "/Users/"+id,
		`{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`)
	require.Equal(t, 200, status)
	require.Equal(t, false, out["active"])
	s.do(personal, get, "/v1/incidents", nil).is(401)
	s.do(bob, get, "/v1/incidents", nil).is(401)
	require.False(t, s.activeUser("bob"))
	status, _, _ = s.scim(token, "PATCH", "/Users/"+id,
		`{"Operations":[{"op":"replace","path":"name.givenName","value":"Bobby"}]}`)
	require.Equal(t, 200, status)
	status, _, _ = s.scim(token, "PATCH", "/Users/"+id, `{"Operations":[{"op":"replace","value":{"active":true}}]}`)
	require.Equal(t, 200, status)
	require.True(t, s.activeUser("bob"))

	s.exec("update users set active = false where name = 'bob'") // by hand
	for _, active := range []string{"false", "true"} {
		status, _, _ = s.scim(token, "PATCH", "/Users/"+id, `{"Operations":[{"op":"replace","path":"active","value":`+
			active+`}]}`)
		require.Equal(t, 200, status)
	}
	require.False(t, s.activeUser("bob"), "somebody else switched the person off")

	gone := s.pushed(token, "mia")
	status, _, _ = s.scim(token, "DELETE", "/Users/"+gone, "")
	require.Equal(t, 204, status)
	require.False(t, s.activeUser("mia"))
	status, _, _ = s.scim(token, get, "/Users/"+gone, "")
	require.Equal(t, 404, status)
	require.Equal(t, gone, s.pushed(token, "mia"), "the same person comes back")
	require.True(t, s.activeUser("mia"))
}

// More deactivations than allowed are held until an administrator decides. The last administrator stays.
func TestTheGuardAgainstManyDeactivations(t *testing.T) {
	t.Parallel()
	s := directoryServer(t)
	token := s.connect("corp", nil)
	var ids []string
	for i := range 4 {
		ids = append(ids, s.pushed(token, fmt.Sprint("p", i)))
	}
	for _, id := range ids {
		status, out, _ := s.scim(token, "PATCH", "/Users/"+id,
			`{"Operations":[{"op":"replace","value":{"active":false}}]}`)
		require.Equal(t, 200, status)
		require.Equal(t, false, out["active"], "the directory does not send it again")
	}
	require.False(t, s.activeUser("p1"))
	require.True(t, s.activeUser("p2"))
	require.True(t, s.activeUser("p3"))
	held := decode[struct {
		Items []struct {
			ID   int64
			User string
		}
	}](s.do(admin, get, "/v1/held-deactivations", nil).is(200)).Items
	require.Len(t, held, 2)
	s.do(admin, post, fmt.Sprintf("/v1/held-deactivations/%d/confirm", held[0].ID), nil).is(204)
	require.False(t, s.activeUser("p2"))
	s.do(admin, del, fmt.Sprintf("/v1/held-deactivations/%d", held[1].ID), nil).is(204)
	require.True(t, s.activeUser("p3"))
	_, out, _ := s.scim(token, get, "/Users/"+ids[3], "")
	require.Equal(t, true, out["active"])
	s.do(admin, del, fmt.Sprintf("/v1/held-deactivations/%d", held[1].ID), nil).is(404)

	s.exec("update scim_deactivations set requested_at = requested_at - interval '2 hours'")
	for i, want := range []bool{true, true, false} { // the hour is over for two of these
		status, out, _ := s.scim(token, "PATCH", "/Users/"+s.pushed(token, fmt.Sprint("q", i)),
			`{"Operations":[{"op":"replace","path":"active","value":false}]}`)
		require.Equal(t, 200, status, "%v", out)
		require.Equal(t, want, !s.activeUser(fmt.Sprint("q", i)))
	}
	s.exec("update scim_deactivations set requested_at = requested_at - interval '2 hours'")
	waits := s.text("select scim_user_id::text from scim_deactivations where held")
	status, out, _ := s.scim(token, "DELETE", "/Users/"+waits, "", "If-Match", `W/"0"`)
	require.Equal(t, 412, status, "%v", out)
	status, _, _ = s.scim(token, "DELETE", "/Users/"+waits, "")
	require.Equal(t, 204, status)
	require.True(t, s.activeUser("q2"), "a held deactivation stays held, also after an hour")
	require.EqualValues(t, 1, s.number("select count(*) from scim_deactivations where held"))

	last := s.text("select name from users where admin and active order by id limit 1")
	s.exec("update users set admin = (name = $1)", last)
	s.do(admin, post, "/v1/scim-connections/corp/users", m{"user": last}).is(204)
	id := s.text("select x.id::text from scim_users x join users u on u.id = x.user_id where u.name = $1", last)
	status, out, _ = s.scim(token, "PATCH", "/Users/"+id, `{"Operations":[{"op":"replace","value":{"active":false}}]}`)
	require.Equal(t, 400, status)
	require.Contains(t, out["detail"], "last active administrator")
	require.True(t, s.activeUser(last))
}

// Groups give roles and teams by the rules of the provider. What was given by hand stays.
func TestGroupsOfDirectories(t *testing.T) {
	t.Parallel()
	s := directoryServer(t)
	token := s.connect("corp", m{"provider": "corp", "links_accounts": true})
	mia, tom := s.pushed(token, "mia"), s.pushed(token, "tom")
	require.EqualValues(t, 1, s.number("select count(*) from user_identities where issuer = 'http://127.0.0.1:1' and subject = 'e-mia'"))
	account := func(subject string) int64 {
		return s.number("select count(*) from user_identities where issuer = 'http://127.0.0.1:1' and subject = $1",
			subject)
	}
	status, _, _ := s.scim(token, "PATCH", "/Users/"+tom,
		`{"Operations":[{"op":"replace","path":"externalId","value":"e-new"}]}`)
	require.Equal(t, 200, status)
	require.EqualValues(t, 1, account("e-new"))
	require.EqualValues(t, 0, account("e-tom"), "the account before can no longer log in as the person")
	member := func(name string) bool {
		return s.number("select count(*) from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id where t.name = 'crew' and u.name = $1", name) == 1
	}
	status, out, _ := s.scim(token, post, "/Groups", `{"displayName":"ops","members":[{"value":"`+mia+`"}]}`)
	require.Equal(t, 201, status)
	ops := out["id"].(string)
	require.True(t, member("mia"))
	require.False(t, member("tom"))
	status, out, _ = s.scim(token, post, "/Groups", `{"displayName":"OPS"}`)
	require.Equal(t, 409, status, "%v", out)

	status, out, _ = s.scim(token, "PATCH", "/Groups/"+ops,
		`{"Operations":[{"op":"Add","path":"members","value":[{"$ref":null,"value":"`+tom+
			`"}]},{"op":"Remove","path":"members","value":[{"value":"`+mia+`"}]}]}`)
	require.Equal(t, 204, status, "%v", out)
	require.True(t, member("tom"))
	require.False(t, member("mia"))
	_, out, _ = s.scim(token, get, "/Groups"+filter(`displayName eq "ops"`)+"&excludedAttributes=members", "")
	require.EqualValues(t, 1, out["totalResults"])
	require.NotContains(t, out["Resources"].([]any)[0], "members")

	status, out, _ = s.scim(token, post, "/Groups", `{"displayName":"admins","members":[{"value":"`+tom+`"}]}`)
	require.Equal(t, 201, status)
	require.EqualValues(t, 1, s.number("select count(*) from users where name = 'tom' and admin"))
	status, _, _ = s.scim(token, "DELETE", "/Groups/"+out["id"].(string), "")
	require.Equal(t, 204, status)
	require.EqualValues(t, 0, s.number("select count(*) from users where name = 'tom' and admin"))
	status, _, _ = s.scim(token, put, "/Groups/"+ops, `{"displayName":"renamed","members":[{"value":"`+tom+`"}]}`)
	require.Equal(t, 200, status)
	require.False(t, member("tom"), "no rule names the new group")

	// A held deletion takes no rights before an administrator decides. The last administrator keeps the mark of the
	// groups.
	status, _, _ = s.scim(token, post, "/Groups", `{"displayName":"admins","members":[{"value":"`+tom+`"}]}`)
	require.Equal(t, 201, status)
	for i := range 2 {
		status, _, _ = s.scim(token, "DELETE", "/Users/"+s.pushed(token, fmt.Sprint("gone", i)), "")
		require.Equal(t, 204, status)
	}
	status, _, _ = s.scim(token, "DELETE", "/Users/"+tom, "")
	require.Equal(t, 204, status)
	require.EqualValues(t, 1, s.number("select count(*) from users where name = 'tom' and admin and active"))
	require.Equal(t, tom, s.pushed(token, "tom"))
	require.EqualValues(t, 0, s.number("select count(*) from users where name = 'tom' and admin"),
		"the person comes back without the groups")

	s.do(admin, del, "/v1/scim-connections/corp", nil).is(204)
	status, _, _ = s.scim(token, get, "/Users", "")
	require.Equal(t, 401, status)
	require.True(t, s.activeUser("mia"))
}

// Parallel changes of a group lose nothing.
func TestParallelChangesOfAGroup(t *testing.T) {
	t.Parallel()
	s := directoryServer(t)
	token := s.connect("corp", m{"provider": "corp"})
	_, out, _ := s.scim(token, post, "/Groups", `{"displayName":"ops"}`)
	group := out["id"].(string)
	var ids []string
	for i := range 6 {
		ids = append(ids, s.pushed(token, fmt.Sprint("p", i)))
	}
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			status, _, _ := s.scim(token, "PATCH", "/Groups/"+group,
				`{"Operations":[{"op":"add","path":"members","value":[{"value":"`+id+`"}]}]}`)
			require.Equal(t, 204, status)
		})
	}
	all.Wait()
	_, out, _ = s.scim(token, get, "/Groups/"+group, "")
	require.Len(t, out["members"], 6)
	require.EqualValues(t, 6, s.number("select count(*) from managed_members"))
}

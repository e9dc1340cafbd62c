package contract

import (
	"fmt"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// A verifier and its challenge, of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// tokenShown finds a token in a page.
var tokenShown = regexp.MustCompile(`iris_[ps]_[0-9A-Za-z]{43}[0-9a-f]{8}`)

// askedBy returns the parameters of a log-in from the command line.
func askedBy(scopes string, change ...string) string {
	v := url.Values{"port": {"49152"}, "state": {"a state & more"}, "challenge": {challenge}, "name": {"laptop"},
		"scopes": {scopes}}
	for i := 0; i+1 < len(change); i += 2 {
		v.Set(change[i], change[i+1])
	}
	return v.Encode()
}

// allow allows a command line as a person, and returns the code that the browser gets.
func (s *server) allow(as caller, scopes string) string {
	s.Helper()
	to, err := url.Parse(s.do(as, post, "/login/command-line", askedBy(scopes)+"&answer=allow", "Content-Type",
		form).is(303).header.Get("Location"))
	require.NoError(s, err)
	require.Equal(s, "http://127.0.0.1:49152/", to.Scheme+"://"+to.Host+to.Path)
	require.Equal(s, "a state & more", to.Query().Get("state"))
	return to.Query().Get("code")
}

func (s *server) exchange(code, verifier string) answer {
	s.Helper()
	return s.do(anonymous, post, "/v1/tokens/exchange", m{"code": code, "verifier": verifier})
}

type currentToken struct {
	ID             int64
	Kind, Name     string
	Scopes         []string
	Username, Team string
	Token          string
}

func TestLogInFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	page := s.do(bob, get, "/login/command-line?"+askedBy("read,incidents", "name", "<b>laptop"), nil).is(200)
	require.Contains(t, page.body, "&lt;b&gt;laptop")
	require.Contains(t, page.body, "change incidents and silences")
	require.Contains(t, page.header.Get("Content-Security-Policy"), "form-action 'self' http://127.0.0.1:49152;")
	require.Contains(t, s.do(anonymous, get, "/login/command-line?"+askedBy("read"),
		nil).is(302).header.Get("Location"), "/login/?next=%2Flogin%2Fcommand-line%3F")

	denied := s.do(bob, post, "/login/command-line", askedBy("read")+"&answer=deny", "Content-Type",
		form).is(303).header.Get("Location")
	require.Equal(t, "http://127.0.0.1:49152/?error=access_denied&state=a+state+%26+more", denied)
	require.Zero(t, s.number("select count(*) from token_grants"))

	code := s.allow(bob, "read,incidents")
	require.Zero(t, s.number("select count(*) from token_grants where hash = convert_to('"+code+"', 'UTF8')"),
		"only the hash is stored")
	made := s.exchange(code, verifier).is(201)
	require.Equal(t, "no-store", made.header.Get("Cache-Control"))
	got := decode[currentToken](made)
	require.Equal(t, "bob", got.Username)
	token := caller{name: "the command line", token: got.Token}
	now := decode[currentToken](s.do(token, get, "/v1/tokens/current", nil).is(200))
	require.Equal(t, currentToken{ID: got.ID, Kind: "personal", Name: "laptop", Scopes: []string{"incidents", "read"},
		Username: "bob"}, now)
	s.do(token, del, "/v1/plans/x", nil).is(403)
	require.Contains(t, s.do(admin, get, "/v1/audit", nil).is(200).body, "token create")
	s.do(token, del, "/v1/tokens/current", nil).is(204)
	s.do(token, get, "/v1/tokens/current", nil).is(401)
}

// A code is used up by the first request.
func TestCodesOfTheCommandLineAreValidOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	code := s.allow(bob, "read")
	s.exchange(code, verifier).is(201)
	s.exchange(code, verifier).is(401)

	code = s.allow(bob, "read")
	s.exchange(code, challenge).is(401)
	s.exchange(code, verifier).is(401)

	code = s.allow(bob, "read")
	s.exec("update token_grants set expires_at = clock_timestamp()")
	s.exchange(code, verifier).is(401)

	code = s.allow(bob, "read")
	s.exec("update users set active = false where name = 'bob'")
	s.exchange(code, verifier).is(401)
	require.EqualValues(t, 0, s.number("select count(*) from personal_tokens"),
		"the tokens of a person who is switched off have ended")
}

// The answer goes to the loopback interface only, whatever the parameters are.
func TestACommandLineCannotChooseAnotherDestination(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, change := range [][2]string{{"port", "80"}, {"port", "65536"}, {"port", "49152@evil.example"}, {"port", "evil.example"}, {"port", ""}, {"state", ""},
		{"challenge", "short"}, {"challenge", verifier + "="}, {"scopes", "root"}, {"scopes", ""}, {"name", " "}} {
		asked := askedBy("read", change[0], change[1])
		s.do(bob, get, "/login/command-line?"+asked, nil).is(400)
		s.do(bob, post, "/login/command-line", asked+"&answer=allow", "Content-Type", form).is(400)
		s.do(bob, post, "/login/command-line", asked+"&answer=deny", "Content-Type", form).is(400)
	}
	require.Zero(t, s.number("select count(*) from token_grants"))
}

func TestPageOfTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	made := s.do(bob, post, "/tokens", formOf("name", "<i>backup", "scopes", "read", "days", "7"), "Content-Type",
		form).is(200).body
	secret := tokenShown.FindString(made)
	require.NotEmpty(t, secret, made)
	s.do(caller{name: "its token", token: secret}, get, "/v1/incidents", nil).is(200)
	list := s.do(bob, get, "/tokens", nil).is(200).body
	require.Contains(t, list, "&lt;i&gt;backup")
	require.NotContains(t, list, secret, "the secret is shown once")
	require.NotContains(t, s.do(owner, get, "/tokens", nil).is(200).body, "&lt;i&gt;", "others do not see it")
	require.Contains(t, s.do(admin, get, "/tokens?all=true", nil).is(200).body, "&lt;i&gt;backup")
	refused := s.do(bob, post, "/tokens", formOf("name", "kept", "days", "7"), "Content-Type", form).is(400).body
	require.Contains(t, refused, `value="kept"`)
	require.Contains(t, refused, "scopes must name")
	s.do(admin, post, "/tokens/1/revoke", formOf("all", "true"), "Content-Type", form).is(303)
	s.do(caller{name: "its token", token: secret}, get, "/v1/incidents", nil).is(401)
	require.Contains(t, s.do(admin, get, "/v1/audit", nil).is(200).body, "token revoke")
}

func TestPageOfServiceTokens(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "auth: {tokens: {service_max_life: 30d}}\n"))
	s.do(admin, post, "/api/v0/teams", m{"name": "crew", "scheduling_timezone": "UTC"}).is(201)
	s.do(admin, post, "/api/v0/teams/crew/admins", m{"name": "bob"}).is(201)
	create := func(as caller, team string, status int) string {
		t.Helper()
		return s.do(as, post, "/service-tokens", formOf("name", "<i>deploy", "team", team, "scopes", "oncall", "days",
			"30"), "Content-Type", form).is(status).body
	}
	create(owner, "crew", 403)
	create(bob, "", 403)
	require.Contains(t, create(bob, "no such team", 400), "there is no active team")
	require.Contains(t, s.do(bob, post, "/service-tokens", formOf("name", "x", "team", "crew", "scopes", "read",
		"days", "31"), "Content-Type", form).is(400).body, "between 1 and 2592000")
	secret := tokenShown.FindString(create(bob, "crew", 200))
	token := caller{name: "a service token", token: secret}
	s.do(token, get, "/v1/teams", nil).is(200)
	for _, as := range []caller{bob, admin} {
		list := s.do(as, get, "/service-tokens", nil).is(200).body
		require.Contains(t, list, "&lt;i&gt;deploy")
		require.Contains(t, list, "team crew")
		require.NotContains(t, list, secret, "the secret is shown once")
	}
	require.NotContains(t, s.do(owner, get, "/service-tokens", nil).is(200).body, "deploy</bdi>",
		"others do not see it")
	id := s.number("select id from service_tokens")
	s.do(owner, post, fmt.Sprintf("/service-tokens/%d/revoke", id), nil).is(404)
	s.do(bob, post, fmt.Sprintf("/service-tokens/%d/revoke", id), nil).is(303)
	s.do(token, get, "/v1/teams", nil).is(401)
}

package ldap

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users/directory"
)

const (
	annDN   = "uid=ann,ou=people,dc=example,dc=com"
	finder  = "cn=finder,dc=example,dc=com"
	theBase = "dc=example,dc=com"
)

// company returns a server with ann, whose password is "right", and a finder who may search.
func company() *server {
	return &server{
		passwords: map[string]string{annDN: "right", finder: "finds", "ann@example.com": "right"},
		entries: map[string]map[string][]string{
			annDN: {"uid": {"ann"}, "cn": {"Ann Lee"}, "mail": {"ann@example.com"},
				"mobile": {"+1 555 123 4567"}},
			"uid=bob,ou=people,dc=example,dc=com": {"uid": {"bob"}, "cn": {"Bob"}, "mail": {"bob@example.com"}},
			"uid=eve,ou=a,dc=example,dc=com":      {"uid": {"eve"}},
			"uid=eve,ou=b,dc=example,dc=com":      {"uid": {"eve"}},
		},
	}
}

func client(t *testing.T, change func(*Config), urls ...string) *Client {
	t.Helper()
	cfg := Config{
		URLs: urls, BaseDN: theBase, BindUser: finder, BindPassword: "finds", Timeout: 2 * time.Second,
		Attributes: Attributes{Name: "uid", FullName: "cn"},
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func wrong(t *testing.T, c *Client, name, password string) {
	t.Helper()
	_, err := c.Check(t.Context(), name, password)
	require.True(t, fault.Is(err, fault.Unauthenticated), "%q %q: %v", name, password, err)
}

func TestSearchAndBind(t *testing.T) {
	t.Parallel()
	s := start(t, company())
	c := client(t, nil, s.url("ldap"))
	e, err := c.Check(t.Context(), "ANN", "right")
	require.NoError(t, err)
	require.Equal(t, directory.Entry{Ref: annDN, Name: "ann", FullName: "Ann Lee", Email: "ann@example.com",
		Phone: "+1 555 123 4567"}, e,
		"the directory's spelling of the name")
	wrong(t, c, "ann", "wrong")
	wrong(t, c, "nobody", "right")
	wrong(t, c, "eve", "right") // a name with two entries identifies nobody
	binds, filters := s.asked()
	require.NotContains(t, binds, "", "nobody binds anonymously")

	wrong(t, c, "*", "right")
	wrong(t, c, "ann)(uid=*", "right")
	wrong(t, c, `a\nn`, "right")
	_, later := s.asked()
	require.Equal(t, []string{`(uid=\2a)`, `(uid=ann\29\28uid=\2a)`, `(uid=a\5cnn)`}, later[len(filters):],
		"names are no filters (RFC 4515)")
}

func TestEmptyPasswordsAreNeverSent(t *testing.T) {
	t.Parallel()
	s := start(t, company())
	for _, c := range []*Client{client(t, nil, s.url("ldap")), client(t, func(c *Config) { c.Suffix = "@example.com" }, s.url("ldap"))} {
		wrong(t, c, "ann", "")
		wrong(t, c, "", "right")
		wrong(t, c, "ann\x00", "right")
	}
	require.Zero(t, s.connections())
}

func TestDirectBind(t *testing.T) {
	t.Parallel()
	s := start(t, company())
	c := client(t, func(c *Config) { c.Suffix, c.BaseDN, c.BindUser = "@example.com", "", "" }, s.url("ldap"))
	e, err := c.Check(t.Context(), "ann", "right")
	require.NoError(t, err)
	require.Equal(t, directory.Entry{Name: "ann"}, e)
	wrong(t, c, "ann", "wrong")
	for _, name := range []string{"ann@example.com", `CORP\ann`, "a/b"} {
		wrong(t, c, name, "right")
	}
	binds, filters := s.asked()
	require.Equal(t, []string{"ann@example.com", "ann@example.com"}, binds, "names of another domain are not tried")
	require.Empty(t, filters)

	c = client(t, func(c *Config) { c.Prefix, c.Suffix, c.BindUser = "uid=", ",ou=people,"+theBase, "" }, s.url("ldap"))
	e, err = c.Check(t.Context(), "ann", "right")
	require.NoError(t, err)
	require.Equal(t, "Ann Lee", e.FullName, "read with ann's own rights")
	hiding := company()
	hiding.found = ldap.LDAPResultNoSuchObject
	start(t, hiding)
	own := client(t, func(c *Config) { c.Prefix, c.Suffix, c.BindUser = "uid=", ",ou=people,"+theBase, "" },
		hiding.url("ldap"))
	e, err = own.Check(t.Context(), "ann", "right")
	require.NoError(t, err)
	require.Equal(t, directory.Entry{Name: "ann"}, e, "ann may not see herself")
	wrong(t, c, "x,uid=ann", "right")
	binds, _ = s.asked()
	require.Equal(t, `uid=x\,uid=ann,ou=people,dc=example,dc=com`, binds[len(binds)-1],
		"names are no distinguished names (RFC 4514)")
}

func TestLockedAccountsAreNotAnOutage(t *testing.T) {
	t.Parallel()
	for _, code := range refusals[:len(refusals)-1] {
		s := company()
		s.bindCode = code
		start(t, s)
		c := client(t, func(c *Config) { c.Suffix, c.BaseDN = "@example.com", "" }, s.url("ldap"))
		wrong(t, c, "ann", "right")
	}
}

func TestServersAreTriedInOrder(t *testing.T) {
	t.Parallel()
	s, deaf := start(t, company()), company()
	deaf.deaf = true
	start(t, deaf)
	gone := start(t, company())
	gone.listener.Close()
	c := client(t, func(c *Config) { c.Timeout = 200 * time.Millisecond }, gone.url("ldap"), deaf.url("ldap"),
		s.url("ldap"))
	for range 2 {
		e, err := c.Check(t.Context(), "ann", "right")
		require.NoError(t, err)
		require.Equal(t, "ann", e.Name)
	}
	require.Equal(t, 1, deaf.connections(), "who did not answer is asked last for a while")
	before := s.connections()
	wrong(t, c, "ann", "wrong")
	require.Equal(t, before+1, s.connections(), "a no is a no: no other server is asked")
	require.Equal(t, 1, deaf.connections())
	require.Equal(t, c.cfg.URLs, c.order(time.Now().Add(2*avoidFor)), "and then first again")

	c = client(t, func(c *Config) { c.Timeout = 100 * time.Millisecond }, gone.url("ldap"), deaf.url("ldap"))
	_, err := c.Check(t.Context(), "ann", "right")
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.ErrorContains(t, err, gone.url("ldap"))
	require.NotContains(t, err.Error(), "uid=")
}

func TestUnavailableServersAreNotAWrongPassword(t *testing.T) {
	t.Parallel()
	for what, break_ := range map[string]func(*server){
		"busy":                     func(s *server) { s.bindCode = ldap.LDAPResultBusy },
		"account refused":          func(s *server) { s.passwords[finder] = "changed" },
		"searches fail":            func(s *server) { s.found = ldap.LDAPResultInsufficientAccessRights },
		"no StartTLS":              nil,
		"hangs up while searching": func(s *server) { s.hangUp = 1; s.found = 0 },
	} {
		s := company()
		if break_ != nil {
			break_(s)
		}
		start(t, s)
		c := client(t, func(c *Config) { c.StartTLS = break_ == nil }, s.url("ldap"))
		if s.hangUp > 0 {
			_, err := c.People(t.Context())
			require.True(t, fault.Is(err, fault.Unavailable), "%s: %v", what, err)
			continue
		}
		_, err := c.Check(t.Context(), "ann", "right")
		require.True(t, fault.Is(err, fault.Unavailable), "%s: %v", what, err)
		require.NotContains(t, err.Error(), "dc=example", "what servers add may hold names")
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	deaf := company()
	deaf.deaf = true
	start(t, deaf)
	c := client(t, func(c *Config) { c.Timeout = time.Hour }, deaf.url("ldap"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := c.Check(ctx, "ann", "right")
		done <- err
	}()
	require.Eventually(t, func() bool { return deaf.connections() > 0 }, 5*time.Second, 5*time.Millisecond)
	cancel()
	require.True(t, fault.Is(<-done, fault.Unavailable))
}

func TestTLS(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	s := company()
	s.secure = &tls.Config{Certificates: []tls.Certificate{cert}}
	start(t, s)
	trusting := func(c *Config) { c.StartTLS, c.TLS = true, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12} }
	e, err := client(t, trusting, s.url("ldap")).Check(t.Context(), "ann", "right")
	require.NoError(t, err)
	require.Equal(t, "ann", e.Name)

	before, _ := s.asked()
	_, err = client(t, func(c *Config) { c.StartTLS = true }, s.url("ldap")).Check(t.Context(), "ann", "right")
	require.True(t, fault.Is(err, fault.Unavailable), "a certificate of nobody's: %v", err)
	after, _ := s.asked()
	require.Equal(t, before, after, "no password was sent")

	whole := company()
	whole.secure, whole.fromTheStart = s.secure, true
	start(t, whole)
	e, err = client(t, func(c *Config) { c.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12} },
		whole.url("ldaps")).Check(t.Context(), "ann", "right")
	require.NoError(t, err)
	require.Equal(t, "ann", e.Name)
	_, err = client(t, nil, whole.url("ldaps")).Check(t.Context(), "ann", "right")
	require.True(t, fault.Is(err, fault.Unavailable), "a certificate of nobody's: %v", err)
}

func TestPeople(t *testing.T) {
	t.Parallel()
	s := start(t, company())
	people, err := client(t, nil, s.url("ldap")).People(t.Context())
	require.NoError(t, err)
	require.Len(t, people, 4, "of several pages")
	require.Equal(t, "Ann Lee", people[0].FullName)
	_, filters := s.asked()
	require.Equal(t, "(&(objectClass=person)(uid=*))", filters[0])

	partly := company()
	partly.found = ldap.LDAPResultSizeLimitExceeded
	start(t, partly)
	_, err = client(t, nil, partly.url("ldap")).People(t.Context())
	require.True(t, fault.Is(err, fault.Unavailable), "half an answer is none: %v", err)
}

func TestListsHaveTheMembersOfInnerLists(t *testing.T) {
	t.Parallel()
	groups := map[string]map[string][]string{
		"cn=all,dc=x":  {"cn": {"all"}, "member": {"uid=ann,dc=x", "CN=Ops,DC=x", "cn=printer,dc=x"}},
		"cn=ops,dc=x":  {"cn": {"ops"}, "member": {"uid=bob,dc=x", "cn=all,dc=x", "uid=ann,dc=x"}},
		"cn=none,dc=x": {"cn": {"none"}},
	}
	s := start(t, &server{entries: groups, passwords: map[string]string{finder: "finds"}})
	c := client(t, func(c *Config) { c.Lists.Filter = "(cn=*)" }, s.url("ldap"))
	lists, err := c.Lists(t.Context())
	require.NoError(t, err)
	require.Equal(t, []directory.List{
		{Name: "all", Members: []string{"uid=ann,dc=x", "cn=printer,dc=x", "uid=bob,dc=x"}, Size: 3},
		{Name: "none"},
		{Name: "ops", Members: []string{"uid=bob,dc=x", "uid=ann,dc=x", "cn=printer,dc=x"}, Size: 3},
	}, lists)

}

// Active Directory returns large groups in parts.
func TestLargeGroupsAreReadInParts(t *testing.T) {
	t.Parallel()
	ask := func(parts map[string]map[string][]string) ([]directory.List, error) {
		s := start(t, &server{
			passwords: map[string]string{finder: "finds"}, parts: parts,
			entries: map[string]map[string][]string{"cn=huge,dc=x": {"cn": {"huge"}, "member": {},
				"member;range=0-1": {"uid=a,dc=x", "uid=b,dc=x"}}},
		})
		return client(t, func(c *Config) { c.Lists.Filter = "(cn=*)" }, s.url("ldap")).Lists(t.Context())
	}
	lists, err := ask(map[string]map[string][]string{
		"member;range=2-*": {"member;range=2-3": {"uid=c,dc=x",
			"uid=d,dc=x"}}, "member;range=4-*": {"member;range=4-*": {"uid=e,dc=x"}},
	})
	require.NoError(t, err)
	require.Equal(t, []directory.List{{Name: "huge", Members: []string{"uid=a,dc=x", "uid=b,dc=x", "uid=c,dc=x",
		"uid=d,dc=x", "uid=e,dc=x"}, Size: 5}}, lists)
	_, err = ask(map[string]map[string][]string{"member;range=2-*": {"member;range=0-1": {"uid=a,dc=x"}}})
	require.True(t, fault.Is(err, fault.Unavailable), "a server that repeats itself: %v", err)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{
		{}, {URLs: []string{"http://x"}, BaseDN: "x"}, {URLs: []string{"ldap://"},
			BaseDN: "x"}, {URLs: []string{"ldap://u:p@x"}, BaseDN: "x"},
		{URLs: []string{"ldap://x"}}, {URLs: []string{"ldap://x"}, BaseDN: "x",
			LoginFilter: "(uid=%s"}, {URLs: []string{"ldap://x"}, BaseDN: "x", PeopleFilter: "uid"},
	} {
		_, err := New(c)
		require.True(t, fault.Is(err, fault.Invalid), "%+v", c)
	}
	for url, want := range map[string]string{"ldap://h": "h:389", "ldaps://h": "h:636", "ldaps://[::1]:7": "[::1]:7"} {
		got, _, _, err := address(url)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestStableIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attribute string
		has       map[string][]string
		want      string
	}{
		"RFC 4530":         {"", map[string][]string{"entryUUID": {"5a3b"}}, "5a3b"},
		"Active Directory": {"", map[string][]string{"objectguid": {"\x01\xff" + "abc"}}, "01ff616263"},
		"one of its own": {"employeeNumber", map[string][]string{"entryUUID": {"5a3b"},
			"employeeNumber": {"17"}}, "17"},
		"none":                   {"", map[string][]string{"employeeNumber": {"17"}}, ""},
		"one that can be no id":  {"jpegPhoto", map[string][]string{"jpegPhoto": {strings.Repeat("x", 4000)}}, ""},
		"the named one is empty": {"employeeNumber", map[string][]string{"entryUUID": {"5a3b"}}, ""},
	} {
		a := Attributes{Name: "uid", Stable: c.attribute}
		require.Equal(t, c.want, a.entry(ldap.NewEntry(annDN, c.has)).Stable, name)
	}
	s := company()
	s.entries[annDN]["entryUUID"] = []string{"5a3b"}
	s = start(t, s)
	for _, ask := range []func(*Client) (directory.Entry, error){
		func(c *Client) (directory.Entry, error) { return c.Check(t.Context(), "ann", "right") },
		func(c *Client) (directory.Entry, error) {
			all, err := c.People(t.Context())
			require.NoError(t, err)
			for _, e := range all {
				if e.Ref == annDN {
					return e, nil
				}
			}
			return directory.Entry{}, nil
		},
	} {
		e, err := ask(client(t, nil, s.url("ldap")))
		require.NoError(t, err)
		require.Equal(t, "5a3b", e.Stable)
	}
}

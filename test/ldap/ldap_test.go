//go:build openldap

// Package ldap_test tries the log-in and the sync against a real OpenLDAP server, which test/ldap.sh prepares: with the
// real programs, TLS, pages and rights.
package ldap_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goldap "github.com/go-ldap/ldap/v3"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/directory/ldap"
)

const base = "dc=example,dc=com"

// slapd is the server, which runs or does not.
type slapd struct {
	t             *testing.T
	dir           string
	plain, secure string // addresses
	process       *exec.Cmd
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	return addr
}

func startSlapd(t *testing.T) *slapd {
	t.Helper()
	dir := os.Getenv("IRIS_TEST_SLAPD")
	require.NotEmpty(t, dir, "IRIS_TEST_SLAPD must be a directory with slapd.conf: run test/ldap.sh")
	s := &slapd{t: t, dir: dir, plain: freeAddr(t), secure: freeAddr(t)}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *slapd) start() {
	s.t.Helper()
	s.process = exec.Command("/usr/sbin/slapd", "-f", filepath.Join(s.dir, "slapd.conf"), "-h", "ldap://"+s.plain+
		" ldaps://"+s.secure, "-d", "0")
	var out bytes.Buffer
	s.process.Stdout, s.process.Stderr = &out, &out
	require.NoError(s.t, s.process.Start())
	require.Eventually(s.t, func() bool {
		c, err := net.Dial("tcp", s.secure)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 10*time.Second, 20*time.Millisecond, "slapd listens: %s", &out)
}

func (s *slapd) stop() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		_ = s.process.Wait()
		s.process = nil
	}
}

// change changes the directory as its administrator.
func (s *slapd) change(do func(*goldap.Conn) error) {
	s.t.Helper()
	conn, err := goldap.DialURL("ldaps://"+s.secure, goldap.DialWithTLSConfig(s.tls()))
	require.NoError(s.t, err)
	defer conn.Close()
	require.NoError(s.t, conn.Bind("cn=admin,"+base, "admin"))
	require.NoError(s.t, do(conn))
}

func (s *slapd) tls() *tls.Config {
	raw, err := os.ReadFile(filepath.Join(s.dir, "ca.pem"))
	require.NoError(s.t, err)
	pool := x509.NewCertPool()
	require.True(s.t, pool.AppendCertsFromPEM(raw))
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// bin is where TestMain built the programs.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "iris-ldap-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		bin = dir
		build := exec.Command("go", "build", "-o", dir+"/", "../../cmd/iris", "../../cmd/iris-api",
			"../../cmd/message-processor")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "the programs do not build:", err)
			return 1
		}
		return m.Run()
	}())
}

func TestEveryWayIn(t *testing.T) {
	s := startSlapd(t)
	good := ldap.Config{
		URLs: []string{"ldaps://" + s.secure}, TLS: s.tls(), BaseDN: "ou=people," + base, BindUser: "cn=iris," +
			base, BindPassword: "finds",
		Attributes: ldap.Attributes{Name: "uid", FullName: "cn"},
	}
	for name, change := range map[string]func(*ldap.Config){
		"search and bind over TLS":  func(*ldap.Config) {},
		"search and bind, StartTLS": func(c *ldap.Config) { c.URLs, c.StartTLS = []string{"ldap://" + s.plain}, true },
		"a dead server comes first": func(c *ldap.Config) {
			c.URLs = append([]string{"ldaps://" + freeAddr(t)},
				c.URLs...)
		},
		"bound directly": func(c *ldap.Config) {
			c.BindUser, c.BindPassword, c.Prefix, c.Suffix = "", "", "uid=", ",ou=people,"+base
		},
	} {
		cfg := good
		change(&cfg)
		c, err := ldap.New(cfg)
		require.NoError(t, err, name)
		e, err := c.Check(t.Context(), "ANN", "ann's")
		require.NoError(t, err, name)
		if cfg.Prefix == "" {
			require.Equal(t, "ann", e.Name, name)
			require.Equal(t, "Ann Lée", e.FullName, name)
			require.Len(t, e.Stable, 36, "%s: its entryUUID", name)
		} else { // people may not search this server
			require.Equal(t, directory.Entry{Name: "ANN"}, e, name)
		}
		for _, wrong := range [][2]string{{"ann", "ann"}, {"ann", ""}, {"*", "ann's"}, {"nobody", "x"}, {"ann)(uid=*", "ann's"}, {"u0001", "x"}, {`a\nn`, "x"}, {"ann,ou=people", "ann's"}} {
			_, err := c.Check(t.Context(), wrong[0], wrong[1])
			require.True(t, fault.Is(err, fault.Unauthenticated), "%s: %q: %v", name, wrong, err)
		}
	}
	for name, change := range map[string]func(*ldap.Config){
		"without TLS the server wants no password": func(c *ldap.Config) { c.URLs = []string{"ldap://" + s.plain} },
		"a certificate that nobody signed":         func(c *ldap.Config) { c.TLS = nil },
		"the account that searches is refused":     func(c *ldap.Config) { c.BindPassword = "old" },
	} {
		cfg := good
		change(&cfg)
		c, err := ldap.New(cfg)
		require.NoError(t, err, name)
		_, err = c.Check(t.Context(), "ann", "ann's")
		require.True(t, fault.Is(err, fault.Unavailable), "%s: %v", name, err)
		require.NotContains(t, err.Error(), "dc=", name)
		_, err = c.People(t.Context())
		require.True(t, fault.Is(err, fault.Unavailable), "%s: %v", name, err)
	}
}

// settings is a configuration file for the servers and the command.
func (s *slapd) settings(more string) string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "iris.yaml")
	require.NoError(s.t, os.WriteFile(file, []byte(fmt.Sprintf(`
auth:
  ldap:
    urls: ["ldaps://%s"]
    ca_file: %s/ca.pem
    bind_user: "cn=iris,dc=example,dc=com"
    bind_password: finds
    base_dn: "ou=people,dc=example,dc=com"
    name_attribute: uid
    full_name_attribute: cn
%s`, s.secure, s.dir, more)), 0o600))
	return file
}

const syncs = `
sync:
  from: ldap
  phone_region: CH
  lists: {base_dn: "ou=groups,dc=example,dc=com", filter: "(objectClass=groupOfNames)"}
`

// run runs a program to its end and returns its output and exit code.
func run(t *testing.T, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Stdin = &out, &errs, strings.NewReader("a password of ours\n")
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit, errs.String())
	}
	require.NotContains(t, out.String()+errs.String(), "finds")
	if cmd.ProcessState.ExitCode() == 1 {
		t.Log(errs.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// serve runs a server until the test ends and returns what it logs.
func serve(t *testing.T, env []string, name string, args ...string) *bytes.Buffer {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Env = append(os.Environ(), env...)
	out := &bytes.Buffer{}
	cmd.Stderr = out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
		for _, secret := range []string{"finds", "ann's", "uid=ann", "79123"} {
			if strings.Contains(out.String(), secret) {
				t.Errorf("%s logs %q", name, secret)
			}
		}
	})
	return out
}

func TestPeopleLogIn(t *testing.T) {
	s := startSlapd(t)
	db, api := pgtest.URL(t), freeAddr(t)
	env := []string{"IRIS_DATABASE_URL=" + db, "IRIS_HTTP_ADDR=" + api, "IRIS_ADMIN_ADDR=off"}
	_, code := run(t, env, "iris", "user", "add", "operator")
	require.Zero(t, code)
	serve(t, env, "iris-api", "--config", s.settings("    import: true\nsync: {phone_region: CH}\n"))
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	post := func(path, name, password string) (int, string, string) {
		t.Helper()
		resp, err := client.PostForm("http://"+api+path, url.Values{"username": {name}, "password": {password}})
		if err != nil {
			return 0, "", ""
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, resp.Header.Get("Location"), string(body)
	}
	require.Eventually(t, func() bool { status, _, _ := post("/login", "x", ""); return status == 400 },
		20*time.Second, 50*time.Millisecond)

	status, _, body := post("/login", "ann", "ann's")
	require.Equal(t, 200, status, body)
	var ann struct {
		Name     string            `json:"name"`
		FullName string            `json:"full_name"`
		Contacts map[string]string `json:"contacts"`
		Token    string            `json:"csrf_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &ann))
	require.Equal(t, "Ann Lée", ann.FullName)
	require.NotEmpty(t, ann.Token)
	require.Equal(t, map[string]string{"email": "ann@example.com", "call": "+41791234567", "sms": "+41791234567",
		"slack": "ann@example.com"}, ann.Contacts)
	status, location, _ := post("/login/", "ann", "ann's")
	require.Equal(t, 302, status)
	require.Equal(t, "/incidents", location)

	status, _, _ = post("/login", "ann", "wrong")
	require.Equal(t, 401, status)
	_, location, _ = post("/login/", "ann", "")
	require.Contains(t, location, "/login")
	status, _, _ = post("/login", "*", "ann's")
	require.Equal(t, 401, status)

	_, code = run(t, env, "iris", "user", "disable", "ann")
	require.Zero(t, code)
	status, _, _ = post("/login", "ann", "ann's")
	require.Equal(t, 401, status, "a log-in switches nobody on")

	s.stop()
	for _, path := range []string{"/login", "/login/"} {
		status, _, body = post(path, "ann", "ann's")
		require.Equal(t, 503, status, body)
		require.Contains(t, body, "cannot be reached")
		require.NotContains(t, body, "database")
	}
	status, _, body = post("/login", "operator", "a password of ours")
	require.Equal(t, 200, status, body)
	s.start()
	status, _, _ = post("/login", "ann", "wrong")
	require.Equal(t, 401, status, "and it is back")
}

func TestPeopleAndListsFollow(t *testing.T) {
	s := startSlapd(t)
	db := pgtest.URL(t)
	conn, err := pgx.Connect(t.Context(), db)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	text := func(sql string) (out string) {
		t.Helper()
		require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&out))
		return out
	}
	env, file := []string{"IRIS_DATABASE_URL=" + db}, s.settings(syncs)
	const lists = `select string_agg(l.name || ' ' || l.member_count || ': ' || (select string_agg(u.name, ' ' order by u.name)
		from mailing_list_members m join users u on u.id = m.user_id where m.list_id = l.id), ', ' order by l.name) from mailing_lists l`
	const people = `select count(*) || ' ' || count(*) filter (where active) from users`

	out, code := run(t, env, "iris", "sync", "--config", file, "--dry-run")
	require.Zero(t, code)
	require.Contains(t, out, "ignored: printer: the entry has no e-mail address")
	require.Equal(t, "0 0", text(people))
	out, code = run(t, env, "iris", "sync", "--config", file)
	require.Zero(t, code)
	require.Contains(t, out, "1102 entries in ldap")
	require.Equal(t, "1101 1101", text(people))
	require.Equal(t, "everybody 4: ann u0001 u0002, ops 2: ann u0001", text(lists))
	out, code = run(t, env, "iris", "sync", "--config", file, "--json")
	require.Zero(t, code)
	require.Contains(t, out, `"people": [],`, "in step")

	// A renamed person stays the same person, also on mailing lists.
	const ann = `select id::text from users where name = `
	before := text(ann + `'ann'`)
	rename := func(from, to string) {
		s.change(func(c *goldap.Conn) error {
			return c.ModifyDN(goldap.NewModifyDNRequest("uid="+from+",ou=people,"+base, "uid="+to, true, ""))
		})
		out, code = run(t, env, "iris", "sync", "--config", file)
		require.Zero(t, code)
		require.Contains(t, out, "log-in name, now "+to)
		require.Equal(t, before, text(ann+"'"+to+"'"))
		require.Equal(t, "1101 1101", text(people))
	}
	rename("ann", "anna")
	rename("anna", "ann")

	s.change(func(c *goldap.Conn) error { return c.Del(goldap.NewDelRequest("uid=u0002,ou=people,"+base, nil)) })
	s.change(func(c *goldap.Conn) error {
		m := goldap.NewModifyRequest("uid=ann,ou=people,"+base, nil)
		m.Delete("mobile", nil)
		return c.Modify(m)
	})
	log := serve(t, append(env, "IRIS_GOSSIP_ADDR=off", "IRIS_ADMIN_ADDR=off"), "message-processor", "--config", file)
	_, err = conn.Exec(t.Context(), `update directory_syncs set tried_at = now() - interval '2 hours'`)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return text(people) == "1101 1100" }, 40*time.Second, 100*time.Millisecond,
		"%s", log)
	require.Equal(t, "0", text(`select count(*)::text from user_contacts c join users u on u.id = c.user_id where u.name = 'ann' and mode in ('sms', 'call')`))
	require.Equal(t, "u0002", text(`select name from users where not active`))

	// With lost rights the directory shows nobody, as if everybody had left.
	out, code = run(t, env, "iris", "sync", "--config",
		s.settings(strings.Replace(syncs, "phone_region", "filter: '(uid=u1*)'\n  phone_region", 1)))
	require.Equal(t, 3, code, out)
	require.Contains(t, out, "NOTHING WAS CHANGED: 999 of 1100 synchronised people are no longer in the directory")
	require.Equal(t, "1101 1100", text(people))
}

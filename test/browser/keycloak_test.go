//go:build keycloak

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// process is a program with all that it started.
type process struct {
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{} // closed when the program has ended
}

// launch starts a program. It ends with the test, which shows what it wrote if the test failed.
func launch(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{exec.Command(name, args...), &bytes.Buffer{}, make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		if t.Failed() {
			t.Log(p.log.String())
		}
	})
	return p
}

func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// end ends the program, if it still runs.
func (p *process) end(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		p.signal(s)
		<-p.done
	}
}

func free(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	return addr
}

// ready waits until an address of the program answers with 200.
func (p *process) ready(t *testing.T, address string) {
	t.Helper()
	ended := false
	require.Eventually(t, func() bool {
		select {
		case <-p.done:
			ended = true
			return true
		default:
		}
		resp, err := http.Get(address)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, time.Minute+30*time.Second, 50*time.Millisecond, "%s answers", address)
	require.False(t, ended, "%s ended", p.cmd.Path)
}

// keycloak is a running Keycloak with the realm of test/keycloak.
type keycloak struct {
	*process
	t     *testing.T
	url   string
	token string // of its administrator
}

// startKeycloak starts the Keycloak that test/keycloak.sh has unpacked. Its realm knows Iris at iris.
func startKeycloak(t *testing.T, iris string) *keycloak {
	t.Helper()
	dir := os.Getenv("IRIS_KEYCLOAK")
	require.NotEmpty(t, dir, "IRIS_KEYCLOAK must be the directory of Keycloak: run test/keycloak.sh")
	realm, err := os.ReadFile("../keycloak/realm.json")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "data")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data", "import"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "import", "ci.json"),
		bytes.ReplaceAll(realm, []byte("IRIS_URL"), []byte(iris)), 0o600))
	host, health := free(t), free(t)
	k := &keycloak{t: t, url: "http://" + host}
	k.process = launch(t, []string{"KC_BOOTSTRAP_ADMIN_USERNAME=admin", "KC_BOOTSTRAP_ADMIN_PASSWORD=ci",
		"KC_HEALTH_ENABLED=true", "JAVA_OPTS_KC_HEAP=-Xms64m -Xmx512m",
		"JAVA_OPTS_APPEND=-XX:TieredStopAtLevel=1"}, // starts sooner

		filepath.Join(dir, "bin", "kc.sh"), "start-dev", "--http-host=127.0.0.1", "--http-port="+
			port(host), "--http-management-port="+port(health), "--import-realm")
	k.ready(t, "http://"+host+"/realms/ci/.well-known/openid-configuration")
	return k
}

func port(addr string) string { return addr[strings.LastIndex(addr, ":")+1:] }

// admin calls Keycloak's admin API below the realm. A nil body is sent as none.
func (k *keycloak) admin(method, path string, body, answer any) {
	k.t.Helper()
	if k.token == "" {
		resp, err := http.PostForm(k.url+"/realms/master/protocol/openid-connect/token",
			url.Values{"grant_type": {"password"}, "client_id": {"admin-cli"}, "username": {"admin"},
				"password": {"ci"}})
		require.NoError(k.t, err)
		defer func() { _ = resp.Body.Close() }()
		var got struct {
			Token string `json:"access_token"`
		}
		require.NoError(k.t, json.NewDecoder(resp.Body).Decode(&got))
		k.token = got.Token
		defer func() { k.token = "" }() // it lives for a minute
	}
	raw, err := json.Marshal(body)
	require.NoError(k.t, err)
	if body == nil {
		raw = nil
	}
	req, err := http.NewRequestWithContext(k.t.Context(), method, k.url+"/admin/realms/ci"+path, bytes.NewReader(raw))
	require.NoError(k.t, err)
	req.Header.Set("Authorization", "Bearer "+k.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(k.t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	require.NoError(k.t, err)
	require.Less(k.t, resp.StatusCode, 300, "%s %s: %s", method, path, got)
	if answer != nil {
		require.NoError(k.t, json.Unmarshal(got, answer))
	}
}

// object is a user, group or session of Keycloak.
type object struct {
	ID string `json:"id"`
}

func (k *keycloak) user(name string) string {
	k.t.Helper()
	var found []object
	k.admin(http.MethodGet, "/users?exact=true&username="+name, nil, &found)
	require.Len(k.t, found, 1)
	return found[0].ID
}

func (k *keycloak) sessions(user string) (out []object) {
	k.t.Helper()
	k.admin(http.MethodGet, "/users/"+user+"/sessions", nil, &out)
	return out
}

// key returns the id of the key that signs.
func (k *keycloak) key() string {
	k.t.Helper()
	var keys struct {
		Active map[string]string `json:"active"`
	}
	k.admin(http.MethodGet, "/keys", nil, &keys)
	require.NotEmpty(k.t, keys.Active["RS256"])
	return keys.Active["RS256"]
}

// site is an installation of Iris with Keycloak as a provider.
type site struct {
	t        *testing.T
	url, dir string
	env      []string
	api      *process
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, url: "http://" + free(t), dir: t.TempDir()}
	build := exec.Command("go", "build", "-o", s.dir+"/", "../../cmd/iris", "../../cmd/iris-api")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	db := pgtest.URL(t)
	conn, err := pgx.Connect(t.Context(), db)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "insert into teams (name) values ('databases'), ('web')")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	s.env = []string{"IRIS_DATABASE_URL=" + db, "IRIS_HTTP_ADDR=" + strings.TrimPrefix(s.url, "http://"),
		"IRIS_ADMIN_ADDR=off",
		"IRIS_CONFIG=" + filepath.Join(s.dir, "iris.yaml")}
	return s
}

// configure makes the realm of a Keycloak the provider.
func (s *site) configure(k *keycloak) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "iris.yaml"), fmt.Appendf(nil, `
public_url: %s
auth:
  oidc:
    - name: corp
      label: Example Corp
      issuer: %s
      client_id: iris
      client_secret: ci-secret
      roles: {admin: [/iris-admins]}
      teams:
        - {group: /ops/db, team: databases}
        - {group: /ops/web, team: web}
    - {name: first, label: "The Subsidiary with a Very Long Registered Name, Gesellschaft für Datenverarbeitung mbH & Co. KG", issuer: "https://first.invalid", client_id: iris}
    - {name: second, label: %s, issuer: "https://second.invalid", client_id: iris}
`, s.url, k.url+"/realms/ci", strings.Repeat("unbroken", 10)), 0o600))
}

// start starts iris-api.
func (s *site) start() {
	s.t.Helper()
	s.api = launch(s.t, s.env, filepath.Join(s.dir, "iris-api"))
	s.api.ready(s.t, s.url+"/login")
}

// iris runs the command line on the database and returns what it prints.
func (s *site) iris(stdin string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.dir, "iris"), args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), s.env...), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "iris %s: %s", args, out)
	return string(out)
}

const (
	choice = `a[href^="/login/sso/corp"]` // on the log-in page
	form   = `input[name=password]#password`
	inside = `.who summary` // the menu of the person
)

// atKeycloak logs in with a password in the form of Keycloak.
func (b *tab) atKeycloak(name string) {
	b.t.Helper()
	b.do("to Keycloak", chromedp.Click(choice), visible(form))
	// One script fills in and sends the form, because the page may replace its nodes until it is loaded.
	require.True(b.t, ask[bool](b, fmt.Sprintf(`(() => {
		const f = document.querySelector(%q).form;
		f.username.value = %q;
		f.password.value = %q;
		setTimeout(() => f.querySelector("#kc-login").click());
		return true;
	})()`, form, name, "pw of "+name)))
}

// asks returns a value of an answer of the API as JSON.
func (b *tab) asks(path, expression string) string {
	b.t.Helper()
	return ask[string](b, fmt.Sprintf(`fetch(%q).then((r) => r.json()).then((v) => JSON.stringify(%s))`, path,
		expression))
}

// People log in at Keycloak. Their groups give them rights, and their sessions end in both places.
func TestKeycloak(t *testing.T) {
	s := newSite(t)
	k := startKeycloak(t, s.url)
	s.configure(k)
	s.iris("a password of root\n", "user", "add", "root", "--admin")
	s.iris("", "user", "add", "ben", "--no-password")
	s.start()
	ana, ben := k.user("ana"), k.user("ben")
	b := openTab(t)
	open := func(b *tab) {
		t.Helper()
		b.do("the log-in page", chromedp.Navigate(s.url+"/login"), visible(choice))
	}
	arrive := func(b *tab, name string) {
		t.Helper()
		b.do("logged in", visible(inside))
		require.Equal(t, name, b.text(`.who bdi`))
	}
	managed := func(team string) string { t.Helper(); return b.asks("/v1/teams/"+team, "v.managed_members") }

	// The first log-in creates the person, with the rights of the groups.
	open(b)
	b.shot("120-keycloak-choice")
	b.atKeycloak("ana")
	arrive(b, "ana")
	require.Equal(t, `["ana"]`, managed("databases"))
	require.Equal(t, `[]`, managed("web"))
	require.True(t, ask[bool](b, `!!document.querySelector('.side a[href="/audit-log"]')`),
		"a group made ana an administrator")
	links := s.iris("", "user", "links", "ana")
	require.Contains(t, links, ana)

	// A logout from Iris ends the session at Keycloak too.
	require.Len(t, k.sessions(ana), 1)
	b.do("log out", chromedp.Click(inside), chromedp.Click(`form[action="/logout/"] button`), visible(choice))
	require.Empty(t, k.sessions(ana))

	// After a rotation, the new key signs the second log-in, which needs the password and gives the same person.
	before := k.key()
	k.admin(http.MethodPost, "/components", map[string]any{"name": "new", "providerId": "rsa-generated",
		"providerType": "org.keycloak.keys.KeyProvider",
		"config":       map[string][]string{"priority": {"200"}}}, nil)
	require.NotEqual(t, before, k.key())
	b.atKeycloak("ana")
	arrive(b, "ana")
	require.Equal(t, strings.Count(links, "\n"), strings.Count(s.iris("", "user", "links"), "\n"),
		"there is one link still")

	// Keycloak ends the session here through the back channel.
	there := k.sessions(ana)
	require.Len(t, there, 1)
	k.admin(http.MethodDelete, "/sessions/"+there[0].ID, nil, nil)
	b.do("the session has ended", chromedp.Navigate(s.url+"/incidents"), visible(choice))

	// Changed groups count at the next log-in.
	group := func(path string) string {
		t.Helper()
		var g object
		k.admin(http.MethodGet, "/group-by-path/"+path, nil, &g)
		return "/users/" + ana + "/groups/" + g.ID
	}
	k.admin(http.MethodDelete, group("ops/db"), nil, nil)
	k.admin(http.MethodDelete, group("iris-admins"), nil, nil)
	k.admin(http.MethodPut, group("ops/web"), nil, nil)
	open(b)
	b.atKeycloak("ana")
	arrive(b, "ana")
	require.Equal(t, `[]`, managed("databases"))
	require.Equal(t, `["ana"]`, managed("web"))
	require.False(t, ask[bool](b, `!!document.querySelector('.side a[href="/audit-log"]')`),
		"ana is no administrator any more")

	b.do("the team on a phone", chromedp.EmulateViewport(360, 780), chromedp.Navigate(s.url+"/teams/web/rosters"),
		visible(`.chip.managed`))
	require.Equal(t, "managed by groups", b.text(`.chip.managed`))
	require.Contains(t, b.text(`main`), "groups of the identity provider or directory make these people members")
	require.Empty(t, ask[[]string](b, overflowing))
	b.shot("123-managed-phone")

	// The name of an existing person is refused and listed, until an administrator links the account.
	other := openTab(t)
	other.do("on a phone", chromedp.EmulateViewport(360, 780))
	open(other)
	require.Empty(t, ask[[]string](other, overflowing))
	other.shot("124-providers-phone")
	other.atKeycloak("ben")
	other.do("refused", visible(`.card.login [role=alert]`))
	require.Contains(t, other.text(`[role=alert]`), "You are not logged in")
	other.shot("121-keycloak-refused")
	refused := s.iris("", "user", "refused")
	require.Contains(t, refused, ben)
	s.iris("", "user", "link", "ben", "--provider", "corp", "--subject", ben)
	require.NotContains(t, s.iris("", "user", "refused"), ben)
	other.do("again, with the session at Keycloak", chromedp.Click(choice))
	arrive(other, "ben")

	s.withoutKeycloak(k)
}

// withoutKeycloak starts Iris while Keycloak does not answer: the local administrator can log in, and the page says
// what failed.
func (s *site) withoutKeycloak(k *keycloak) {
	s.t.Helper()
	s.api.end(syscall.SIGTERM)
	k.signal(syscall.SIGSTOP) // it accepts connections, and does not answer
	s.start()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	// A request to the provider is given up after ten seconds, so a page that waits for it misses this limit.
	person := &http.Client{Jar: jar, Timeout: 5 * time.Second}
	resp, err := person.Get(s.url + "/login")
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	require.Equal(s.t, http.StatusOK, resp.StatusCode)
	resp, err = person.PostForm(s.url+"/login/", url.Values{"username": {"root"}, "password": {"a password of root"}})
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	require.Equal(s.t, "/incidents", resp.Request.URL.Path, "the administrator is logged in")

	k.end(syscall.SIGKILL)
	b := openTab(s.t)
	b.do("the provider is down", chromedp.Navigate(s.url+"/login"), visible(choice), chromedp.Click(choice),
		visible(`[role=alert]`))
	require.Equal(s.t, "Example Corp cannot be reached. Passwords that Iris itself keeps still work.",
		b.text(`[role=alert]`))
	b.shot("122-keycloak-down")
	b.do("log in with a password", chromedp.SendKeys(`input[name=username]`, "root"),
		chromedp.SendKeys(`input[name=password]`, "a password of root"),
		chromedp.Click(`button.primary`), visible(inside))
}

// Package e2e tests the real programs in stories: iris-api and message-processor as child processes, a real PostgreSQL,
// and strict fake vendors on loopback. Every story sets up its installation with the iris command and the API. At the
// end of a story the checker compares the vendors' log with the promises.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/dev/pgserver"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/legacy/apiclient"
)

// bin is the folder of the programs that TestMain built.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "iris-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		bin = dir
		build := exec.Command("go", "build", "-o", dir+"/", "../../cmd/...")
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "the programs do not build:", err)
			return 1
		}
		flag.Parse()
		// Stories mostly wait, so more of them can run at once than the machine has cores.
		if own := flag.Lookup("test.parallel"); own.Value.String() == own.DefValue {
			_ = own.Value.Set(atOnce)
		}
		code := m.Run()
		if newcomer.pattern != nil {
			if err := newcomer.pattern.Drop(); err != nil {
				fmt.Fprintln(os.Stderr, "the pattern of the databases stays:", err)
			}
		}
		return code
	}())
}

// atOnce is how many stories run at once.
const atOnce = "6"

const (
	password      = "a long enough password"
	slackToken    = "xoxb-pretend"
	signingSecret = "slack-signing-secret"
	twilioSID     = "AC0123456789abcdef0123456789abcdef"
	twilioToken   = "twilio-auth-token"
	twilioFrom    = "+15550000000"
	annPhone      = "+15551110001"
	bobPhone      = "+15551110002"
)

// stage is one installation with its vendors.
type stage struct {
	t          *testing.T
	pg         *pgserver.Server
	dbURL      string
	db         *pgxpool.Pool
	vendors    *pretend.Vendors
	apiURL     string
	api        *process
	processors []*process
	env        []string // of all programs
	apiEnv     []string // of iris-api
	app        *apiclient.Client
	key        string // of the application watch
	people     map[string]*http.Client
}

type options struct {
	processors int
	env        []string // of every program
	// each returns additional environment of processor i, from the environment of all programs; nil = none.
	each func(i int, env []string) []string
	// database prepares the empty database; nil = no preparation.
	database func(url string)
	// ownServer gives the story its own PostgreSQL server, because it breaks the server or makes roles. Other stories
	// share one.
	ownServer bool
	// databaseURL is an empty database on a server that the story started; "" = none.
	databaseURL string
	// api is like each, for iris-api.
	api func(env []string) []string
}

// newcomer is the installation of a new user: ann (administrator), bob, team ops and the application watch. It is made
// once, with the iris command, and copied for stories without their own server.
var newcomer struct {
	once    sync.Once
	pattern *pgtest.Pattern
	key     string // key of the application watch; "" = making the installation failed
}

// setUp makes the installation of newcomer in an empty database and returns the key of the application.
func (s *stage) setUp(env []string) (key string) {
	s.t.Helper()
	s.iris(env, "", "migrate")
	s.iris(env, password+"\n", "user", "add", "ann", "--admin", "--email", "ann@example.com", "--phone", annPhone,
		"--slack", "@ann")
	s.iris(env, password+"\n", "user", "add", "bob", "--email", "bob@example.com", "--phone", bobPhone)
	s.iris(env, "", "contact", "set", "bob", "slack", "@bob")
	s.iris(env, "", "team", "add", "ops", "--member", "ann", "--member", "bob")
	key = strings.TrimSpace(s.iris(env, "", "app", "add", "watch", "--variable", "title"))
	require.Regexp(s.t, "^[0-9a-f]{64}$", key)
	return key
}

// prepareDatabase sets dbURL to a copy of newcomer's database, or to an empty database if the story has its own server.
func (s *stage) prepareDatabase(o options) {
	s.t.Helper()
	switch {
	case o.databaseURL != "":
		s.dbURL = o.databaseURL
	case o.database != nil:
		s.dbURL = pgtest.EmptyURL(s.t)
		o.database(s.dbURL)
	case o.ownServer:
		var err error
		s.pg, err = pgserver.StartTemporary(s.t.Context(), pgserver.Config{})
		require.NoError(s.t, err)
		s.t.Cleanup(s.pg.Stop)
		s.dbURL = s.pg.URL()
	default:
		newcomer.once.Do(func() {
			newcomer.pattern = pgtest.NewPattern(s.t)
			newcomer.key = s.setUp([]string{"IRIS_DATABASE_URL=" + newcomer.pattern.URL()})
		})
		require.NotEmpty(s.t, newcomer.key, "the installation could not be made; see the story that tried")
		s.key, s.dbURL = newcomer.key, newcomer.pattern.Copy(s.t)
	}
}

// newStage starts a database, the vendors, iris-api and processors, with the installation of newcomer.
func newStage(t *testing.T, o options) *stage {
	t.Helper()
	s := &stage{t: t, people: map[string]*http.Client{}}
	s.prepareDatabase(o)
	var err error
	s.db, err = pgxpool.New(t.Context(), s.dbURL)
	require.NoError(t, err)
	t.Cleanup(s.db.Close)
	s.vendors = pretend.New(pretend.Config{
		SMTP:   pretend.SMTPConfig{From: []string{"iris@example.com", "loud@example.com"}},
		Slack:  pretend.SlackConfig{Token: slackToken, SigningSecret: signingSecret},
		Twilio: pretend.TwilioConfig{AccountSID: twilioSID, AuthToken: twilioToken, From: []string{twilioFrom}},
	})
	require.NoError(t, s.vendors.Start())
	t.Cleanup(s.vendors.Close)
	addr := freeAddr(t)
	s.apiURL = "http://" + addr
	env := append([]string{
		"IRIS_DATABASE_URL=" + s.dbURL, "IRIS_PUBLIC_URL=" + s.apiURL, "IRIS_ADMIN_ADDR=127.0.0.1:0",
		"IRIS_SMTP_ADDR=" + s.vendors.SMTP.Addr(), "IRIS_SMTP_FROM=iris@example.com",
		"IRIS_SLACK_TOKEN=" + slackToken, "IRIS_SLACK_API_URL=" + s.vendors.Slack.URL(), "IRIS_SLACK_SIGNING_SECRET=" +
			signingSecret,
		"IRIS_TWILIO_ACCOUNT_SID=" + twilioSID, "IRIS_TWILIO_AUTH_TOKEN=" + twilioToken, "IRIS_TWILIO_FROM=" +
			twilioFrom,
		"IRIS_TWILIO_API_URL=" + s.vendors.Twilio.URL(),
	}, o.env...)

	if s.key == "" {
		s.key = s.setUp(env)
	}
	s.apiEnv = append(slices.Clone(env), "IRIS_HTTP_ADDR="+addr)
	if o.api != nil {
		s.apiEnv = append(s.apiEnv, o.api(env)...)
	}
	s.api = start(t, "api", filepath.Join(bin, "iris-api"), s.apiEnv)
	for i := range max(o.processors, 1) {
		var more []string
		if o.each != nil {
			more = o.each(i, env)
		}
		s.env = env
		s.addProcessor(more...)
	}
	s.app, err = apiclient.New(apiclient.Config{URL: s.apiURL, App: "watch", Key: s.key})
	require.NoError(t, err)
	s.eventually(30*time.Second, "the API to say that incidents are paged", func() bool {
		resp, err := http.Get(s.apiURL + "/readyz/paging")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	s.login("ann")
	s.login("bob")
	t.Cleanup(s.logStory)
	return s
}

// addProcessor starts one more processor.
func (s *stage) addProcessor(env ...string) *process {
	all := append(append(slices.Clone(s.env), "IRIS_GOSSIP_ADDR=127.0.0.1:0"), env...)
	p := start(s.t, fmt.Sprintf("processor-%d", len(s.processors)+1), filepath.Join(bin, "message-processor"), all)
	s.processors = append(s.processors, p)
	return p
}

// logStory logs the vendors' log and the timelines when a story fails.
func (s *stage) logStory() {
	if !s.t.Failed() {
		return
	}
	entries := s.vendors.Log().Entries()
	for _, e := range entries[max(0, len(entries)-30):] {
		s.t.Logf("vendor %s: %s to %q, incident %d, message %d, accepted %t, %d %s", e.Vendor, e.Mode, e.To,
			e.IncidentID, e.MessageID, e.Accepted, e.Status, e.Reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rows, err := s.db.Query(ctx, "select incident_id, text from (select * from timeline_entries order by id desc limit 30) t order by id")
	if err != nil {
		s.t.Log(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var text string
		if rows.Scan(&id, &text) == nil {
			s.t.Logf("timeline of incident %d: %s", id, text)
		}
	}
}

// iris runs the operator's command and returns its standard output.
func (s *stage) iris(env []string, stdin string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(bin, "iris"), args...)
	cmd.Env = env
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(s.t, err, "iris %s: %s", strings.Join(args, " "), stderr.String())
	return string(out)
}

// login opens a session for a user.
func (s *stage) login(user string) {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	c := &http.Client{Jar: jar, Timeout: 10 * time.Second}
	resp, err := c.PostForm(s.apiURL+"/login/", url.Values{"username": {user}, "password": {password}})
	require.NoError(s.t, err)
	_ = resp.Body.Close()
	require.Equal(s.t, "/incidents", resp.Request.URL.Path, "%s is logged in", user)
	s.people[user] = c
}

// as sends a request to the JSON API in a person's session.
func (s *stage) as(user, method, path string, in any) (int, string) {
	s.t.Helper()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		require.NoError(s.t, err)
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.apiURL+path, body)
	require.NoError(s.t, err)
	resp, err := s.people[user].Do(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp.StatusCode, string(raw)
}

type words map[string]string

// template makes a template for the application watch, with a text for each mode.
func (s *stage) template(name string, byMode map[string]words) {
	s.t.Helper()
	status, body := s.as("ann", http.MethodPost, "/v0/templates",
		map[string]any{"name": name, "creator": "ann", "content": map[string]any{"watch": byMode}})
	require.Equal(s.t, http.StatusCreated, status, body)
}

type notification map[string]any

// plan makes a plan with the given steps.
func (s *stage) plan(name string, steps ...[]notification) {
	s.t.Helper()
	status, body := s.as("ann", http.MethodPost, "/v0/plans",
		map[string]any{"name": name, "creator": "ann", "description": "a story", "threshold_window": 0,
			"threshold_count": 0, "aggregation_window": 0, "aggregation_reset": 0, "steps": steps})
	require.Equal(s.t, http.StatusCreated, status, body)
}

// notify returns a notification of a plan: the target, the priority, and the wait in seconds.
func notify(role, target, priority string, wait int) notification {
	return notification{"role": role, "target": target, "priority": priority, "template": "alarm", "wait": wait,
		"repeat": 0}
}

// alarm makes the template that the stories use.
func (s *stage) alarm() {
	s.template("alarm", map[string]words{
		"email": {"subject": "{{ title }}", "body": "{{ title }} for {{ iris.target }}"}, "sms": {"subject": "",
			"body": "{{ title }}"},
		"call": {"subject": "", "body": "{{ title }}"}, "slack": {"subject": "", "body": "{{ title }}"},
	})
}

// open opens an incident and returns its number.
func (s *stage) open(plan, title string) int64 {
	s.t.Helper()
	id, err := s.app.OpenIncident(s.t.Context(), apiclient.Incident{Plan: plan,
		Context: map[string]any{"title": title}})
	require.NoError(s.t, err)
	return id
}

// expect waits until a vendor accepted a message of the incident in this mode to this destination.
func (s *stage) expect(incident int64, mode, to string) pretend.Entry {
	s.t.Helper()
	var found pretend.Entry
	s.eventually(15*time.Second, fmt.Sprintf("a message of incident %d by %s to %s", incident, mode, to), func() bool {
		for _, e := range s.vendors.Log().Accepted() {
			if e.IncidentID == incident && e.Mode == mode && strings.Contains(e.To, strings.TrimPrefix(to, "@")) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// messagesOf returns the number of messages of an incident that vendors accepted.
func (s *stage) messagesOf(incident int64) int {
	n := 0
	for _, e := range s.vendors.Log().Accepted() {
		if e.IncidentID == incident {
			n++
		}
	}
	return n
}

// incidentState is a part of the answer of GET /v0/incidents/ID.
type incidentState struct {
	Owner            *string
	Active, Resolved int
}

func (s *stage) incident(id int64) (i incidentState) {
	s.t.Helper()
	require.NoError(s.t, s.app.Call(s.t.Context(), http.MethodGet, fmt.Sprintf("/v0/incidents/%d", id), nil, &i))
	return i
}

// messages reads the messages that match the filter.
func (s *stage) messages(filter url.Values) (out []struct{ ID int64 }, err error) {
	err = s.app.Call(s.t.Context(), http.MethodGet, "/v0/messages?"+filter.Encode(), nil, &out)
	return out, err
}

// expectAcknowledged waits until the incident is acknowledged by the user and its timeline says how.
func (s *stage) expectAcknowledged(id int64, user, via string) {
	s.t.Helper()
	s.eventually(5*time.Second, fmt.Sprintf("incident %d to be acknowledged", id), func() bool {
		i := s.incident(id)
		return i.Active == 0 && i.Owner != nil && *i.Owner == user
	})
	var text string
	require.NoError(s.t, s.db.QueryRow(s.t.Context(),
		"select text || ' ' || actor from timeline_entries where incident_id = $1 and kind = 'acknowledged'", id).Scan(&text))
	require.Contains(s.t, text, user)
	require.Contains(s.t, strings.ToLower(text), via, "the timeline says by which way")
}

// silentUntil waits until the instant. It fails if a vendor receives a message of the incident before.
func (s *stage) silentUntil(at time.Time, incident int64) {
	s.t.Helper()
	before := s.messagesOf(incident)
	ctx, cancel := context.WithDeadline(s.t.Context(), at)
	defer cancel()
	err := s.vendors.Log().Wait(ctx, func([]pretend.Entry) bool { return s.messagesOf(incident) > before })
	require.Error(s.t, err, "incident %d was paged again", incident)
}

func (s *stage) eventually(d time.Duration, what string, ok func() bool) {
	s.t.Helper()
	require.Eventually(s.t, ok, d, 50*time.Millisecond, "waited %s for %s", d, what)
}

// count returns the result of a query that counts.
func (s *stage) count(query string, args ...any) int {
	s.t.Helper()
	var n int
	err := s.db.QueryRow(s.t.Context(), query, args...).Scan(&n)
	if err != nil && s.t.Context().Err() == nil && !isDown(err) {
		require.NoError(s.t, err)
	}
	return n
}

func isDown(err error) bool {
	return strings.Contains(err.Error(), "connect") || strings.Contains(err.Error(), "EOF") ||
		strings.Contains(err.Error(), "shutting down") ||
		strings.Contains(err.Error(), "starting up") || strings.Contains(err.Error(), "terminat") ||
		strings.Contains(err.Error(), "reset")
}

// allOwned waits until every bucket belongs to a processor with a fresh heartbeat.
func (s *stage) allOwned(d time.Duration, members int) {
	s.t.Helper()
	s.eventually(d, "every bucket to be owned", func() bool {
		return s.count(`select count(*) from bucket_leases l join members m on m.process_id = l.owner
			where m.heartbeat_at > clock_timestamp() - interval '3 seconds'`) == 256 &&
			s.count(`select count(distinct owner) from bucket_leases`) == members
	})
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	require.NoError(t, err)
	return addr
}

// process is a running program. Its log is shown when the story fails.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t *testing.T, name, path string, env []string, args ...string) *process {
	t.Helper()
	p := &process{name: name, cmd: exec.Command(path, args...), done: make(chan struct{}), log: &lockedBuffer{}}
	p.cmd.Env = env
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(20 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.done
			t.Errorf("%s did not stop within 20 s", name)
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", name, tail(p.log.String(), 6000))
		}
		for _, line := range strings.Split(p.log.String(), "\n") {
			if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") {
				t.Errorf("%s: %s", name, line)
			}
		}
	})
	return p
}

func tail(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}

func (p *process) signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

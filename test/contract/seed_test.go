package contract

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// installation is the starting point of every test. People: ann (owner of demo, member of team ops), bob (member of
// ops), root (administrator), viewer (read-only), gone (switched off), and the mailing list all-ops. Applications: demo
// (variables host, message), other, power (may act for people and open incidents as others). Also template words for
// demo, and plan pager. Everybody except gone has logged in. It is made once, with the commands of operators, and
// copied for each test.
type installation struct {
	once    sync.Once
	whole   bool
	pattern *pgtest.Pattern
	keys    map[string]string
	cookies map[string][]*http.Cookie
	tokens  map[string]string
}

var seed installation

func seeded(t *testing.T) *installation {
	t.Helper()
	seed.once.Do(func() { seed.make(t) })
	require.True(t, seed.whole, "the installation could not be made; see the test that tried")
	return &seed
}

func (i *installation) make(t *testing.T) {
	i.pattern, i.keys = pgtest.NewPattern(t), map[string]string{}
	i.cookies, i.tokens = map[string][]*http.Cookie{}, map[string]string{}
	database := i.pattern.URL()
	s := &server{T: t}
	env := environment(t, database)
	for _, name := range []string{"ann", "bob", "root", "viewer", "gone"} {
		args := []string{"user", "add", name, "--email", name + "@example.com"}
		if name == "root" {
			args = append(args, "--admin")
		}
		s.iris(env, password+"\n", args...)
	}
	s.iris(env, "", "contact", "set", "ann", "sms", "+15551110001")
	s.iris(env, "", "team", "add", "ops", "--member", "ann", "--member", "bob")
	for _, name := range []string{"demo", "other", "power"} {
		args := []string{"app", "add", name}
		if name == "demo" {
			args = append(args, "--variable", "host", "--variable", "message")
		}
		i.keys[name] = strings.TrimSpace(s.iris(env, "", args...))
	}
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), withoutCommand)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	stop := s.serve(database)
	for _, name := range []string{"ann", "bob", "root", "viewer"} {
		i.logIn(s, name)
	}
	stop()
	i.whole = true
}

// withoutCommand is the data for which Iris has no command.
const withoutCommand = `
	update users set read_only = true where name = 'viewer';
	update users set active = false where name = 'gone';
	update applications set allow_authenticating_users = true, allow_other_app_incidents = true, relay = true where name = 'power';
	update applications set title_variable = 'host', allow_other_app_incidents = false where name = 'demo';
	insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = 'ann';
	insert into mailing_lists (name, member_count) values ('all-ops', 2);
	insert into mailing_list_members select l.id, u.id from mailing_lists l, users u where u.name in ('ann', 'bob');
	with t as (insert into templates (name, creator_id) select 'words', id from users where name = 'ann' returning id, name),
		act as (insert into template_active select name, id from t)
		insert into template_contents (template_id, application_id, mode, subject, body)
		select t.id, a.id, 'email', 'S {{ host }}', 'B {{ message }}' from t, applications a where a.name = 'demo';
	with p as (insert into plans (name, creator_id, description, threshold_window, threshold_count, aggregation_window, aggregation_reset)
			select 'pager', id, 'a plan', 900, 10, 300, 300 from users where name = 'ann' returning id, name),
		act as (insert into plan_active select name, id from p)
		insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
		select p.id, 1, 0, 'high', 'user', u.target_id, 'words', 60, 1, false from p, users u where u.name = 'ann';`

func (i *installation) logIn(s *server, name string) {
	s.Helper()
	_, i.cookies[name], i.tokens[name] = s.logIn(name)
}

// join adds a person who has logged in.
func (s *server) join(name string) {
	s.Helper()
	s.exec("insert into users (name, password_hash) select $1, password_hash from users where name = 'ann'", name)
	s.exec("insert into user_contacts (user_id, mode, destination, verified_destination) select id, 'email', name || '@example.com', name || '@example.com' from users where name = $1", name)
	s.sessions[name], _, s.tokens[name] = s.logIn(name)
}

// logIn opens a session.
func (s *server) logIn(name string) (c *http.Client, cookies []*http.Cookie, token string) {
	s.Helper()
	c = browser(s.T)
	resp, err := c.PostForm(s.url+"/login", url.Values{"username": {name}, "password": {password}})
	require.NoError(s, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(s, http.StatusOK, resp.StatusCode, "%s logs in", name)
	var who struct {
		Token string `json:"csrf_token"`
	}
	require.NoError(s, json.NewDecoder(resp.Body).Decode(&who))
	return c, resp.Cookies(), who.Token
}

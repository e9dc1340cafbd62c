//go:build mariadb

package imports_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/freeport"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// good is an Iris of which everything can be taken, odd one with everything that cannot.
var (
	good = []string{"iris_schema.sql", "iris_good.sql"}
	odd  = append(good[:2:2], "iris_odd.sql")
)

// pairs ask both sides for the same rows.
var pairs = []struct{ name, theirs, ours string }{
	{
		"users",
		"select t.id, t.name, t.active, u.admin, coalesce(z.value, 'UTC') from target t join user u on u.target_id = t.id left join user_setting z on z.user_id = t.id and z.name = 'timezone'",
		"select target_id, name, active, admin, time_zone from users",
	},
	{
		"teams", "select t.id, t.name, t.active, m.name, d.name from target t join team x on x.target_id = t.id left join target m on m.id = x.manager_id left join target d on d.id = x.director_id",
		"select t.target_id, t.name, t.active, m.name, d.name from teams t left join users m on m.id = t.manager_id left join users d on d.id = t.director_id",
	},
	{
		"members", "select team_id, user_id from user_team",
		"select t.target_id, u.target_id from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id",
	},
	{"lists", "select t.id, t.name, t.active, m.count from target t join mailing_list m on m.target_id = t.id", "select target_id, name, active, member_count from mailing_lists"},
	{
		"list members", "select list_id, user_id from mailing_list_membership",
		"select l.target_id, u.target_id from mailing_list_members m join mailing_lists l on l.id = m.list_id join users u on u.id = m.user_id",
	},
	{
		"roles", "select r.name, t.name from target_role r join target_type t on t.id = r.type_id",
		"select name, target_kind from target_roles where in_v0 and name not in ('director', 'oncall-shadow')", // those are our own
	},
	{
		"contacts", "select c.target_id, m.name, case when m.name in ('sms', 'call') then replace(replace(c.destination, ' ', ''), '-', '') else c.destination end from target_contact c join mode m on m.id = c.mode_id",
		"select u.target_id, c.mode, c.destination from user_contacts c join users u on u.id = c.user_id",
	},
	{
		"users' modes", "select x.target_id, p.name, m.name from target_mode x join priority p on p.id = x.priority_id join mode m on m.id = x.mode_id",
		"select u.target_id, x.priority, x.mode from user_modes x join users u on u.id = x.user_id",
	},
	{
		"users' modes by application", "select x.target_id, x.application_id, p.name, m.name from target_application_mode x join priority p on p.id = x.priority_id join mode m on m.id = x.mode_id",
		"select u.target_id, x.application_id, x.priority, x.mode from user_application_modes x join users u on u.id = x.user_id",
	},
	{
		"settings", "select user_id, name, value from user_setting where name <> 'timezone'",
		"select u.target_id, x.name, x.value from user_settings x join users u on u.id = x.user_id",
	},
	{
		"overrides", "select x.target_id, m.name from mode_template_override x join mode m on m.id = x.mode_id",
		"select u.target_id, x.mode from user_template_overrides x join users u on u.id = x.user_id",
	},
	{
		"reprioritisations", "select x.target_id, a.name, b.name, x.count, x.duration from target_reprioritization x join mode a on a.id = x.src_mode_id join mode b on b.id = x.dst_mode_id",
		"select u.target_id, x.source_mode, x.destination_mode, x.count, x.window_seconds from user_reprioritizations x join users u on u.id = x.user_id",
	},
	{"devices", "select id, registration_id, user_id, platform from device", "select d.id, d.registration_id, u.target_id, d.platform from devices d join users u on u.id = d.user_id"},
	{
		"applications", "select id, name, auth_only, allow_other_app_incidents, allow_authenticating_users, context_template, summary_template, mobile_template, sample_context, (select v.name from template_variable v where v.application_id = a.id and v.title_variable) from application a",
		"select id, name, auth_only, allow_other_app_incidents, allow_authenticating_users, context_template, summary_template, mobile_template, sample_context, title_variable from applications",
	},
	{"variables", "select application_id, name, required from template_variable", "select application_id, name, required from application_variables"},
	{"owners", "select application_id, user_id from application_owner", "select o.application_id, u.target_id from application_owners o join users u on u.id = o.user_id"},
	{"application modes", "select application_id, m.name from application_mode a join mode m on m.id = a.mode_id", "select application_id, mode from application_modes"},
	{"default modes of priorities", "select p.name, m.name from priority p join mode m on m.id = p.mode_id", "select name, default_mode from priorities"},
	{
		"default modes", "select application_id, p.name, m.name from default_application_mode a join mode m on m.id = a.mode_id join priority p on p.id = a.priority_id",
		"select application_id, priority, mode from application_default_modes",
	},
	{"sender addresses", "select application_id, m.name, sender_address from application_custom_sender_address a join mode m on m.id = a.mode_id", "select application_id, mode, address from application_sender_addresses"},
	{"categories", "select c.id, application_id, c.name, description, m.name from notification_category c join mode m on m.id = c.mode_id", "select id, application_id, name, description, mode from notification_categories"},
	{"category overrides", "select user_id, category_id, m.name from category_override c join mode m on m.id = c.mode_id", "select u.target_id, category_id, mode from category_overrides c join users u on u.id = c.user_id"},
	{
		"quotas", "select application_id, hard_quota_threshold, soft_quota_threshold, hard_quota_duration, soft_quota_duration, lower(plan_name), target_id, wait_time from application_quota",
		"select application_id, hard_threshold, soft_threshold, hard_seconds, soft_seconds, plan_key, target_id, wait_seconds from application_quotas",
	},
	{"incident e-mails", "select email, application_id, lower(plan_name) from incident_emails", "select email, application_id, plan_key from incident_emails"},
	{"templates", "select id, name, created, user_id from template", "select t.id, t.name, t.created_at, u.target_id from templates t join users u on u.id = t.creator_id"},
	{"active templates", "select lower(name), template_id from template_active", "select name_key, template_id from template_active"},
	{
		"words",
		"select template_id, application_id, m.name, if(subject = '' and body = '', coalesce(email_subject, ''), subject), if(subject = '' and body = '', coalesce(email_text, ''), body), if(subject = '' and body = '', coalesce(email_html, ''), '') from template_content c join mode m on m.id = c.mode_id",
		"select template_id, application_id, mode, subject, body, email_html from template_contents",
	},
	{
		"plans", "select id, name, created, user_id, coalesce(description, ''), coalesce(threshold_window, 0), coalesce(threshold_count, 0), coalesce(aggregation_window, 0), coalesce(aggregation_reset, 0), tracking_key, tracking_type, tracking_template from plan",
		"select p.id, p.name, p.created_at, u.target_id, p.description, threshold_window, threshold_count, aggregation_window, aggregation_reset, tracking_key, tracking_type, tracking_template::text from plans p join users u on u.id = p.creator_id",
	},
	{"active plans", "select lower(name), plan_id from plan_active", "select name_key, plan_id from plan_active"},
	{
		"notifications",
		"select n.id, plan_id, step, coalesce(template, ''), target_id, optional, r.name, p.name, `repeat`, wait, dynamic_index from plan_notification n join priority p on p.id = n.priority_id left join target_role r on r.id = n.role_id",
		"select id, plan_id, step, template, target_id, optional, role, priority, repeat, wait_seconds, dynamic_index from plan_notifications",
	},
	{
		"incidents", "select id, plan_id, created, coalesce(updated, created), context, owner_id, application_id, current_step, active, resolved from incident",
		"select i.id, plan_id, i.created_at, updated_at, c.context::text, u.target_id, application_id, current_step, i.active, resolved from incidents i join incident_contexts c on c.incident_id = i.id left join users u on u.id = i.owner_id",
	},
	{"dynamic targets", "select incident_id, dynamic_index, r.name, target_id from dynamic_plan_map d join target_role r on r.id = d.role_id", "select incident_id, dynamic_index, role, target_id from incident_dynamic_targets"},
	{"comments", "select id, incident_id, created, user_id, content from comment", "select c.id, incident_id, c.created_at, u.target_id, content from comments c join users u on u.id = c.author_id"},
	{
		"messages",
		"select m.id, m.created, m.sent, application_id, target_id, t.name, coalesce(destination, ''), coalesce(d.name, ''), plan_id, p.name, coalesce(subject, ''), coalesce(body, ''), incident_id, batch from message m join target t on t.id = m.target_id left join mode d on d.id = m.mode_id join priority p on p.id = m.priority_id",
		"select m.id, m.created_at, case when state in ('sent', 'delivered') then settled_at end, application_id, u.target_id, target, destination, mode, plan_id, priority, subject, body, incident_id, batch from message_history m join users u on u.id = m.user_id",
	},
	{
		"steps of messages", "select m.id, n.step from message m join plan_notification n on n.id = m.plan_notification_id",
		"select id, step from message_history where step > 0",
	},
	{"changes", "select id, date, message_id, change_type, old, new, coalesce(description, '') from message_changelog", "select id, at, message_id, change_type, old, new, description from message_changes"},
	{"responses", "select id, created, message_id, content, source from response", "select id, at, message_id, content, mode from responses"},
	{"Twilio's states", "select twilio_sid, message_id, status from twilio_delivery_status", "select vendor_message_id, message_id, status from receipts"},
}

func TestIrisMovesRowByRow(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	empty := s.contents()
	numbers := "select sequencename, last_value from pg_sequences where sequencename in ('target_ids', 'message_ids', 'incidents_id_seq', 'plans_id_seq', 'applications_id_seq')"
	unused := s.ours(numbers)
	require.Len(t, unused, 5)
	code, report := s.move("--dry-run")
	require.Zero(t, code, reasons(report, imports.NotTaken))
	require.False(t, report.Written)
	dry := report.Taken()
	require.Greater(t, dry, int64(100))
	require.Equal(t, empty, s.contents(), "a dry run leaves nothing behind")
	require.Equal(t, unused, s.ours(numbers), "and uses no numbers up")

	code, report = s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken))
	require.True(t, report.Written)
	require.Equal(t, dry, report.Taken(), "the dry run told the truth")
	accounted(t, report)
	for _, p := range pairs {
		want := s.theirs(p.theirs)
		require.NotEmpty(t, want, p.name)
		require.Equal(t, want, s.ours(p.ours), p.name)
	}
	require.Equal(t, []string{
		"5000|sent|call|primary|0|1", "5001|sent|email|fallback|0|0", "5002|failed||primary|1|0", "5003|failed||primary|0|0",
		"5004|sent|email|primary|0|0", "5005|sent|sms|primary|0|0", "5010|sent|slack|primary|0|0", "5011|cancelled||primary|0|0",
		"5020|sent|slack|primary|0|0", "5021|sent|slack|primary|1|0", "5022|sent|call|primary|0|0", "5023|sent|sms|primary|0|0",
		"5024|sent|email|primary|0|0", "5030|sent|email|primary|0|0", "5031|cancelled||primary|0|0", "5032|sent|call|primary|0|0",
		"5033|sent|call|primary|1|0",
	}, s.ours("select id, state, mode, purpose, repeat, mode_changed from message_history"))
	require.Equal(t, []string{"message_history_202002"}, s.ours("select distinct tableoid::regclass::text from message_history where id = 5000"))

	before := s.contents()
	code, report = s.move()
	require.Zero(t, code)
	require.Zero(t, report.Taken())
	require.False(t, report.Written)
	accounted(t, report)
	require.Equal(t, before, s.contents(), "a second run changes nothing")
	_, out, _ := s.iris(nil, "import", "iris", "--from", s.from)
	require.Contains(t, out, "Everything was here already; nothing was changed.")

	s.mysql("insert into comment (id, incident_id, created, user_id, content) values (70, 1001, '2024-02-01 00:00:00', 10, 'later')")
	code, report = s.move()
	require.Zero(t, code)
	require.Equal(t, int64(1), report.Taken(), "what came since is taken")
}

// TestIrisIsServed reads imported data over the API, signed with an imported key, and lets imported incidents escalate.
func TestIrisIsServed(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, _ := s.move()
	require.Zero(t, code)
	api := s.serve("relay", "key-of-the-relay", "/v0/plans/1")
	get := api.get
	require.JSONEq(t, `{"host":"db1","message":"déjà vu 😀"}`, field(t, get("/v0/incidents/1000"), "context"))
	require.JSONEq(t, `"ann"`, field(t, get("/v0/incidents/1000"), "owner"))
	require.Contains(t, field(t, get("/v0/incidents/1000"), "comments"), "on it 🔥 – Ann")
	require.JSONEq(t, `"déjà vu"`, field(t, get("/v0/messages/5000"), "body"))
	require.JSONEq(t, `"completed"`, field(t, get("/v0/messages/5000"), "twilio_delivery_status"))
	require.Contains(t, get("/v0/messages/5000/auditlog"), "Changing mode due to original mode failure")
	plan := get("/v0/plans/night")
	require.JSONEq(t, "2", field(t, plan, "id"))
	require.JSONEq(t, `"Übersicht"`, field(t, plan, "description"))
	require.Contains(t, field(t, plan, "steps"), `"target":"db"`)
	require.JSONEq(t, `"first"`, field(t, get("/v0/plans/1"), "description"))
	require.Contains(t, field(t, get("/v0/templates/page"), "content"), `{{ host }} is down – “now”`)

	// A new incident gets a higher number than the imported ones, and pages.
	alerts := api.as("Autoalerts", "a7a9d7657ac8837cd7dfed0b93f4b8b864007724d7fa21422c24f4ff0adb2e49")
	status, body := alerts.ask(http.MethodPost, "/v0/incidents", `{"plan": "night", "context": {"host": "after the move"}}`)
	require.Equal(t, http.StatusCreated, status, body)
	require.Equal(t, []string{body + "|2"}, s.ours("select id, plan_id from incidents where id > 1006"), "the active version of the plan, and a number of its own")
	status, body = alerts.ask(http.MethodPost, "/v0/plans", `{"name": "night", "creator": "ann", "description": "ours", "threshold_window": 900, "threshold_count": 10, "aggregation_window": 300,
		"aggregation_reset": 300, "steps": [[{"role": "user", "target": "ann", "priority": "low", "wait": 0, "repeat": 0, "template": "page"}]]}`)
	require.Equal(t, http.StatusCreated, status, body)
	require.Equal(t, []string{"1|1"}, s.ours("select ("+body+" > 4)::int, (min(n.id) > 401)::int from plan_notifications n where plan_id > 4"))
	status, body = alerts.ask(http.MethodPost, "/v0/incidents/1001", `{"owner": "ann", "plan": "night"}`)
	require.Equal(t, http.StatusOK, status, body)
	require.JSONEq(t, `"ann"`, field(t, get("/v0/incidents/1001"), "owner"), "a claim of an incident that was moved")

	program(t, s, "message-processor", "IRIS_GOSSIP_ADDR=127.0.0.1:0")
	made := func() string {
		return strings.Join(s.ours("select incident_id, step, position, repeat, target from messages where purpose = 'primary' and incident_id < 1007"), " ")
	}
	// 1003 had not begun. Of 1004 ann, who is on call, has her page: its wait begins. 1005 repeats what was made once. Of 1006 only
	// the one gets a page whose own had not left; what was sent is not made again.
	want := "1003|1|0|0|ann 1003|1|1|0|ann 1005|2|1|1|ann 1006|2|0|0|noadmin"
	require.Eventually(t, func() bool { return made() == want }, 30*time.Second, 100*time.Millisecond)
	require.Empty(t, s.ours("select id from incidents where due_at < now() - interval '10 seconds'"), "all were looked at")
	require.Eventually(t, func() bool {
		return slices.Equal([]string{"1|0|ann", "1|1|ann"}, s.ours("select step, position, target from messages where incident_id > 1006 and id > 5033 and purpose = 'primary'"))
	}, 30*time.Second, 100*time.Millisecond, "ann is on call for db, and named herself")
	require.Equal(t, want, made())
}

// TestIrisOddIncidentsGoOn: an escalating incident in any odd state ends here, and its timeline says how.
func TestIrisOddIncidentsGoOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	s.mysql("set foreign_key_checks = 0; delete from incident where active; delete from dynamic_plan_map; delete from message where incident_id > 1002; insert into plan (id, name, created, user_id, step_count) values (9, 'empty', '2021-01-01', 10, 0), (8, 'of the left', '2021-01-01', 12, 1); " +
		"insert into plan_active (name, plan_id) values ('empty', 9), ('of the left', 8); insert into plan_notification (id, plan_id, step, template, target_id, role_id, priority_id, `repeat`, wait) values " +
		"(801, 8, 1, null, 12, 8, 35, 0, 0), (802, 8, 3, 'page', 21, 35, 35, 2000000000, 2000000000)")
	s.mysql("insert into incident (id, plan_id, created, updated, context, application_id, current_step, active) values (3001, 2, '2024-01-01', '2024-01-01', '{}', 1, 7, 1), (3002, 2, '2024-01-01', '2100-01-01', '[1]', 1, 32767, 1), " +
		"(3003, 9, '2024-01-01', null, '\"x\"', 1, 0, 1), (3004, 9, '2024-01-01', null, '{}', 1, 1, 1), (3005, 8, '2024-01-01', null, null, 1, 0, 1), (3006, 8, '2024-01-01', null, '{}', 1, 2, 1)")
	code, report := s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken))
	program(t, s, "message-processor", "IRIS_GOSSIP_ADDR=127.0.0.1:0")
	require.Eventually(t, func() bool {
		return len(s.ours("select id from incidents where id > 3000 and active and due_at < now() + interval '1 second'")) == 0
	}, 30*time.Second, 100*time.Millisecond)
	require.Equal(t, []string{
		"3001|the incident is at step 7, but plan Night has only 2 steps: escalation ends here",
		"3002|the incident is at step 32767, but plan Night has only 2 steps: escalation ends here",
		"3003|plan empty has no steps: escalation ends here", "3004|plan empty has no steps: escalation ends here",
		"3005|plan of the left is exhausted: 3 steps are over and nobody acknowledged; nobody is paged any more",
		"3006|plan of the left is exhausted: 3 steps are over and nobody acknowledged; nobody is paged any more",
	}, s.ours("select incident_id, text from timeline_entries where incident_id > 3000 and kind = 'exhausted'"))
	require.Len(t, s.ours("select text from timeline_entries where incident_id in (3003, 3004) and text like '%; paging ann by call instead (creator of plan empty)'"), 2)
	require.Len(t, s.ours("select text from timeline_entries where incident_id > 3000 and text like '% reaches NOBODY'"), 3, "and nobody is left out in silence")
	require.Empty(t, s.ours("select id from incidents where id > 3000 and active"))
}

func TestIrisDoesNotGoOnWhenToldSo(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, report := s.move("--active", "stop")
	require.Zero(t, code)
	require.Contains(t, reasons(report, imports.Note), "incidents: still escalate in Iris and do not here, because of --active stop (4) ")
	require.Equal(t, []string{"0"}, s.ours("select count(*) from incidents where active or due_at is not null"))
	require.Len(t, s.ours("select incident_id from timeline_entries where text like '%does not escalate here%'"), 4)
}

func TestIrisNumbersGoOnBeyond(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, _ := s.move()
	require.Zero(t, code)
	for table, above := range map[string]int64{"incidents": 1006, "plans": 4, "templates": 4, "plan_notifications": 401, "applications": 9, "comments": 51,
		"message_changes": 9001, "notification_categories": 5, "devices": 77, "responses": 60} {
		var next int64
		require.NoError(t, s.pg.QueryRow(within(t), "select nextval(pg_get_serial_sequence($1, 'id'))", table).Scan(&next))
		require.Greater(t, next, above, table)
	}
	require.Equal(t, []string{"1|1"}, s.ours("select (nextval('target_ids') > 31)::int, (nextval('message_ids') > 5033)::int"))
}

// served is an iris-api that an application of those that were moved asks.
type served struct {
	t              *testing.T
	addr, app, key string
}

// ask sends a signed request.
func (a served) ask(method, path, body string) (int, string) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, "http://"+a.addr+path, strings.NewReader(body))
	require.NoError(a.t, err)
	if a.app != "" {
		req.Header.Set("Authorization", auth.Sign(a.app, a.key, auth.SignedRequest{Method: method, Path: path, Body: []byte(body)}, time.Now()))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	return resp.StatusCode, string(raw)
}

// as is another application, "" = nobody.
func (a served) as(app, key string) served { return served{a.t, a.addr, app, key} }

// get reads what must be there.
func (a served) get(path string) string {
	a.t.Helper()
	status, body := a.ask(http.MethodGet, path, "")
	require.Equal(a.t, http.StatusOK, status, "%s: %s", path, body)
	return body
}

// serve starts iris-api and waits until it answers a path.
func (s *stage) serve(app, key, first string) served {
	t := s.t
	addr, err := freeport.Addr()
	require.NoError(t, err)
	// Who moves in reads all incidents with one key, as in Iris.
	settings := filepath.Join(t.TempDir(), "iris.yaml")
	require.NoError(t, os.WriteFile(settings, []byte("compatibility: {applications_reach_everything: true}\n"), 0o600))
	program(t, s, "iris-api", "IRIS_HTTP_ADDR="+addr, "IRIS_CONFIG="+settings)
	a := served{t, addr, app, key}
	require.Eventually(t, func() bool { status, _ := a.ask(http.MethodGet, first, ""); return status == http.StatusOK }, 30*time.Second, 100*time.Millisecond)
	return a
}

// program starts one of our programs until the test ends.
func program(t *testing.T, s *stage, name string, env ...string) *exec.Cmd {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), name)
	require.NoError(t, err)
	cmd := exec.Command(filepath.Join(bin, name))
	cmd.Env = append(env, "IRIS_DATABASE_URL="+s.url, "IRIS_ADMIN_ADDR=127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if raw, err := os.ReadFile(out.Name()); err == nil && t.Failed() {
			t.Logf("%s: %s", name, raw)
		}
	})
	return cmd
}

// field is one member of a JSON object, compact.
func field(t *testing.T, body, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &members), body)
	require.Contains(t, members, name)
	var value any
	require.NoError(t, json.Unmarshal(members[name], &value))
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(value))
	return strings.TrimSpace(b.String())
}

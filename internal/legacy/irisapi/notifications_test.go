package irisapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/dev/testlog"
	"github.com/iris-oncall/iris/internal/incidents/load"
)

func (f *fixture) sent() string {
	f.Helper()
	rows, err := f.db.Pool().Query(f.Context(),
		`select m.target || ' ' || m.mode || ' ' || coalesce(m.priority, '-') || ' ' || coalesce(m.literal, '-')
		|| case when m.mode_changed then ' changed' else '' end from messages m order by m.id`)
	require.NoError(f, err)
	var out []string
	for rows.Next() {
		var s string
		require.NoError(f, rows.Scan(&s))
		out = append(out, s)
	}
	require.NoError(f, rows.Err())
	f.exec("delete from messages")
	return strings.Join(out, ", ")
}

func TestNotify(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, tc := range []struct{ body, messages string }{
		{`{"role":"user","target":"ANN","subject":"s","priority":"high","body":"b"}`, "ann sms high -"},
		{`{"role":"user","target":"bob","subject":"s","priority":"urgent","body":"b"}`, "bob email urgent - changed"},
		{`{"role":"user","target":"bob","subject":"s","priority":"High","mode":"email","body":"b"}`,
			"bob email high -"},
		{`{"role":"user","target":"bob","subject":"s","mode":"sms","email_html":"<b>"}`, "bob email - - changed"},
		{`{"role":"user","target":"lone","subject":"s","mode":"sms","body":""}`, "lone sms - -"},
		{`{"role":"team","target":"ops","subject":"s","mode":"email","template":"words","context":{"host":"x"}}`,
			"ann email - -, bob email - -"},
		{`{"role":"oncall-primary","target":"ops","subject":"s","mode":"email","body":"b"}`, "ann email - -"},
		{`{"role":"literal_target","target":"#room","subject":"s","mode":"slack","body":"b"}`, "#room slack - #room"},
		{`{"target_list":[{"role":"user","target":"ann"},{"role":"user","target":"none"},{"role":"team","target":"ops","bcc":true},
			{"role":"literal_target","target":"x@example.com"},{"role":"literal_target","target":"a\nb"}],"subject":"s","mode":"email","body":"b"}`,
			"ann email - -, bob email - -, x@example.com email - x@example.com"},
	} {
		f.want(200, "[]", demo, post, "/v0/notifications", tc.body)
		require.Equal(t, tc.messages, f.sent(), tc.body)
	}
	require.Equal(t, 9, f.count("select count(*) from notification_requests where subject = 's'"))
	require.Equal(t, 1, f.count(`select count(*) from notification_requests where context->>'host' = 'x' and template = 'words'`))
	require.Equal(t, 1, f.count(`select count(*) from notification_requests where shown_to = 'ann@example.com, x@example.com'`), "bob is told in secret")
	require.Equal(t, 8, f.count(`select count(*) from notification_requests where shown_to = ''`))
	require.Equal(t, 1, f.count(`select count(*) from notification_requests where body = '' and email_html = '<b>'`))
	require.False(t, f.woken.Empty())
	f.want(200, "[]", annHere, post, "/v0/notifications",
		`{"role":"user","target":"ann","subject":"s","mode":"email","body":"b"}`)
}

func TestNotifyUsesTheDefaultModes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`update priorities set default_mode = 'email' where name = 'high'`)
	f.want(200, "[]", demo, post, "/v0/notifications",
		`{"role":"user","target":"ann","subject":"s","priority":"high","body":"b"}`)
	require.Equal(t, "ann email high -", f.sent())
}

// TestNotifyWithDummyRoles: the dummy resolver answers for roles and targets that do not exist.
func TestNotifyWithDummyRoles(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *parts) {
		d.Config.DummyRoles, d.Config.InternalApplications = true, []string{"demo"}
		d.Resolver = d.Resolver.Dummy(d.People.ByName)
	})
	refused := describe("Request rejected by sender", "INVALID role:target")
	body := func(role, target string) string {
		return `{"role":"` + role + `","target":"` + target + `","subject":"s","mode":"email","body":"b"}`
	}
	f.want(400, refused, demo, post, "/v0/notifications", body("user", "ann"))
	f.exec(`insert into users (name) values ('foo')`)
	for _, pair := range [][2]string{{"user", "ann"}, {"user", "nobody here"}, {"no such role", "ops"}, {"oncall-x", "nowhere"}} {
		f.want(200, "[]", demo, post, "/v0/notifications", body(pair[0], pair[1]))
		require.Equal(t, "foo email - -", f.sent(), pair)
	}
	f.want(400, refused, demo, post, "/v0/notifications", body("_invalid_role", "ann"))
	f.want(400, refused, demo, post, "/v0/notifications", body("user", "_invalid_user"))
	require.Contains(t, f.ok(demo, get, "/v0/internal/target?role=x&target=y", ""), `"foo"`)
}

func TestNotifyRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	missing := "Missing required atrributes"
	for body, want := range map[string]string{
		``:                               title("Invalid json in post body"),
		`{}`:                             describe(missing, "target, role, subject"),
		`{"role":"user","target":"ann"}`: describe(missing, "subject"),
		`{"target_list":[]}`:             title("Missing required atrributes: subject"),
		`{"target_list":[{"role":"user"}],"subject":"s"}`:                                                    title("Malformed target list"),
		`{"target_list":[{"role":"user","target":"ann","bcc":"x"}],"subject":"s","mode":"email","body":"b"}`: title("Malformed target list"),
		`{"target_list":7,"subject":"s"}`:                                                                    title("Malformed target list"),
		`{"target_list":[{"role":"user","target":"ann"}],"subject":"s"}`:                                     title("Contact mode required for target list"),
		`{"target_list":[{"role":"user","target":"ann"}],"subject":"s","mode":"sms","body":"b"}`:             describe("Invalid mode", "sms"),
		`{"target_list":[{"role":"user","target":"none"}],"subject":"s","mode":"email","body":"b"}`:          describe("Request rejected by sender", "INVALID role:target"),
		`{"role":"user","target":"ann","subject":"s","priority":"loud","body":"b"}`:                          describe("Invalid priority", "loud"),
		`{"role":"user","target":"ann","subject":"s","mode":"fax","body":"b"}`:                               describe("Invalid mode", "fax"),
		`{"role":"user","target":"ann","subject":"s","category":"c","body":"b"}`:                             title("No category named c exists for this app"),
		`{"role":"user","target":"ann","subject":"s","body":"b"}`:                                            title("Priority, mode, and category are missing, at least one is required"),
		`{"role":"literal_target","target":"x","subject":"s","priority":"high","body":"b"}`:                  title("INVALID mode not set for literal_target role"),
		`{"role":"literal_target","target":"x","subject":"s","priority":"high","mode":"email","body":"b"}`:   title("INVALID role literal_target does not support priority or category"),
		`{"role":"literal_target","target":" ","subject":"s","mode":"email","body":"b"}`:                     describe("Request rejected by sender", "INVALID target"),
		`{"role":"user","target":"ann","subject":"s","mode":"email"}`:                                        title("body, template, and email_html are missing, so we cannot construct message."),
		`{"role":"user","target":"ann","subject":"s","mode":"email","body":7}`:                               title("body needs to be a string"),
		`{"role":"user","target":"ann","subject":"s","mode":"email","template":[],"body":"b"}`:               title("template needs to be a string"),
		`{"role":"user","target":"ann","subject":"s","mode":"email","body":"b","email_html":1}`:              describe("Request rejected by sender", "INVALID email_html"),
		`{"role":"user","target":"ann","subject":"s","mode":"email","template":"words","context":[]}`:        describe("Request rejected by sender", "INVALID context"),
		`{"role":"king","target":"ann","subject":"s","mode":"email","body":"b"}`:                             describe("Request rejected by sender", "INVALID role"),
		`{"role":"user","target":"none","subject":"s","mode":"email","body":"b"}`:                            describe("Request rejected by sender", "INVALID target"),
		`{"role":"team","target":"ann","subject":"s","mode":"email","body":"b"}`:                             describe("Request rejected by sender", "INVALID role:target"),
		`{"role":"team","target":"empty","subject":"s","mode":"email","body":"b"}`:                           describe("Request rejected by sender", "INVALID role:target"),
		`{"role":7,"target":"ann","subject":"s","mode":"email","body":"b"}`:                                  title("role must be a string"),
		`{"role":"user","target":"ann","subject":"\u0000","mode":"email","body":"b"}`:                        title("subject must not contain NUL characters"),
	} {
		f.want(400, want, demo, post, "/v0/notifications", body)
	}
	require.Zero(t, f.count("select count(*) from notification_requests"))
}

type fixedPending map[int64]int64

func (p fixedPending) Pending(context.Context) (map[int64]int64, error) { return p, nil }

func TestOverloadRefusesNotificationsBeforeIncidents(t *testing.T) {
	t.Parallel()
	pending := fixedPending{}
	f := newFixture(t, func(d *parts) { d.Load = load.New(pending, testlog.New(t, zap.DebugLevel)) })
	f.exec("update applications set pending_cap = 1")
	note := `{"role":"user","target":"ann","subject":"s","mode":"email","body":"b"}`
	incident := `{"plan":"pager","context":{}}`
	f.want(200, "[]", demo, post, "/v0/notifications", note)
	rec := f.do(demo, post, "/v0/notifications", note)
	require.Equal(t, 429, rec.Code)
	require.Equal(t, "5", rec.Header().Get("Retry-After"))
	require.Equal(t, describe("Application demo has too many messages waiting",
		"nothing was stored; send it again later"), rec.Body.String())
	for range 3 {
		f.ok(demo, post, "/v0/incidents", incident)
	}
	rec = f.do(demo, post, "/v0/incidents", incident)
	require.Equal(t, 429, rec.Code)
	require.Equal(t, 3, f.count("select count(*) from incidents"))
	f.ok(power, post, "/v0/notifications", note) // others are not concerned
}

func TestMetricsAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	f := newFixture(t, func(d *parts) { d.Registerer = reg })
	f.ok(demo, get, "/v0/plans/1", "")
	families, err := reg.Gather()
	require.NoError(t, err)
	require.NotEmpty(t, families)
}

func TestNotifyByCategory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into notification_categories (application_id, name, mode) select id, 'Deploys', 'sms' from applications where name = 'demo'`)
	body := `{"role":"team","target":"ops","subject":"s","category":"deploys","body":"b"}`
	f.want(200, "[]", demo, post, "/v0/notifications", body)
	require.Equal(t, 1, f.count(`select count(*) from message_changes where change_type = 'mode-change' and old = 'sms' and new = 'email'
		and description = 'Changing mode due to original mode failure'`), "bob has no number")
	require.Equal(t, "ann sms - -, bob email - - changed", f.sent())
	f.exec(`insert into category_overrides (user_id, category_id, mode) select u.id, c.id, 'drop' from users u, notification_categories c where u.name = 'ann'`)
	f.want(200, "[]", demo, post, "/v0/notifications", body)
	require.Equal(t, "ann drop - -, bob email - - changed", f.sent(), "their own choice; drop is one")
	f.want(400, title("No category named deploys exists for this app"), caller{app: "other", key: "other-key"}, post,
		"/v0/notifications", body)
	f.want(200, "[]", demo, post, "/v0/notifications",
		`{"role":"user","target":"ann","subject":"s","category":"deploys","mode":"email","body":"b"}`)
	require.Equal(t, "ann email - -", f.sent(), "the mode decides where there is one")
}

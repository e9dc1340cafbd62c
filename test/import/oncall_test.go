//go:build mariadb

package imports_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/golden"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// oncallGood is an Oncall of which everything can be taken, oncallOdd one with everything that cannot.
var (
	oncallGood = []string{"oncall_schema.sql", "oncall_good.sql"}
	oncallOdd  = append(oncallGood[:2:2], "oncall_odd.sql")
)

// oncallPairs ask both sides for the same rows.
var oncallPairs = []struct{ name, theirs, ours string }{
	{
		"users", "select id, name, active, coalesce(full_name, ''), if(coalesce(time_zone, '') = '', 'UTC', time_zone), photo_url, god from user",
		"select oncall_id, name, active, full_name, time_zone, photo_url, admin from users",
	},
	{
		"contacts", "select user_id, m.name, case when m.name in ('sms', 'call') then replace(replace(destination, ' ', ''), '-', '') else destination end from user_contact c join contact_mode m on m.id = c.mode_id",
		"select u.oncall_id, mode, destination from user_contacts c join users u on u.id = c.user_id",
	},
	{
		"teams", "select id, name, coalesce(description, ''), slack_channel, slack_channel_notifications, email, scheduling_timezone, active, iris_plan, iris_enabled, replace(replace(override_phone_number, ' ', ''), '-', ''), api_managed_roster from team",
		"select oncall_id, name, description, slack_channel, slack_channel_notifications, email, time_zone, active, iris_plan, iris_enabled, override_phone, api_managed from teams",
	},
	{
		"deleted teams", "select team_id, new_name, old_name, from_unixtime(deletion_date) from deleted_team",
		"select t.oncall_id, new_name, old_name, deleted_at from deleted_teams d join teams t on t.id = d.team_id",
	},
	{
		"members", "select team_id, user_id from team_user",
		"select t.oncall_id, u.oncall_id from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id where m.member",
	},
	{
		"administrators", "select team_id, user_id from team_admin",
		"select t.oncall_id, u.oncall_id from team_members m join teams t on t.id = m.team_id join users u on u.id = m.user_id where m.admin",
	},
	{"services", "select id, name from service", "select id, name from services"},
	{"services of teams", "select team_id, service_id from team_service",
		"select t.oncall_id, service_id from team_services s join teams t on t.id = s.team_id"},
	{"roles", "select id, name, display_order from role", "select id, name, display_order from oncall_roles"},
	{"rosters", "select id, name, team_id from roster",
		"select r.id, r.name, t.oncall_id from rosters r join teams t on t.id = r.team_id"},
	{
		"roster members", "select roster_id, user_id, in_rotation, roster_priority from roster_user",
		"select roster_id, u.oncall_id, in_rotation, priority from roster_members m join users u on u.id = m.user_id",
	},
	{
		"schedules",
		"select s.id, team_id, roster_id, role_id, auto_populate_threshold, advanced_mode, from_unixtime(last_epoch_scheduled), last_scheduled_user_id, a.name from schedule s join scheduler a on a.id = s.scheduler_id",
		"select s.id, t.oncall_id, roster_id, role_id, threshold_days, advanced, last_epoch_at, u.oncall_id, algorithm from schedules s join teams t on t.id = s.team_id left join users u on u.id = s.last_user_id",
	},
	{
		"patterns", "select schedule_id, start, duration from schedule_event",
		"select s.id, p->>'start', p->>'duration' from schedules s cross join jsonb_array_elements(pattern) p",
	},
	{"orders", "select schedule_id, user_id, priority from schedule_order",
		"select schedule_id, u.oncall_id, priority from schedule_order o join users u on u.id = o.user_id"},
	{
		"events", "select id, team_id, role_id, schedule_id, nullif(link_id, ''), user_id, date_add('1970-01-01', interval start second), date_add('1970-01-01', interval end second), note from event",
		"select s.id, t.oncall_id, role_id, schedule_id, link_id, u.oncall_id, starts_at, ends_at, note from shifts s join teams t on t.id = s.team_id join users u on u.id = s.user_id",
	},
	{
		"subscriptions", "select team_id, subscription_id, role_id from team_subscription",
		"select t.oncall_id, o.oncall_id, role_id from team_subscriptions s join teams t on t.id = s.team_id join teams o on o.id = s.subscription_id",
	},
	{"pinned teams", "select team_id, user_id from pinned_team",
		"select t.oncall_id, u.oncall_id from pinned_teams p join teams t on t.id = p.team_id join users u on u.id = p.user_id"},
	{
		"settings", "select s.id, user_id, team_id, m.name, y.name, time_before, only_if_involved from notification_setting s join contact_mode m on m.id = s.mode_id join notification_type y on y.id = s.type_id",
		"select s.id, u.oncall_id, t.oncall_id, mode, type, time_before, only_if_involved from notice_settings s join teams t on t.id = s.team_id join users u on u.id = s.user_id",
	},
	{"roles of settings", "select setting_id, role_id from setting_role",
		"select setting_id, role_id from notice_setting_roles"},
	{
		"iCal keys", "select requester, name, from_unixtime(time_created) from ical_key",
		"select r.name, coalesce(u.name, t.name), k.created_at from ical_keys k join users r on r.id = k.requester_id left join users u on u.id = k.user_id left join teams t on t.id = k.team_id where key_sealed is not null",
	},
	{"audit", "select id, owner_name, team_name, action_name, context, from_unixtime(timestamp) from audit",
		"select id, owner, team, action, context::text, at from oncall_audit"},
	{"applications", "select name from application",
		"select name from applications where allow_oncall and key_sealed is not null"},
}

func TestOncallMovesRowByRow(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallGood...)
	s.predecessor = "oncall"
	empty := s.contents()
	code, report := s.move("--dry-run")
	require.Zero(t, code, reasons(report, imports.NotTaken))
	require.False(t, report.Written)
	require.Empty(t, report.OnCall.Differences)
	dry := report.Taken()
	require.Equal(t, empty, s.contents(), "a dry run leaves nothing behind")

	code, report = s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken))
	require.True(t, report.Written)
	require.Equal(t, dry, report.Taken(), "the dry run told the truth")
	accounted(t, report)
	for _, p := range oncallPairs {
		want := s.theirs(p.theirs)
		require.NotEmpty(t, want, p.name)
		require.Equal(t, want, s.ours(p.ours), p.name)
	}
	require.Equal(t, []string{"oncall-primary", "oncall-secondary", "oncall-shadow", "oncall-tertiary"},
		s.ours("select name from target_roles where name like 'oncall-%'"))
	require.NotNil(t, report.OnCall)
	require.Equal(t, 4, report.OnCall.Teams)
	require.Greater(t, report.OnCall.Stretches, int64(25))
	require.Empty(t, report.OnCall.Differences)
	require.Equal(t, 2100, report.OnCall.Until.AddDate(0, 0, 1).Year(), "the whole future")

	before := s.contents()
	code, report = s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken), reasons(report, imports.Conflict))
	require.Zero(t, report.Taken())
	accounted(t, report)
	require.Equal(t, before, s.contents(), "a second run changes nothing")
	_, out, _ := s.iris(nil, "import", "oncall", "--from", s.from)
	require.Contains(t, out, "Everything was here already; nothing was changed.")
	require.Contains(t, out, "no difference\n")

	s.mysql("insert into event (team_id, role_id, user_id, start, end) values (70, 1, 113, unix_timestamp(), unix_timestamp() + 60)")
	code, report = s.move()
	require.Zero(t, code)
	require.Equal(t, int64(1), report.Taken(), "what came since is taken")
}

// TestOncallOddRows compares every line of the report about a database full of odd rows, and what became of their
// values.
func TestOncallOddRows(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallOdd...)
	s.predecessor = "oncall"
	code, report := s.move()
	require.Equal(t, 3, code, "written, and something was lost")
	require.True(t, report.Written, reasons(report, imports.Conflict))
	accounted(t, report)
	told := "Not taken:\n" + strings.Join(reasons(report, imports.NotTaken), "\n") + "\n\nNotes:\n" +
		strings.Join(reasons(report, imports.Note), "\n") + "\n"
	golden.Equal(t, "testdata/oncall_odd.txt", dated.ReplaceAllString(told, "from THEN"))
	require.Empty(t, report.OnCall.Differences, "what cannot be taken pages nobody there either")

	require.Equal(t, []string{"120|trailing|UTC", "122|martian|UTC", "123|twice|UTC"},
		s.ours("select oncall_id, name, time_zone from users where oncall_id >= 120"))
	require.Equal(t, []string{"zoneless|UTC"}, s.ours("select name, time_zone from teams where oncall_id = 80"))
	require.Equal(t, []string{"1|3600"},
		s.ours("select (extract(epoch from starts_at)::bigint % 604800)::int, (extract(epoch from ends_at - starts_at))::int from shifts where id = 2002"))
	require.Equal(t, []string{"9999-12-31 23:59:59|short"},
		s.ours("select ends_at, link_id from shifts where id = 2007"))
	require.Equal(t, []string{"1969-12-31 00:00:00"}, s.ours("select starts_at from shifts where id = 2009"))
	require.Equal(t, []string{`{"unreadable_context":"{\"cut o"}`, "{}"},
		s.ours("select context::text from oncall_audit where id >= 910"))
	require.Equal(t, []string{"500|[]|-|-|2147483647"},
		s.ours("select id, pattern::text, last_epoch_at, last_user_id, threshold_days from schedules where id >= 500"))

	before := s.contents()
	code, report = s.move()
	require.Equal(t, 3, code, "what is lost stays lost")
	require.Zero(t, report.Taken())
	require.Equal(t, before, s.contents(), "a second run changes nothing")
	code, report = s.move("--mode", "teams_messenger=slack")
	require.Equal(t, 3, code)
	require.Equal(t, int64(3), report.Taken())
	require.Equal(t, []string{"trailing"},
		s.ours("select destination from user_contacts where mode = 'slack' and destination <> 'dora'"))
}

// TestOncallDifferencesAreListed: changes of the calendar here are reported as differences.
func TestOncallDifferencesAreListed(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallGood...)
	s.predecessor = "oncall"
	code, _ := s.move()
	require.Zero(t, code)
	s.mysql("update event set end = end + 60 where id = 1003")
	require.Contains(t, strings.Join(s.conflicts(), "\n"),
		"events: it exists here already and differs in ends_at (1) event 1003, dora of db from ")
	s.mysql("update event set end = end - 60 where id = 1003")

	s.mysql("update event set id = id + 5000, user_id = 111 where id = 1003")
	code, report := s.move()
	require.Equal(t, 3, code, "written, and on call are not the same")
	var lines []string
	for _, d := range report.OnCall.Differences {
		lines = append(lines, d.Role+" of "+d.Team+": "+strings.Join(d.There, ", ")+" there, "+
			strings.Join(d.Here, ", ")+" here, for "+d.Until.Sub(d.From).String())
	}
	require.Equal(t, []string{"primary of db: Bjørn there, Bjørn, dora here, for 24h0m0s",
		"primary of watchers: Bjørn there, Bjørn, dora here, for 24h0m0s"}, lines,
		"whoever subscribes sees it too")
	_, out, _ := s.iris(nil, "import", "oncall", "--from", s.from)
	require.Contains(t, out, "2 differences:\n- primary of db, ")
	// Each on the clock of its team: db is in California, watchers in India.
	week := s.theirs("select floor(unix_timestamp() / 604800) * 604800 + 2 * 86400")
	unix, err := strconv.ParseInt(week[0], 10, 64)
	require.NoError(t, err)
	for team, zone := range map[string]string{"db": "US/Pacific", "watchers": "Asia/Kolkata"} {
		z, err := time.LoadLocation(zone)
		require.NoError(t, err)
		clock := func(at int64) string { return time.Unix(at, 0).In(z).Format("Mon 2006-01-02 15:04:05 -07:00") }
		require.Contains(t, out, "- primary of "+team+", "+clock(unix)+" to "+clock(unix+86400)+" ("+zone+
			"): Bjørn in the source, Bjørn, dora here\n")
		require.True(t, slices.ContainsFunc(report.OnCall.Differences, func(d imports.Difference) bool {
			return d.Team == team && d.Zone == zone && d.From.Format(time.RFC3339) == time.Unix(unix,
				0).In(z).Format(time.RFC3339)
		}))
	}
}

// TestOncallAgainAfterWork: a new feed key that a person made here stays, and so do settings of a team that are empty
// in Oncall. Neither is a conflict.
func TestOncallAgainAfterWork(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallGood...)
	s.predecessor = "oncall"
	code, _ := s.move()
	require.Zero(t, code)
	s.postgres("update teams set slack_channel = '#web', email = 'web@example.com' where name = 'Web Ops'") // which said nothing there
	s.postgres("update ical_keys set key = 'made-anew' where requester_id = user_id and user_id = (select id from users where name = 'ann')",
		"update ical_keys set key = 'too' where requester_id = (select id from users where name = 'Bjørn') and team_id = (select id from teams where name = 'Web Ops')")
	before := s.contents()
	code, report := s.move()
	require.Equal(t, 3, code, reasons(report, imports.Conflict))
	require.Equal(t, []string{
		"iCal keys: another key for it exists here and is kept (2) iCal key of ann for user ann; iCal key of Bjørn for team Web Ops",
	}, reasons(report, imports.NotTaken))
	accounted(t, report)
	require.Equal(t, before, s.contents())
}

// TestOncallIsServed reads imported data over the API, signed with an imported key.
func TestOncallIsServed(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallGood...)
	s.predecessor = "oncall"
	code, _ := s.move()
	require.Zero(t, code)
	api := s.serve("Roster Sync", "oncall-key-of-the-sync", "/api/v0/teams/db")
	get := api.get
	team := get("/api/v0/teams/db")
	require.JSONEq(t, "70", field(t, team, "id"))
	require.JSONEq(t, `"US/Pacific"`, field(t, team, "scheduling_timezone"))
	require.JSONEq(t, `["mysql"]`, field(t, team, "services"))
	require.Contains(t, field(t, team, "users"), "Ann Müller")
	require.JSONEq(t, `"override – “kept”"`, field(t, get("/api/v0/events/1003"), "note"))
	var events []map[string]any
	require.NoError(t, json.Unmarshal([]byte(get("/api/v0/events?team=watchers&include_subscribed=true&role=tertiary")), &events))
	require.Len(t, events, 1)
	require.Contains(t, get("/api/v0/teams/db/rosters/all"), `"roster_priority":0`)
	require.Contains(t, get("/api/v0/teams/db/rosters/all/schedules"), `"auto_populate_threshold":21`)
	require.Contains(t, get("/api/v0/audit?team=Ops"), "team_deleted")
	require.Contains(t, get("/api/v0/users/ann/notifications"), `"time_before":86400`)
	require.Contains(t, get("/api/v0/services/mysql/oncall"), `+13334567890`)

	// Feeds under Oncall's keys, which need no other credentials.
	feed := api.as("", "").get("/api/v0/ical/c1f1c1a0-5f4e-4b6a-9c66-0d1a52c0a002")
	require.Contains(t, feed, "BEGIN:VCALENDAR")
	require.GreaterOrEqual(t, strings.Count(feed, "BEGIN:VEVENT"), 6)
	require.Contains(t, api.as("", "").get("/api/v0/ical/c1f1c1a0-5f4e-4b6a-9c66-0d1a52c0a001"), "BEGIN:VEVENT")
	// New rows get higher numbers than the imported ones.
	start := time.Now().Add(72 * time.Hour).Unix()
	status, body := api.ask(http.MethodPost, "/api/v0/events",
		fmt.Sprintf(`{"start": %d, "end": %d, "user": "ann", "team": "db", "role": "shadow"}`, start, start+3600))
	require.Equal(t, http.StatusCreated, status, body)
	id, err := strconv.Atoi(strings.TrimSpace(body))
	require.NoError(t, err)
	require.Greater(t, id, 1031)
	for _, one := range []struct{ path, body, above string }{
		{"/api/v0/users", `{"name": "new"}`, "select (oncall_id > 113)::int from users where name = 'new'"},
		{"/api/v0/teams", `{"name": "new team", "scheduling_timezone": "UTC", "admin": "ann"}`,
			"select (oncall_id > 73)::int from teams where name = 'new team'"},
		{"/api/v0/teams/db/rosters", `{"name": "new roster"}`,
			"select (id > 52)::int from rosters where name = 'new roster'"},
	} {
		status, body := api.ask(http.MethodPost, one.path, one.body)
		require.Equal(t, http.StatusCreated, status, body)
		require.Equal(t, []string{"1"}, s.ours(one.above), one.path)
	}
}

// TestOncallAndIris joins both by name, in whichever order they come.
func TestOncallAndIris(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"iris", "oncall"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			s := newStage(t, good...)
			calendars := newStage(t, oncallGood...)
			calendars.predecessor, calendars.url, calendars.pg = "oncall", s.url, s.pg
			order := []*stage{s, calendars}
			if first == "oncall" {
				order = []*stage{calendars, s}
			}
			var lost []string
			for _, one := range order {
				_, report := one.move()
				require.Empty(t, reasons(report, imports.Conflict))
				require.True(t, report.Written)
				lost = append(lost, reasons(report, imports.NotTaken)...)
				if report.OnCall != nil {
					require.Empty(t, report.OnCall.Differences)
				}
			}
			require.Equal(t, []string{"10|110|ann|1|Europe/Zurich", "11|111|Bjørn|0|US/Pacific", "12|112|carla|0|UTC",
				"?|?|dora|0|UTC", "?|?|noadmin|0|UTC"},
				renumbered(s.ours("select target_id, oncall_id, name, admin, time_zone from users"), "noadmin", "dora"))
			require.Equal(t, []string{"20|70|db|US/Pacific", "71|Web Ops", "73|watchers"},
				append(s.ours("select target_id, oncall_id, name, time_zone from teams where name = 'db'"),
					s.ours("select oncall_id, name from teams where name in ('Web Ops', 'watchers')")...))
			require.Len(t, lost, 1, lost)
			require.Contains(t, lost[0], "it exists here already and has two other keys (1) application iris")
			require.Equal(t, []string{"8"}, s.ours("select id from applications where name = 'iris'"), "Iris's number")
			require.Equal(t, []string{"8|iris|1|1|0", "9|relay|1|1|1"},
				s.ours("select id, name, key_sealed is not null, secondary_key_sealed is not null, allow_oncall from applications where id in (8, 9)"))
			for _, one := range order {
				_, report := one.move()
				require.Empty(t, reasons(report, imports.Conflict))
				require.Zero(t, report.Taken(), "a second run changes nothing")
			}
		})
	}
}

func TestOncallIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, _, errs := s.iris(nil, "import", "oncall", "--from", s.from)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "this is not a database of Oncall: it has no table")
	code, _, errs = s.iris(nil, "import", "oncall", "--from", s.from, "--mode", "teams_messenger=fax")
	require.Equal(t, 1, code)
	require.Contains(t, errs, `there is no mode "fax"`)
}

// TestOncallNamesInOtherCase: two names that differ only in case in MySQL are one name here.
func TestOncallNamesInOtherCase(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallGood...)
	s.predecessor = "oncall"
	s.mysql("insert into user (id, name, active) values (130, 'ANN', 1)")
	s.mysql("insert into team (id, name, active) values (90, 'DB', 1)")
	s.mysql("insert into roster (id, name, team_id) values (91, 'ALL', 70)")
	s.mysql("insert into role (id, name) values (92, 'Tertiary')")
	s.mysql("insert into service (id, name) values (93, 'MYSQL')")
	s.mysql("insert into application (id, name, `key`) values (94, 'IRIS', 'oncall-key-other')")
	empty := s.contents()
	told := strings.Join(s.conflicts(), "\n")
	for _, want := range []string{"users: two of them", "user ANN and user ann", "teams: two of them", "team DB and team db", "rosters: two of them", "roster ALL of db and roster all of db",
		"roles: two of them", "services: two of them", "applications: two of them"} {
		require.Contains(t, told, want)
	}
	require.Equal(t, empty, s.contents())
}

// TestOncallNumbers: people who exist here get Oncall's numbers; new people get higher ones.
func TestOncallNumbers(t *testing.T) {
	t.Parallel()
	s := newStage(t, oncallGood...)
	s.predecessor = "oncall"
	s.postgres("insert into users (oncall_id, name) values (110, 'zoe'), (111, 'ANN')",
		"insert into teams (oncall_id, name) values (71, 'DB'), (70, 'ours')",
		"insert into oncall_audit (owner, team, action) select 'zoe', 'ours', 'x' from generate_series(1, 1000)")
	s.mysql("update role set id = id + 40 where id in (1, 5)")
	s.mysql("update event set role_id = role_id + 40 where role_id in (1, 5)")
	s.mysql("update schedule set role_id = role_id + 40 where role_id in (1, 5)")
	s.mysql("update team_subscription set role_id = role_id + 40 where role_id in (1, 5); update setting_role set role_id = role_id + 40 where role_id in (1, 5)")
	s.mysql("update event set schedule_id = 450 where id = 1021") // of a schedule that was deleted
	code, report := s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken), reasons(report, imports.Conflict))
	require.Equal(t, []string{"110|ANN", "111|Bjørn", "112|carla", "113|dora", "114|zoe"},
		s.ours("select oncall_id, name from users"))
	require.Equal(t, []string{"70|DB", "74|ours"},
		s.ours("select oncall_id, name from teams where name in ('DB', 'ours')"))
	require.Equal(t, []string{"41|primary", "45|vacation"},
		s.ours("select id, name from oncall_roles where name in ('primary', 'vacation')"))
	require.Equal(t, []string{"1000"}, s.ours("select count(*) from oncall_audit where id > 901"))
	for _, next := range []struct{ table, column, above string }{{"users", "oncall_id", "114"}, {"teams", "oncall_id", "74"}, {"oncall_roles", "id", "45"}, {"services", "id", "32"},
		{"rosters", "id", "52"}, {"schedules", "id", "450"}, {"shifts", "id", "1031"}, {"notice_settings", "id", "602"}, {"oncall_audit", "id", "1901"}} {
		require.Equal(t, []string{"1"}, s.ours("select nextval(pg_get_serial_sequence('"+next.table+"', '"+next.column+
			"')) > "+next.above), next.table)
	}
}

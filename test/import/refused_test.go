//go:build mariadb

package imports_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// nothingMoved runs the import, which must fail and write nothing, and returns the conflicts in one text.
func (s *stage) nothingMoved(args ...string) string {
	s.t.Helper()
	before := s.contents()
	code, report := s.move(args...)
	require.Equal(s.t, 1, code)
	require.False(s.t, report.Written)
	require.Equal(s.t, before, s.contents(), "nothing is written")
	conflicts := reasons(report, imports.Conflict)
	require.NotEmpty(s.t, conflicts)
	return strings.Join(conflicts, "\n")
}

func (s *stage) postgres(statements ...string) {
	s.t.Helper()
	for _, sql := range statements {
		_, err := s.pg.Exec(s.t.Context(), sql)
		require.NoError(s.t, err, sql)
	}
}

func TestIrisNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	// Only a site that compares bytes can have them.
	s.mysql("alter table target modify name varchar(255) character set latin1 collate latin1_bin not null; alter table application modify name varchar(255) character set latin1 collate latin1_bin not null")
	s.mysql("insert into target (id, name, type_id, active) values (90, 'ANN', 1, 1); insert into user (target_id, admin) values (90, 0); insert into application (id, name, `key`) values (90, 'RELAY', 'some-long-key')")
	conflicts := s.nothingMoved()
	require.Contains(t, conflicts, "users: two of them have the same name or position here, where upper and lower case are equal: rename one (1) user ANN and user ann")
	require.Contains(t, conflicts, "applications: two of them have the same name or position here, where upper and lower case are equal: rename one (1) application RELAY and application relay")
}

func TestIrisContradictsWhatIsHere(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, _ := s.move()
	require.Zero(t, code)
	s.postgres("update user_contacts set destination = 'other@example.com' where mode = 'email' and user_id = (select id from users where name = 'ann')",
		"update plans set description = 'changed' where id = 2", "update users set name = 'anna' where name = 'ann'",
		"update template_contents set body = 'changed' where template_id = 2", "update incidents set plan_id = 1 where id = 1001",
		"update users set active = false where name = 'noadmin'")
	conflicts := s.nothingMoved()
	for _, want := range []string{
		"contacts: it exists here already and differs in destination (1) email contact of ann; destination is ann@example.com in the source, other@example.com here",
		"plans: it exists here already and differs in description (1) plan 2 Night; description is Übersicht in the source, changed here",
		"users: it exists here already and differs in name (1) user ann; name is ann in the source, anna here",
		"users: it exists here already and differs in active (1) user noadmin; active is true in the source, false here",
		"template contents: it exists here already and differs in body",
		"incidents: it exists here already and differs in plan_id (1) incident 1001; plan_id is 2 in the source, 1 here",
	} {
		require.Contains(t, conflicts, want)
	}
	_, out, _ := s.iris(nil, "import", "iris", "--from", s.from)
	require.Contains(t, out, "Nothing was written: see the conflicts.")
}

// TestIrisLeavesOurStateAlone: state that changed here since the first run is no conflict.
func TestIrisLeavesOurStateAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, _ := s.move()
	require.Zero(t, code)
	s.postgres("update teams set manager_id = (select id from users where name = 'carla') where name = 'old team'",
		"update incidents set active = false, owner_id = (select id from users where name = 'ann'), current_step = 2, version = 7 where id = 1003",
		"update message_history set state = 'delivered' where id = 5000", "insert into comments (incident_id, author_id, content) select 1000, id, 'ours' from users where name = 'ann'")
	before := s.contents()
	code, report := s.move()
	require.Zero(t, code)
	require.Zero(t, report.Taken())
	require.Equal(t, before, s.contents())
}

func TestIrisKeysThatDiffer(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	code, _ := s.move()
	require.Zero(t, code)
	s.mysql("update application set `key` = 'another-key-of-the-relay' where id = 9")
	conflicts := s.nothingMoved()
	require.Contains(t, conflicts, "application keys: its primary key differs here (1) application relay")
	require.NotContains(t, conflicts, "key-of-the-relay")
}

// TestIrisNumbersThatCannotBe: rows with a number below 1 or above the limit are not taken, nor rows that refer to
// them.
func TestIrisNumbersThatCannotBe(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	s.mysql("set sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; insert into incident (id, plan_id, created, application_id, current_step, active) values (9223372036854775807, 1, '2024-01-01', 1, 0, 0), " +
		"(0, 1, '2024-01-01', 1, 0, 0), (-7, 1, '2024-01-01', 1, 0, 1); insert into target (id, name, type_id) values (-5, 'below', 1); insert into user (target_id) values (-5); " +
		"insert into message (id, created, application_id, target_id, priority_id, incident_id) values (-1, '2024-01-01', 1, 10, 8, 1000), (6000, '2024-01-01', 1, 10, 8, -7)")
	code, report := s.move()
	require.Equal(t, 3, code, reasons(report, imports.Conflict))
	accounted(t, report)
	require.Equal(t, []string{
		"incidents: " + imports.WrongNumber + " (3) incident -7; incident 0; incident 9223372036854775807",
		"messages: its incident does not exist (1) message 6000",
		"messages: " + imports.WrongNumber + " (1) message -1",
		"targets: " + imports.WrongNumber + " (1) user below (-5)",
		"users: it has no row in the table target, and so no name (1) user -5",
	}, reasons(report, imports.NotTaken))
	require.Equal(t, []string{"7"}, s.ours("select count(*) from incidents"))
	require.Equal(t, []string{"1"}, s.ours("select (nextval(pg_get_serial_sequence('incidents', 'id')) < 2000)::int"))
}

// TestIrisMeetsOthersNumbers: an installation in use has incidents, applications and plans of its own under the same
// numbers.
func TestIrisMeetsOthersNumbers(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	s.postgres("insert into users (target_id, name) values (20, 'zoe')",
		"insert into templates (id, name, creator_id) overriding system value select 1, 'mine', id from users",
		"insert into plans (id, name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) overriding system value select 2, 'mine', id, 0, 0, 0, 0 from users",
		"insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat) values (2, 1, 0, 'low', 'user', 20, '', 0, 0)",
		"insert into applications (id, name) overriding system value values (9, 'ours')")
	conflicts := s.nothingMoved()
	require.Contains(t, conflicts, "targets: its number here differs from the source, and plans, incidents, quotas or tags here refer to it (1) user zoe: 20 here")
	require.Contains(t, conflicts, "applications: it exists here already and differs in")
	require.Contains(t, conflicts, "name is relay in the source, ours here")
	require.Contains(t, conflicts, "plan 2 Night; name is Night in the source, mine here")
	require.Contains(t, conflicts, "template 1 page; name is page in the source, mine here")
}

// TestIrisJoinsPeopleWhoAreHere: the first administrator, or people and teams of Oncall, may exist before the import.
func TestIrisJoinsPeopleWhoAreHere(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	s.postgres("insert into users (target_id, name, full_name, admin) values (11, 'ANN', 'Ann Other', true), (10, 'zoe', '', false), (1, 'noadmin', '', true)",
		"insert into teams (target_id, name, time_zone) values (12, 'DB', 'Europe/Zurich')",
		"insert into user_contacts (user_id, mode, destination) select id, 'email', 'ann@example.com' from users where name = 'ANN'")
	code, report := s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken), reasons(report, imports.Conflict))
	require.Equal(t, []string{"10|ANN|Ann Other|1|Europe/Zurich", "11|Bjørn||0|US/Pacific", "12|carla||0|UTC",
		"13|noadmin||1|UTC", "33|zoe||0|UTC"},
		s.ours("select target_id, name, full_name, admin, time_zone from users"), "numbers of Iris, nobody is lost")
	require.Equal(t, []string{"20|DB|ANN|Europe/Zurich", "21|old team|-|UTC"},
		s.ours("select t.target_id, t.name, u.name, t.time_zone from teams t left join users u on u.id = t.manager_id"))
	before := s.contents()
	code, report = s.move()
	require.Zero(t, code)
	require.Zero(t, report.Taken())
	require.Equal(t, before, s.contents())
}

func TestIrisIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	fails := func(want string, code int, env []string, args ...string) {
		t.Helper()
		have, _, errs := s.iris(env, append([]string{"import", "iris"}, args...)...)
		require.Equal(t, code, have, errs)
		require.Contains(t, errs, want)
	}
	at, err := url.Parse(s.from)
	require.NoError(t, err)
	with := func(change func(*url.URL)) string {
		u := *at
		change(&u)
		return u.String()
	}
	bare := with(func(u *url.URL) { u.User = url.User("mover") })
	fails("missing flags: --from", 2, nil)
	fails("expected mysql://user:password@host:port/database", 1, nil, "--from", "postgres://mover:"+
		url.QueryEscape(password)+"@x/y")
	fails("expected mysql://user:password@host:port/database", 1, nil, "--from", "mysql://mover:"+password+"@x/y")
	fails("unknown parameter", 1, nil, "--from", s.from+"?charset=latin1")
	fails("lacks the user, the host or the name", 1, nil, "--from", with(func(u *url.URL) { u.Path = "" }))
	fails("the database to import from refuses: Access denied", 1, nil, "--from", bare)
	fails("the database to import from refuses: Unknown database", 1, nil, "--from",
		with(func(u *url.URL) { u.Path = "/nowhere" }))
	fails("this is not a database of Iris: it has no table", 1, nil, "--from",
		with(func(u *url.URL) { u.Path = "/mysql" }))
	fails("cannot be read", 1, nil, "--from", with(func(u *url.URL) { u.Host = "127.0.0.1:1" }))
	fails(`there is no mode "fax"`, 1, nil, "--from", s.from, "--mode", "im=fax")
	fails("must be one of", 2, nil, "--from", s.from, "--active", "maybe")

	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte(password+"\n"), 0o600))
	fails("--password-file: open "+file+".not", 1, nil, "--from", bare, "--password-file", file+".not")
	code, _, errs := s.iris(nil, "import", "iris", "--from", bare, "--password-file", file, "--dry-run")
	require.Zero(t, code, errs)
	code, _, errs = s.iris([]string{"IRIS_IMPORT_PASSWORD=" + password, "IRIS_IMPORT_FROM=" + bare}, "import", "iris",
		"--dry-run")
	require.Zero(t, code, errs)
}

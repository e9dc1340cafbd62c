package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// installation returns a database with ann, bob and team db of both. The calendar has a hand-off at 02:00 in Zurich on
// 22 November 2026. Plan night pages the primary twice, then the dynamic target of the incident.
func installation(t *testing.T) (environ []string, db *postgres.DB) {
	t.Helper()
	return installOn(t, pgtest.New(t))
}

// installOn is installation in a given database.
func installOn(t *testing.T, db *postgres.DB) ([]string, *postgres.DB) {
	t.Helper()
	_, err := db.Pool().Exec(t.Context(), `
insert into users (name, full_name, time_zone) values ('ann', 'Ann Lee', 'Europe/Zurich'), ('bob', 'Bob Ray', 'Europe/Zurich');
insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users;
insert into user_contacts (user_id, mode, destination) select id, m, '+1555010' || id from users, unnest(array['sms', 'call']) m where name = 'bob';
insert into teams (name, time_zone) values ('db', 'Europe/Zurich'), ('bare', 'UTC'), ('empty', 'UTC');
insert into team_members (team_id, user_id, position) select t.id, u.id, u.id from teams t, users u where t.name in ('db', 'bare');
insert into services (name) values ('checkout');
insert into team_services (team_id, service_id) select t.id, s.id from teams t, services s where t.name = 'db';
insert into applications (name) values ('shop');
insert into application_modes (application_id, mode) select a.id, m from applications a, unnest(array['email', 'sms', 'call']) m where a.name = 'shop';
insert into shifts (team_id, user_id, role_id, starts_at, ends_at)
	select t.id, u.id, (select id from oncall_roles where name = 'primary'), x.start_at, x.end_at from teams t, (values
		('ann', timestamptz '2026-11-15 02:00:00+01', timestamptz '2026-11-22 02:00:00+01'),
		('bob', timestamptz '2026-11-22 02:00:00+01', timestamptz '2026-11-29 02:00:00+01'),
		('ann', timestamptz '2026-11-30 02:00:00+01', timestamptz '2026-12-06 02:00:00+01')) x(name, start_at, end_at)
	join users u on u.name = x.name where t.name = 'db';
insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
	select 'night', id, 0, 0, 0, 0 from users where name = 'ann';
insert into plan_active select 'night', id from plans;
insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat)
	select p.id, 1, 0, 'urgent', 'oncall-primary', t.target_id, 'alert', 300, 1 from plans p, teams t where t.name = 'db';
insert into plan_notifications (plan_id, step, position, priority, dynamic_index, template, wait_seconds, repeat)
	select id, 2, 0, 'high', 0, 'alert', 60, 0 from plans;`)
	require.NoError(t, err)
	return []string{"IRIS_DATABASE_URL=" + db.Pool().Config().ConnString()}, db
}

// A time from now is added to the clock of the database, in days of the caller's zone too.
func TestRelativeTimesOfSimulationsAreTheDatabases(t *testing.T) {
	t.Parallel()
	environ, db := installOn(t, pgtest.Skewed(t, 5*time.Hour))
	now, err := db.Clock(t.Context())
	require.NoError(t, err)
	for at, want := range map[string]time.Time{"now": now, "+2h": now.Add(2 * time.Hour), "+3d": now.AddDate(0, 0, 3), "+2w": now.AddDate(0, 0, 14)} {
		code, out, errs := iris(t, environ, "", "simulate", "--plan", "night", "--at", at, "--zone", "Asia/Tokyo",
			"--output", "json")
		require.Zero(t, code, errs)
		var report simulation.Report
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.WithinDuration(t, want, report.At, time.Hour, at)
	}
}

func TestSimulateOnTheCommandLine(t *testing.T) {
	t.Parallel()
	environ, db := installation(t)
	code, out, errs := iris(t, environ, "", "simulate", "--plan", "night", "--at", "2026-11-22 01:58", "--zone",
		"Europe/Zurich",
		"--application", "shop", "--target", "user:ann")
	require.Zero(t, code, errs)
	require.Equal(t, `Plan night (version 1), opened Sun 2026-11-22 01:58:00 +01:00 by application shop. Nothing is sent.

AFTER   WHEN                            STEP          WHO  BY                     WHY
+0s     Sun 2026-11-22 01:58:00 +01:00  1             ann  email instead of call  primary of team db: shift until Sun 2026-11-22 02:00 CET; urgent, the priority's default
+5m0s   Sun 2026-11-22 02:03:00 +01:00  1 (repeat 1)  bob  call                   primary of team db: shift until Sun 2026-11-29 02:00 CET; urgent, the priority's default
+10m0s  Sun 2026-11-22 02:08:00 +01:00  2             ann  email instead of sms   named in the plan; high, the priority's default

Timeline:
  Sun 2026-11-22 01:58:00 +01:00  step 1: paging ann by email because there is no call contact (urgent, primary of team db: shift until Sun 2026-11-22 02:00 CET)
  Sun 2026-11-22 02:03:00 +01:00  step 1: repeat 1, paging bob by call (urgent, primary of team db: shift until Sun 2026-11-29 02:00 CET)
  Sun 2026-11-22 02:08:00 +01:00  step 2: paging ann by email because there is no sms contact (high, named in the plan)
  Sun 2026-11-22 02:09:00 +01:00  plan night is exhausted: 2 steps are over and nobody acknowledged; nobody is paged any more

The plan is exhausted at Sun 2026-11-22 02:09:00 +01:00, 11m0s after the incident was opened.
Note: It is not known which modes have a vendor: no processor runs, or one is of an earlier release. The simulation takes every mode as served.
Note: A resolve after all these pages notifies ann by email.
`, out)

	code, out, errs = iris(t, environ, "", "simulate", "--plan", "1", "--at", "2026-11-22T00:58:00Z", "--zone", "UTC",
		"-o", "plain", "--assume", "ack-after=1m")
	require.Zero(t, code, errs)
	require.Equal(t, "2026-11-22T00:58:00Z\t1\t1\t0\tann\temail\turgent\tprimary\tprimary of team db: shift until Sun 2026-11-22 02:00 CET\tthe priority's default\n", out)

	code, out, errs = iris(t, environ, "", "simulate", "--plan", "night", "--output", "json")
	require.Zero(t, code, errs)
	var report simulation.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, simulation.EndExhausted, report.End)
	require.Nil(t, report.Application)
	require.NotEmpty(t, report.Notes)

	for want, args := range map[string][]string{
		"there is no active plan nothing\n":                    {"--plan", "nothing"},
		"there is no active plan Nihgt; did you mean night?\n": {"--plan", "Nihgt"},
		`there is no time zone "Mars/Base"`:                    {"--plan", "night", "--zone", "Mars/Base"},
		`"tomorrow" is no instant`:                             {"--plan", "night", "--at", "tomorrow"},
		"there is no application watch":                        {"--plan", "night", "--application", "watch"},
		"Role team is not appropriate for targe":               {"--plan", "night", "--target", "team:ann"},
	} {
		code, _, errs := iris(t, environ, "", append([]string{"simulate"}, args...)...)
		wantCode := 1
		if args[len(args)-2] == "--zone" || args[len(args)-2] == "--at" || args[len(args)-2] == "--application" || args[len(args)-2] == "--target" {
			wantCode = 2
		}
		require.Equal(t, wantCode, code, errs)
		require.Contains(t, errs, want)
	}
	code, _, errs = iris(t, environ, "", "simulate")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--plan")
	var made int
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select (select count(*) from messages) + (select count(*) from incidents)`).Scan(&made))
	require.Zero(t, made)
}

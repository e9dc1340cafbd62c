package pg_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/legacy/imports"
	pgimports "github.com/iris-oncall/iris/internal/legacy/pg"
	"github.com/iris-oncall/iris/internal/system/pg"
)

// moving is a database that receives an import.
type moving struct {
	t  *testing.T
	db *postgres.DB
	im *pgimports.Imports
}

func newMoving(t *testing.T) moving {
	t.Helper()
	db := pgtest.New(t)
	keys, err := auth.NewKeys(make([]byte, auth.SecretSize))
	require.NoError(t, err)
	return moving{t: t, db: db, im: pgimports.New(db, keys)}
}

// run runs an import and commits it.
func (m moving) run(f func(*pgimports.Store)) {
	m.t.Helper()
	require.NoError(m.t, m.im.Run(m.t.Context(), "iris", func(s *pgimports.Store) (bool, error) { f(s); return true, nil }))
}

// load stores records whose labels are their numbers.
func (m moving) load(s *pgimports.Store, t imports.Table, rows ...[]any) imports.Outcome {
	m.t.Helper()
	out, err := s.Load(m.t.Context(), t, records(rows))
	require.NoError(m.t, err)
	return out
}

// messageTable has the columns of messages of Iris.
func messageTable() imports.Table {
	t := imports.Table{Name: "message_history", Key: []string{"id"}}
	for _, c := range strings.Fields(`id:bigint created_at:timestamptz sent_at:timestamptz application_id:bigint target_id:bigint target:text
		destination:text mode:text plan_id:bigint priority:text subject:text body:text incident_id:bigint notification_id:bigint waiting:boolean
		template_id:bigint batch:text failed:boolean`) {
		name, kind, _ := strings.Cut(c, ":")
		t.Columns = append(t.Columns, imports.Column{Name: name, Type: kind})
	}
	return t
}

func records(rows [][]any) imports.Records {
	return func(yield func(imports.Record, error) bool) {
		for i, row := range rows {
			if !yield(imports.Record{Label: fmt.Sprintf("row %d", i+1), Values: row}, nil) {
				return
			}
		}
	}
}

// words returns the reasons of an outcome.
func words(o imports.Outcome) (out []string) {
	for _, r := range o.Reasons {
		out = append(out, fmt.Sprintf("%s: %s (%d) %s", r.Kind, r.Text, r.Rows, strings.Join(r.Examples, "; ")))
	}
	slices.Sort(out)
	return out
}

// rows returns the rows of a query, each as one string.
func (m moving) rows(query string) (out []string) {
	m.t.Helper()
	rows, err := m.db.Pool().Query(m.t.Context(), query)
	require.NoError(m.t, err)
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		require.NoError(m.t, err)
		out = append(out, strings.Trim(fmt.Sprint(values), "[]"))
	}
	require.NoError(m.t, rows.Err())
	return out
}

var (
	peopleTable = imports.Table{Name: "users", Key: []string{"target_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "target_id", Type: "bigint"}, {Name: "name", Type: "text"},
		{Name: "admin", Type: "boolean", Same: "t.admin or not s.admin", Empty: "not t.admin"}, {Name: "full_name", Type: "text", State: true},
	}}
	contactTable = imports.Table{Name: "user_contacts", Key: []string{"user_id", "mode"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: &imports.Ref{Table: "users", Match: "target_id", Take: "id"}}, {Name: "mode", Type: "text"},
		{Name: "destination", Type: "text"},
	}}
	teamTable = imports.Table{Name: "teams", Key: []string{"target_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "target_id", Type: "bigint"}, {Name: "name", Type: "text"},
		{Name: "manager_id", Type: "bigint", Ref: &imports.Ref{Table: "users", Match: "target_id", Take: "id", Optional: true}},
	}}
)

func TestImportMergesTables(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	m.run(func(s *pgimports.Store) {
		out := m.load(s, peopleTable, []any{100, "ann", true, ""}, []any{101, "bob", false, ""}, []any{102, "ANN", false, ""}, []any{101, "bob", false, ""})
		require.Equal(t, int64(4), out.Read)
		require.Equal(t, int64(2), out.Taken)
		require.Equal(t, []string{
			"conflict: two of them have the same name or position here, where upper and lower case are equal: rename one (1) row 3 and row 1",
			"not taken: the source has it twice (1) row 4",
		}, words(out))
		out = m.load(s, contactTable, []any{100, "email", "a@example.com"}, []any{999, "email", "x@example.com"})
		require.Equal(t, []string{"not taken: its user_id refers to a row that does not exist (1) row 2"}, words(out))
		require.Equal(t, int64(1), out.Taken)
		out = m.load(s, teamTable, []any{200, "db", 100}, []any{201, "net", 999})
		require.Equal(t, []string{"not taken: its manager_id refers to a row that does not exist; the rest was taken (1) row 2"}, words(out))
		require.Equal(t, int64(2), out.Taken)
	})
	require.Equal(t, []string{"100 ann true", "101 bob false"}, m.rows("select target_id, name, admin from users order by 1"))
	require.Equal(t, []string{"db ann", "net <nil>"}, m.rows("select t.name, u.name from teams t left join users u on u.id = t.manager_id order by 1"))

	m.run(func(s *pgimports.Store) {
		out := m.load(s, peopleTable, []any{100, "ann", true, "state"}, []any{101, "robert", false, ""}, []any{103, "Bob", false, ""}, []any{104, "zoe", false, ""})
		require.Equal(t, []string{
			"conflict: another row here has its name, address or position (1) row 3 in the source, 101 here",
			"conflict: it exists here already and differs in name (1) row 2; name is robert in the source, bob here",
		}, words(out))
		require.Equal(t, []int64{1, 1}, []int64{out.Same, out.Taken})
	})
}

func TestImportCompletesOnlyTheFirstTime(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	_, err := m.db.Pool().Exec(t.Context(), "insert into users (target_id, name, full_name) values (100, 'ann', 'Ann Other')")
	require.NoError(t, err)
	m.run(func(s *pgimports.Store) {
		out := m.load(s, peopleTable, []any{100, "ann", true, "not hers"})
		require.Equal(t, []string{"note: it existed here already, and its empty values were filled in (1) row 1"}, words(out))
		require.NoError(t, s.Finish(t.Context(), ""))
	})
	require.Equal(t, []string{"true Ann Other"}, m.rows("select admin, full_name from users"))
	_, err = m.db.Pool().Exec(t.Context(), "update users set admin = false")
	require.NoError(t, err)
	m.run(func(s *pgimports.Store) {
		out := m.load(s, peopleTable, []any{100, "ann", true, ""})
		require.Equal(t, []string{"conflict: it exists here already and differs in admin (1) row 1; admin is true in the source, false here"}, words(out))
	})
}

func TestImportRenumbersTargets(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	_, err := m.db.Pool().Exec(t.Context(), "insert into users (target_id, name) values (1, 'ann'), (2, 'Bob'), (3, 'zoe'); insert into teams (target_id, name) values (4, 'ann')")
	require.NoError(t, err)
	wanted := []imports.Target{{Kind: "user", Name: "ANN", Number: 2}, {Kind: "user", Name: "bob", Number: 1}, {Kind: "team", Name: "ann", Number: 3}, {Kind: "user", Name: "new", Number: 4}}
	m.run(func(s *pgimports.Store) {
		out, err := s.Adopt(t.Context(), wanted)
		require.NoError(t, err)
		require.Equal(t, imports.Note, out.Reasons[0].Kind)
	})
	have := m.rows("select kind, name, target_id from targets order by kind, name")
	require.Equal(t, []string{"team ann 3", "user Bob 1", "user ann 2"}, slices.DeleteFunc(have, func(s string) bool { return strings.HasPrefix(s, "user zoe") }))
	require.Equal(t, []string{"true"}, m.rows("select target_id > 4 from users where name = 'zoe'"), "out of the way of all numbers")

	bound := newMoving(t)
	_, err = bound.db.Pool().Exec(t.Context(), "insert into users (target_id, name) values (1, 'ann'); insert into tags (kind, object_id, name, value) values ('target', 1, 'n', 'v')")
	require.NoError(t, err)
	bound.run(func(s *pgimports.Store) {
		out, err := s.Adopt(t.Context(), wanted)
		require.NoError(t, err)
		require.Equal(t, imports.Conflict, out.Reasons[0].Kind)
	})
	require.Equal(t, []string{"1"}, bound.rows("select target_id from users"))
}

func TestImportStoresNothingUnlessCommitted(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	add := func(s *pgimports.Store) { m.load(s, peopleTable, []any{100, "ann", true, ""}) }
	require.NoError(t, m.im.Run(t.Context(), "iris", func(s *pgimports.Store) (bool, error) { add(s); return false, nil }))
	broken := errors.New("broken")
	err := m.im.Run(t.Context(), "iris", func(s *pgimports.Store) (bool, error) { add(s); return true, broken })
	require.ErrorIs(t, err, broken)
	err = m.im.Run(t.Context(), "iris", func(s *pgimports.Store) (bool, error) {
		add(s)
		_, err := s.Load(t.Context(), contactTable, iter.Seq2[imports.Record, error](func(yield func(imports.Record, error) bool) {
			yield(imports.Record{}, fault.New(fault.Unavailable, "the other database went away"))
		}))
		return true, err
	})
	require.ErrorContains(t, err, "the other database went away")
	require.Empty(t, m.rows("select name from users"))

	err = m.im.Run(t.Context(), "iris", func(*pgimports.Store) (bool, error) {
		return true, m.im.Run(t.Context(), "iris", func(*pgimports.Store) (bool, error) { return true, nil })
	})
	require.True(t, fault.Is(err, fault.Conflict), "one at a time: %v", err)
	require.ErrorContains(t, err, "wait a minute and try again")
}

// The test passes the progress that Resume reconstructs to the engine's own decision function.
func TestImportedIncidentsContinueToEscalate(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	_, err := m.db.Pool().Exec(t.Context(), `insert into users (target_id, name) values (10, 'ann'), (11, 'bob');
insert into applications (id, name) overriding system value values (50, 'watch');
insert into templates (id, name, creator_id) overriding system value select 60, 'page', id from users where name = 'ann';
insert into plans (id, name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) overriding system value
    select 70, 'night', id, 0, 0, 0, 0 from users where name = 'ann';
insert into plan_notifications (id, plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional) overriding system value values
    (80, 70, 1, 0, 'high', 'user', 10, 'page', 600, 2, false), (81, 70, 1, 1, 'low', 'user', 11, 'page', 600, 0, true)`)
	require.NoError(t, err)
	began := time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
	incidents := imports.Table{Name: "incidents", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "plan_id", Type: "bigint"}, {Name: "application_id", Type: "bigint"}, {Name: "created_at", Type: "timestamptz"},
		{Name: "updated_at", Type: "timestamptz", State: true}, {Name: "owner_id", Type: "bigint", State: true}, {Name: "current_step", Type: "smallint", State: true},
		{Name: "active", Type: "boolean", State: true}, {Name: "resolved", Type: "boolean", State: true}, {Name: "context", Type: "json", Aside: true},
	}}
	open := func(id, step int64) []any {
		return []any{id, 70, 50, began, began, nil, step, true, false, json.RawMessage(`{"title": "x"}`)}
	}
	message := func(id, incident, notification, target int64, sent any) []any {
		return []any{id, began, sent, 50, target, "somebody", "d", "email", 70, "high", "", "", incident, notification, sent == nil, 60, nil, false}
	}
	ahead := began.AddDate(3, 0, 0)
	early := message(903, 4, 80, 10, ahead)
	early[1] = ahead
	m.run(func(s *pgimports.Store) {
		require.Equal(t, int64(4), m.load(s, incidents, open(1, 0), open(2, 1), open(3, 1), open(4, 1)).Taken)
		out := m.load(s, messageTable(), message(900, 2, 80, 10, began), message(901, 3, 80, 10, began), message(902, 3, 80, 11, nil), early)
		require.Equal(t, int64(4), out.Taken)
		n, err := s.Resume(t.Context(), true)
		require.NoError(t, err)
		require.Equal(t, int64(4), n)
	})
	plan := escalation.Plan{Steps: []escalation.Step{{Notifications: []escalation.Notification{
		{Priority: "high", Wait: 10 * time.Minute, Repeat: 2}, {Priority: "low", Wait: 10 * time.Minute, Optional: true},
	}}}}
	next := func(id int) escalation.Decision {
		var raw []byte
		var step, reopened int
		err := m.db.Pool().QueryRow(t.Context(), "select progress, current_step, reopen_count from incidents where id = $1 and due_at <= clock_timestamp()", id).
			Scan(&raw, &step, &reopened)
		require.NoError(t, err)
		p, err := escalation.DecodeProgress(raw)
		require.NoError(t, err)
		p.Step, p.Reopened = step, reopened
		if reopened > 0 {
			p.Past = []escalation.Past{{Step: 1, Recipient: "user:1", Fate: escalation.PastLeft}, {Step: 1, Recipient: "user:2", Fate: escalation.PastCancelled}}
		}
		return escalation.Next(plan, p, time.Now())
	}
	require.Len(t, next(1).Rounds, 2, "one that had not begun begins")
	second := next(2)
	require.Empty(t, second.Rounds, "what was sent is not sent again")
	require.WithinDuration(t, began.Add(10*time.Minute), second.Due, time.Second, "its wait counts from what Iris sent")
	third := next(3)
	require.Len(t, third.Rounds, 1, "a page that had not left is made again")
	require.Equal(t, 0, third.Rounds[0].Repeat)
	require.Len(t, third.Rounds[0].Served, 1, "not for the one who has it")
	fourth := next(4)
	require.Empty(t, fourth.Rounds)
	require.WithinDuration(t, time.Now().Add(10*time.Minute), fourth.Due, time.Minute, "a clock that was ahead holds nothing back for years")
}

func TestImportSealsKeys(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	_, err := m.db.Pool().Exec(t.Context(), "insert into applications (id, name) overriding system value values (50, 'watch')")
	require.NoError(t, err)
	keys := []imports.ApplicationKeys{{ID: 50, Name: "watch", Primary: "a-key-of-watch"}, {ID: 51, Name: "nobody", Primary: "x"}}
	seal := func(s *pgimports.Store) imports.Outcome {
		out, err := s.SealKeys(context.WithoutCancel(t.Context()), keys)
		require.NoError(t, err)
		return out
	}
	m.run(func(s *pgimports.Store) { require.Equal(t, int64(1), seal(s).Taken) })
	require.Equal(t, []string{"true false"}, m.rows("select key_sealed is not null and position('a-key' in encode(key_sealed, 'escape')) = 0, secondary_key_sealed is not null from applications where id = 50"))
	m.run(func(s *pgimports.Store) { require.Equal(t, int64(1), seal(s).Same) })
	keys[0].Secondary = "another-key"
	m.run(func(s *pgimports.Store) { require.Equal(t, int64(1), seal(s).Taken) })
	keys[0].Primary = "changed-there"
	m.run(func(s *pgimports.Store) {
		require.Equal(t, []string{"conflict: its primary key differs here (1) application watch"}, words(seal(s)))
	})
}

// Statistics that were computed before an import do not include the imported incidents. Imported people and applications
// count at once.
func TestStatisticsIncludeImportedRows(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	counts := pg.NewStatistics(m.db)
	before, err := counts.Current(t.Context())
	require.NoError(t, err)
	require.Zero(t, before.Users[0])
	require.NoError(t, m.im.Run(t.Context(), "iris", func(s *pgimports.Store) (bool, error) {
		m.load(s, peopleTable, []any{100, "ann", true, ""})
		return true, s.Finish(t.Context(), "{}")
	}))
	after, err := counts.Current(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1), after.Users[0])
}

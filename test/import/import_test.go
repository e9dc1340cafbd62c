//go:build mariadb

// Package imports_test moves databases of predecessors with the real command: from a real MariaDB, which test/import.sh
// starts, into a real PostgreSQL, and compares both sides row by row.
package imports_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// bin is where TestMain built the programs.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "iris-import-")
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
		return m.Run()
	}())
}

// password of the user that the tests make; it must never be shown.
const password = "p@ss word/of:iris"

var databases atomic.Int64

// stage is one database of a predecessor and one of ours.
type stage struct {
	t    *testing.T
	from string // address with the password
	my   *sql.DB
	url  string
	pg   *pgxpool.Pool
	// predecessor is the subcommand that moves it.
	predecessor string
}

// newStage makes a MySQL database out of the scripts, and an empty one of ours with all migrations.
func newStage(t *testing.T, scripts ...string) *stage {
	t.Helper()
	server := os.Getenv("IRIS_TEST_MYSQL")
	require.NotEmpty(t, server, "IRIS_TEST_MYSQL must be the host:port of a MariaDB whose root needs no password: run test/import.sh")
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.MultiStatements = "root", "tcp", server, true
	c.Params = map[string]string{"time_zone": "'+00:00'"}
	root, err := connect(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	name := fmt.Sprintf("iris_%d_%d", os.Getpid(), databases.Add(1))
	for _, s := range []string{
		"create database " + name + " character set latin1",
		"create or replace user 'mover'@'%' identified by '" + password + "'",
		"grant select on *.* to 'mover'@'%'",
	} {
		_, err = root.Exec(s)
		require.NoError(t, err)
	}
	t.Cleanup(func() { _, _ = root.Exec("drop database " + name) })
	c.DBName = name
	s := &stage{t: t, predecessor: "iris"}
	s.my, err = connect(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.my.Close() })
	for _, file := range scripts {
		raw, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		_, err = s.my.Exec(string(raw))
		require.NoError(t, err, file)
	}
	s.from = (&url.URL{Scheme: "mysql", User: url.UserPassword("mover", password), Host: server, Path: "/" +
		name}).String()
	s.url = pgtest.URL(t)
	s.pg, err = pgxpool.New(t.Context(), s.url)
	require.NoError(t, err)
	t.Cleanup(s.pg.Close)
	return s
}

func connect(c *mysql.Config) (*sql.DB, error) {
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// mysql runs statements there.
func (s *stage) mysql(statements string) {
	s.t.Helper()
	_, err := s.my.Exec(statements)
	require.NoError(s.t, err)
}

// iris runs the command. Whatever it says, the password is not in it.
func (s *stage) iris(env []string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(bin, "iris"), args...)
	cmd.Env = append([]string{"IRIS_DATABASE_URL=" + s.url}, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.IsType(s.t, &exec.ExitError{}, err, errs.String())
	}
	for _, secret := range []string{password, url.QueryEscape(password), "key-of-iris-itself", "second-key-of-iris", "oncall-key", "c1f1c1a0-5f4e"} {
		require.NotContains(s.t, out.String()+errs.String(), secret)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// move imports and returns the exit code and the report.
func (s *stage) move(args ...string) (int, imports.Report) {
	s.t.Helper()
	code, out, errs := s.iris(nil, append([]string{"import", s.predecessor, "--json", "--from", s.from}, args...)...)
	var r imports.Report
	require.NoError(s.t, json.Unmarshal([]byte(out), &r), errs)
	return code, r
}

// conflicts are what stops an import; nothing is written.
func (s *stage) conflicts() []string {
	s.t.Helper()
	code, report := s.move()
	require.Equal(s.t, 1, code)
	require.False(s.t, report.Written)
	return reasons(report, imports.Conflict)
}

// dated are instants in labels that depend on when the test runs.
var dated = regexp.MustCompile(`from \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}`)

// renumbered replaces numbers that depend on the order of imports in the rows of names.
func renumbered(rows []string, names ...string) []string {
	out := slices.Clone(rows)
	for i, row := range out {
		parts := strings.Split(row, "|")
		if slices.Contains(names, parts[2]) {
			parts[0], parts[1] = "?", "?"
		}
		out[i] = strings.Join(parts, "|")
	}
	slices.Sort(out)
	return out
}

// theirs and ours return the rows of a query as texts.
func (s *stage) theirs(query string) []string {
	s.t.Helper()
	rows, err := s.my.Query(query)
	require.NoError(s.t, err, query)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	require.NoError(s.t, err)
	var out []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(s.t, rows.Scan(into...))
		var parts []string
		for _, v := range values {
			if v.Valid {
				parts = append(parts, v.String)
			} else {
				parts = append(parts, "-")
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	require.NoError(s.t, rows.Err())
	slices.Sort(out)
	return out
}

func (s *stage) ours(query string) []string {
	s.t.Helper()
	rows, err := s.pg.Query(s.t.Context(), query)
	require.NoError(s.t, err, query)
	defer rows.Close()
	var out []string
	for rows.Next() {
		values, err := rows.Values()
		require.NoError(s.t, err)
		var parts []string
		for _, v := range values {
			parts = append(parts, word(v))
		}
		out = append(out, strings.Join(parts, "|"))
	}
	require.NoError(s.t, rows.Err(), query)
	slices.Sort(out)
	return out
}

func word(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case bool:
		if v {
			return "1"
		}
		return "0"
	case time.Time:
		return v.UTC().Format(time.DateTime)
	}
	return fmt.Sprint(v)
}

// contents is everything that our database holds, except what the migrations' bookkeeping does.
func (s *stage) contents() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, table := range s.ours("select tablename from pg_tables where schemaname = 'public' and tablename not like 'goose%' and tablename not like 'message_history_%'") {
		out[table] = strings.Join(s.ours("select t::text from "+table+" t"), "\n")
	}
	return out
}

// reasons are the report's reasons of a kind as "class: reason (rows)".
func reasons(r imports.Report, kind imports.Kind) []string {
	var out []string
	for _, c := range r.Classes {
		for _, reason := range c.Reasons {
			if reason.Kind == kind {
				out = append(out, fmt.Sprintf("%s: %s (%d) %s", c.Name, reason.Text, reason.Rows,
					strings.Join(reason.Examples, "; ")))
			}
		}
	}
	slices.Sort(out)
	return out
}

// accounted checks that every row read is taken, here already, not taken, or left out with a remark.
func accounted(t *testing.T, r imports.Report) {
	t.Helper()
	for _, c := range r.Classes {
		remarked := int64(0)
		for _, reason := range c.Reasons {
			if reason.Whole && reason.Kind != imports.NotTaken {
				remarked += reason.Rows
			}
		}
		if c.Read > 0 {
			require.Equal(t, c.Read, c.Taken+c.Same+c.NotTaken+remarked, "rows of %s", c.Name)
		}
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

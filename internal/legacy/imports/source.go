package imports

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Source is a MySQL or MariaDB database, read in one read-only transaction: all reads see the same instant. It is used
// by one goroutine, with one stream of rows open at a time.
type Source struct {
	db     *sql.DB
	conn   *sql.Conn
	from   string
	tables map[string][]string // columns by table
	asked  map[string][]string // columns that were read, by table
}

const urlForm = "expected mysql://user:password@host:port/database"

// parseURL parses mysql://user:password@host:port/database[?tls=true|skip-verify][&socket=/path]. password, if not
// empty, replaces that of the URL. Its errors never contain the password.
func parseURL(raw, password string) (*mysql.Config, string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" {
		return nil, "", fault.Invalidf("from", "the address of the database cannot be read; %s", urlForm)
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	if password != "" {
		c.Passwd = password
	}
	c.DBName = strings.TrimPrefix(u.Path, "/")
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; {
		case name == "socket":
			c.Net, c.Addr = "unix", value
		case name == "tls" && (value == "true" || value == "skip-verify"):
			c.TLS = &tls.Config{ServerName: u.Hostname(),
				InsecureSkipVerify: value == "skip-verify"} //nolint:gosec // asked for
		case name == "tls" && value == "false":
		default:
			return nil, "", fault.Invalidf("from",
				"the address of the database has an unknown parameter %q; use socket, or tls (true, false, skip-verify)", name)
		}
	}
	if c.DBName == "" || c.User == "" || c.Net == "tcp" && u.Hostname() == "" {
		return nil, "", fault.Invalidf("from", "the address of the database lacks the user, the host or the name; %s",
			urlForm)
	}
	c.Timeout = 10 * time.Second
	c.Logger = &mysql.NopLogger{}
	return c, fmt.Sprintf("%s@%s/%s", c.User, c.Addr, c.DBName), nil
}

// OpenSource connects and starts the snapshot. See parseURL for the address.
func OpenSource(ctx context.Context, address, password string) (*Source, error) {
	c, from, err := parseURL(address, password)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fault.Invalidf("from", "the address of the database cannot be used; %s", urlForm)
	}
	s := &Source{db: sql.OpenDB(connector), from: from, tables: map[string][]string{}, asked: map[string][]string{}}
	if err := s.begin(ctx, c.DBName); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// begin starts the transaction. It raises the server's timeouts, because storing a table may take minutes.
func (s *Source) begin(ctx context.Context, name string) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return unreachable(err)
	}
	for _, sql := range []string{
		"set session transaction isolation level repeatable read",
		"set session time_zone = '+00:00', session sql_mode = '', session net_write_timeout = 86400, session net_read_timeout = 86400, session wait_timeout = 86400",
		"start transaction with consistent snapshot, read only",
	} {
		if _, err := s.conn.ExecContext(ctx, sql); err != nil {
			return unreachable(err)
		}
	}
	rows, err := s.conn.QueryContext(ctx,
		"select table_name, column_name from information_schema.columns where table_schema = database() order by table_name, ordinal_position")
	if err != nil {
		return unreachable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return unreachable(err)
		}
		s.tables[table] = append(s.tables[table], column)
	}
	if err := rows.Err(); err != nil {
		return unreachable(err)
	}
	if len(s.tables) == 0 {
		return fault.Invalidf("from", "the database %q has no tables, or this user may not read them", name)
	}
	return nil
}

// unreachable describes an error of MySQL. The driver's messages contain the user and the host, never the password.
func unreachable(err error) error {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return fault.Wrap(fault.Unavailable, err, "the database to import from refuses: "+refused.Message)
	}
	return fault.Wrap(fault.Unavailable, err, "the database to import from cannot be read")
}

// From returns the address without the password.
func (s *Source) From() string { return s.from }

// Has reports whether a table exists.
func (s *Source) Has(table string) bool { return len(s.tables[table]) > 0 }

// Close ends the snapshot.
func (s *Source) Close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	_ = s.db.Close()
}

// Count returns how many rows of a table meet the condition (SQL, "" = all).
func (s *Source) Count(ctx context.Context, table, condition string) (n int64, err error) {
	query := "select count(*) from " + Quote(table) + " where " + cmp.Or(condition, "true")
	if err := s.conn.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return 0, unreachable(err)
	}
	return n, nil
}

// Rows streams the rows of a table in the order of some columns. Columns that the table does not have read as null; a
// table that does not exist has no rows. The rows are counted in the class of the report. An error ends the stream.
func (s *Source) Rows(ctx context.Context, report *Report, from From) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if !s.Has(from.Table) {
			return
		}
		row := &Row{class: report.Class(from.Class), index: map[string]int{}}
		query, n := s.query(from, row.index)
		if n == 0 {
			yield(nil, fault.Invalidf("from",
				"the table %s has none of the expected columns: is this the right database?", from.Table))
			return
		}
		rows, err := s.conn.QueryContext(ctx, query)
		if err != nil {
			yield(nil, unreachable(err))
			return
		}
		defer rows.Close()
		row.values = make([]sql.RawBytes, n)
		into := make([]any, n)
		for i := range into {
			into[i] = &row.values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				yield(nil, unreachable(err))
				return
			}
			row.Label, row.dropped, row.said = "", false, nil
			row.class.Read++
			report.Tick(row.class.Name, row.class.Read)
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, unreachable(err))
		}
	}
}

// query returns the statement that reads the columns that exist, and their number. It sets the positions of columns in
// its result.
func (s *Source) query(from From, index map[string]int) (query string, n int) {
	var take []string
	for _, name := range strings.Fields(from.Columns) {
		for _, have := range s.tables[from.Table] {
			if _, twice := index[name]; !twice && strings.EqualFold(have, name) {
				index[name] = len(take)
				take = append(take, Quote(have))
				s.asked[from.Table] = append(s.asked[from.Table], have)
			}
		}
	}
	query = "select " + strings.Join(take, ", ") + " from " + Quote(from.Table)
	if from.Order != "" {
		query += " order by " + from.Order
	}
	return query, len(take)
}

// Quote quotes a name for MySQL.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

package postgres

import (
	"context"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// errPoolMode refuses a connection pooler that gives a client another session for each transaction.
var errPoolMode = fault.Invalidf("database_url",
	"the database is behind a connection pooler in transaction or statement mode, which loses notifications, "+
		"advisory locks and session settings: use session mode (pool_mode = session in PgBouncer) for the database of Iris, or connect Iris to PostgreSQL itself")

// startup are the parameters that stay in the first message of a connection. A pooler such as PgBouncer accepts them
// and refuses most others.
var startup = []string{"application_name", "client_encoding", "options"}

// configureSession sets the parameters that all statements rely on, unless the URL sets them, and overrides, which the
// URL cannot set. They are set by a statement after connecting.
func configureSession(cc *pgx.ConnConfig, url, appName string, overrides map[string]string) {
	if appName == "" {
		appName = "iris"
	}
	settings := map[string]string{
		"application_name":                    appName,
		"timezone":                            "UTC",
		"jit":                                 "off",
		"statement_timeout":                   "5000",
		"lock_timeout":                        "1000",
		"idle_in_transaction_session_timeout": "10000",
	}
	maps.Copy(settings, cc.RuntimeParams)
	maps.Copy(settings, overrides)
	cc.RuntimeParams = map[string]string{}
	for _, name := range startup {
		if value, set := settings[name]; set {
			cc.RuntimeParams[name] = value
			delete(settings, name)
		}
	}
	cc.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error { return applySettings(ctx, conn, settings) }
	if !strings.Contains(url, "target_session_attrs") && os.Getenv("PGTARGETSESSIONATTRS") == "" {
		cc.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if cc.ConnectTimeout == 0 {
		cc.ConnectTimeout = 5 * time.Second
	}
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	cc.DialFunc = dialer.DialContext
}

// applySettings sets the parameters of a new session. It returns errPoolMode if the next statement does not see them.
func applySettings(ctx context.Context, conn *pgconn.PgConn, settings map[string]string) error {
	var set, get []string
	var values [][]byte
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		values = append(values, []byte(name), []byte(settings[name]))
		set = append(set, "set_config($"+strconv.Itoa(len(values)-1)+", $"+strconv.Itoa(len(values))+", false)")
		get = append(get, "current_setting($"+strconv.Itoa(len(get)+1)+")")
	}
	want, err := row(ctx, conn, "select "+strings.Join(set, ", "), values)
	if err != nil {
		return err
	}
	var names [][]byte
	for i := 0; i < len(values); i += 2 {
		names = append(names, values[i])
	}
	have, err := row(ctx, conn, "select "+strings.Join(get, ", "), names)
	if err == nil && !slices.Equal(want, have) {
		err = errPoolMode
	}
	return err
}

// row returns the only row of a statement, as texts.
func row(ctx context.Context, conn *pgconn.PgConn, sql string, args [][]byte) ([]string, error) {
	r := conn.ExecParams(ctx, sql, args, nil, nil, nil).Read()
	if r.Err != nil || len(r.Rows) != 1 {
		return nil, r.Err
	}
	out := make([]string, len(r.Rows[0]))
	for i, value := range r.Rows[0] {
		out[i] = string(value)
	}
	return out, nil
}

// poolerTries is how often CheckPooler compares. One comparison finds transaction mode unless other clients take the
// session in between.
const poolerTries = 5

// checkPooler returns errPoolMode if the server is a connection pooler that gives a client another session for each
// transaction. A pooler invents the process number of the session that it announces. With one, a second client opens a
// transaction: it must not get the session of the first client, and the first client must still have its own.
func checkPooler(ctx context.Context, cc *pgx.ConnConfig) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	first, err := pgconn.ConnectConfig(ctx, &cc.Config)
	if err != nil {
		return MapError(err)
	}
	defer closeSoon(ctx, first)
	own, err := row(ctx, first, session, nil)
	if err != nil || own[0] == strconv.FormatUint(uint64(first.PID()), 10) {
		return MapError(err)
	}
	second, err := pgconn.ConnectConfig(ctx, &cc.Config)
	if err != nil {
		return MapError(err)
	}
	defer closeSoon(ctx, second)
	for range poolerTries {
		// A pooler that takes sessions in turns shows another one at once; a pooler that takes the last one gives it to
		// the second client.
		if err := keeps(ctx, first, own[0]); err != nil {
			return err
		}
		if _, err := second.Exec(ctx, "begin").ReadAll(); err != nil {
			if strings.Contains(err.Error(), "pooling mode") { // statement mode has no transactions
				return errPoolMode
			}
			return MapError(err)
		}
		other, err := row(ctx, second, session, nil)
		if err != nil {
			return MapError(err)
		}
		if other[0] == own[0] {
			return errPoolMode
		}
		if err := keeps(ctx, first, own[0]); err != nil {
			return err
		}
		if _, err := second.Exec(ctx, "rollback").ReadAll(); err != nil {
			return MapError(err)
		}
	}
	return nil
}

const session = "select pg_backend_pid()"

// keeps returns errPoolMode if the session of a client is not the one that it had.
func keeps(ctx context.Context, conn *pgconn.PgConn, had string) error {
	now, err := row(ctx, conn, session, nil)
	if err == nil && now[0] != had {
		return errPoolMode
	}
	return MapError(err)
}

// closeSoon closes a connection even if ctx has ended.
func closeSoon(ctx context.Context, conn *pgconn.PgConn) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(closing)
}

// CheckPooler returns an Invalid fault if the database is behind a connection pooler in transaction or statement mode.
func (d *DB) CheckPooler(ctx context.Context) error {
	return checkPooler(ctx, d.pool.Config().ConnConfig)
}

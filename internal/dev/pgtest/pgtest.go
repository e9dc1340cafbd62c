package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/dev/pgserver"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/migrations"
)

const (
	// patience bounds every step; the first start may download PostgreSQL.
	patience = 5 * time.Minute
	// leftoverAge is the age after which the database of a killed test is deleted.
	leftoverAge = time.Hour
	lockKey     = 0x69726974 // one preparation at a time per server
)

// server is prepared once per test binary.
var server = sync.OnceValues(prepare)

type ready struct {
	url      string
	template string
}

// New returns a database with all migrations applied, dropped when the test ends.
func New(t testing.TB) *postgres.DB {
	t.Helper()
	return Open(t, URL(t), postgres.Config{})
}

// Open opens a pool on a URL with the test's log and closes it when the test ends. Zero values of c get test defaults.
func Open(t testing.TB, databaseURL string, c postgres.Config) *postgres.DB {
	t.Helper()
	c.URL = databaseURL
	if c.MaxConns == 0 {
		c.MaxConns = 8
	}
	if c.Log == nil {
		c.Log = zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel))
	}
	d, err := postgres.Open(context.Background(), c)
	if err != nil {
		t.Fatalf("open test database: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

// URL returns the URL of a database of the test's own with all migrations applied, dropped when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	r := start(t)
	return create(t, r, " template "+r.template+" strategy file_copy")
}

// EmptyURL returns the URL of a database of the test's own with nothing in it, dropped when the test ends.
func EmptyURL(t testing.TB) string {
	t.Helper()
	return create(t, start(t), "")
}

func start(t testing.TB) ready {
	t.Helper()
	r, err := server()
	if err != nil {
		t.Fatalf("PostgreSQL for tests: %v", err)
	}
	return r
}

func create(t testing.TB, r ready, how string) string {
	t.Helper()
	name := makeDatabase(t, r, how)
	t.Cleanup(func() {
		if err := drop(r, name); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return withDatabase(r.url, name)
}

func makeDatabase(t testing.TB, r ready, how string) string {
	t.Helper()
	name := fmt.Sprintf("iris_test_%d_%s", time.Now().Unix(), randomHex())
	if err := admin(r.url, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "create database "+name+how)
		return err
	}); err != nil {
		t.Fatalf("create test database: %v", err)
	}
	return name
}

func drop(r ready, name string) error {
	return admin(r.url, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "drop database if exists "+name+" with (force)")
		return err
	})
}

func prepare() (ready, error) {
	r := ready{url: os.Getenv("IRIS_DATABASE_URL")}
	if r.url == "" {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		// Never stopped here: the server ends with this process, and the next one removes its files.
		s, err := pgserver.StartTemporary(ctx, pgserver.Config{Fast: true, Progress: func(line string) {
			fmt.Fprintln(os.Stderr, "pgtest:", line)
		}})
		if err != nil {
			return r, err
		}
		r.url = s.URL()
	}
	hash, err := migrationsHash()
	if err != nil {
		return r, err
	}
	r.template = "iris_template_" + hash
	return r, admin(r.url, func(ctx context.Context, c *pgx.Conn) error { return makeTemplate(ctx, c, r) })
}

// makeTemplate builds the template under a lock, in a database that gets its final name when it is complete.
func makeTemplate(ctx context.Context, c *pgx.Conn, r ready) error {
	if _, err := c.Exec(ctx, "select pg_advisory_lock($1)", int64(lockKey)); err != nil {
		return err
	}
	var exists bool
	if err := c.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", r.template).Scan(&exists); err != nil {
		return err
	}
	if exists {
		return nil
	}
	if err := dropLeftovers(ctx, c); err != nil {
		return err
	}
	building := r.template + "_new"
	for _, sql := range []string{"drop database if exists " + building + " with (force)", "create database " + building} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := postgres.Migrate(ctx, withDatabase(r.url, building), nil); err != nil {
		return fmt.Errorf("migrate template: %w", err)
	}
	_, err := c.Exec(ctx, "alter database "+building+" rename to "+r.template)
	return err
}

// dropLeftovers deletes the databases of killed tests.
func dropLeftovers(ctx context.Context, c *pgx.Conn) error {
	rows, err := c.Query(ctx, "select datname from pg_database where datname like 'iris\\_test\\_%'")
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		made, _, _ := strings.Cut(strings.TrimPrefix(name, "iris_test_"), "_")
		seconds, err := strconv.ParseInt(made, 10, 64)
		if err != nil || time.Since(time.Unix(seconds, 0)) < leftoverAge {
			continue
		}
		if _, err := c.Exec(ctx, "drop database if exists "+pgx.Identifier{name}.Sanitize()+" with (force)"); err != nil {
			return err
		}
	}
	return nil
}

// admin runs f on a connection of its own to the server's first database.
func admin(serverURL string, f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, serverURL)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	return f(ctx, c)
}

func migrationsHash() (string, error) {
	h := sha256.New()
	names, err := fs.Glob(migrations.Files, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Files, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// withDatabase returns the URL with another database name. Keyword=value strings get a further keyword, which wins.
func withDatabase(serverURL, name string) string {
	u, err := url.Parse(serverURL)
	if err != nil || u.Scheme == "" {
		return serverURL + " dbname=" + name
	}
	u.Path = "/" + name
	return u.String()
}

func randomHex() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

package postgres

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Errors of the server itself are not the caller's fault and no internal errors: callers should retry.
func TestServerErrorsAreUnavailable(t *testing.T) {
	t.Parallel()
	for code, what := range map[string]string{
		"53100": "disk full", "53200": "out of memory", "53300": "too many connections", "58030": "a disk that fails", "58P01": "a file is gone",
		"57P01": "shut down", "57P03": "starting", "25006": "a standby", "08006": "connection lost",
	} {
		require.True(t, fault.Is(MapError(&pgconn.PgError{Code: code, Message: what}), fault.Unavailable), "%s %s",
			code, what)
	}
	require.True(t, fault.Is(MapError(&pgconn.PgError{Code: "XX000"}), fault.Internal))
}

// A server with a full disk still answers reads. Iris remembers for some time that a write failed.
func TestAFullDiskIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &DB{short: &shortage{}}
		d.short.note(&pgconn.PgError{Code: "23505", Message: "twice"})
		require.NoError(t, d.Shortage())
		d.short.note(fmt.Errorf("write: %w", &pgconn.PgError{Code: "53100",
			Message: "could not extend file: No space left on device"}))
		err := d.Shortage()
		require.True(t, fault.Is(err, fault.Unavailable))
		require.Equal(t, "the database could not store something lately: its disk is full, or fails: could not extend file: No space left on device", Explain(err))
		<-time.After(shortageLasts + time.Second)
		require.NoError(t, d.Shortage())
	})
}

func TestErrorsOfTheDriverAreOneLine(t *testing.T) {
	t.Parallel()
	cause := errors.New("failed to connect to `user=iris`:\n\t10.0.0.1:5432 (db): refused\n\t10.0.0.1:5432 (db): refused\n\t10.0.0.2:5432 (db): read only")
	err := oneLine{cause}
	require.Equal(t, "failed to connect to `user=iris`: 10.0.0.1:5432 (db): refused 10.0.0.2:5432 (db): read only",
		err.Error())
	require.ErrorIs(t, err, cause)

	standby := "failed to connect to `user=iris`:\n\t10.0.0.1:5432 (db): tls error: server refused TLS connection\n\t10.0.0.1:5432 (db): ValidateConnect failed: read only connection"
	require.Equal(t, "failed to connect to `user=iris`: 10.0.0.1:5432 (db): it takes no writes: a standby, or default_transaction_read_only is on",
		oneLine{errors.New(standby)}.Error())
	plain := "failed to connect to `user=iris`:\n\t10.0.0.1:5432 (db): tls error: server refused TLS connection"
	require.Contains(t, oneLine{errors.New(plain)}.Error(), "refused TLS", "where TLS is required that is the reason")
}

// If a server answers but accepts no writes, the error says so, even if another server is down.
func TestAStandbyIsNamedInTheError(t *testing.T) {
	t.Parallel()
	down := &net.OpError{Op: "dial", Err: errors.New("refused")}
	err := MapError(fmt.Errorf("a:\n%w\nb: ValidateConnect failed: read only connection", down))
	require.Equal(t, "the database cannot be reached: a: dial: refused b: it takes no writes: a standby, or default_transaction_read_only is on", Explain(err))
	require.Equal(t, "the database cannot be reached: dial: refused", Explain(MapError(fmt.Errorf("a:\n%w", down))))
}

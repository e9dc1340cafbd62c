package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// ErrApplicationChanged refuses a request whose application does not have the version that the request names. Nothing
// was stored.
var ErrApplicationChanged = fault.New(fault.Stale, "the application was changed meanwhile, send the request again")

// SqlState returns the five-character code the server gave, "" for errors that did not come from the server.
func SqlState(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// MapError turns an error of pgx into a fault that wraps it. The message never holds SQL.
func MapError(err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	if errors.Is(err, errPoolMode) {
		return errPoolMode // without the driver's text around it
	}
	if errors.As(err, &f) {
		return err
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.Wrap(fault.NotFound, err, "not found")
	}
	if errors.Is(err, context.Canceled) {
		return fault.Wrap(fault.Unavailable, err, "it was stopped before the database had answered")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Unavailable, err, "the database did not answer in time")
	}
	var pe *pgconn.PgError
	var ce *pgconn.ConnectError
	if errors.As(err, &pe) {
		if mapped := mapState(pe, err); !fault.Is(mapped, fault.Internal) || !errors.As(err, &ce) {
			return mapped
		}
	}
	var ne net.Error
	if errors.As(err, &ce) || errors.As(err, &ne) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) || brokenConnection(err) {
		return fault.Wrap(fault.Unavailable, oneLine{err}, "the database cannot be reached")
	}
	return fault.Wrap(fault.Internal, err, "internal error")
}

const takesNoWrites = "it takes no writes: a standby, or default_transaction_read_only is on"

// oneLine formats an error of the driver on one line. The driver's text has a line for every address that it tried,
// often repeated.
type oneLine struct{ error }

func (e oneLine) Error() string {
	var said []string
	text := strings.ReplaceAll(e.error.Error(), "ValidateConnect failed: read only connection", takesNoWrites)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	// Without sslmode the driver tries TLS first; the reason is in the error of the second try.
	if rest := slices.DeleteFunc(slices.Clone(said), func(s string) bool { return strings.HasSuffix(s, "server refused TLS connection") }); len(rest) > 1 {
		said = rest
	}
	return strings.Join(said, " ")
}

func (e oneLine) Unwrap() error { return e.error }

func mapState(pe *pgconn.PgError, err error) error {
	switch pe.Code {
	case "23505", "23P01":
		return fault.Wrap(fault.Conflict, err, "it exists already")
	case "23503":
		if strings.HasPrefix(pe.Message, "insert or update") {
			return fault.Wrap(fault.Invalid, err, "it refers to something that does not exist")
		}
		return fault.Wrap(fault.Conflict, err, "it is still in use")
	case "23502", "23514":
		return fault.Wrap(fault.Invalid, err, "a value is missing or not allowed")
	case "40P01", "40001", LockTimeout:
		return fault.Wrap(fault.Unavailable, err, "the database is busy, try again")
	case queryCanceled:
		return fault.Wrap(fault.Unavailable, err, "the database did not answer in time")
	case "42P01", "42703", "42883":
		return fault.Wrap(fault.Unavailable, err, "the database schema does not fit this version, run: iris migrate")
	case "25006", "28000", "28P01", "3D000":
		return fault.Wrap(fault.Unavailable, err, "the database cannot be used")
	}
	switch pe.Code[:min(2, len(pe.Code))] {
	case "22":
		return fault.Wrap(fault.Invalid, err, "a value cannot be stored")
	case "54":
		return fault.Wrap(fault.Invalid, err, "a value is too long")
	case "08", "53", "57", "58": // 53 and 58: disk full, too many connections, disk failure
		return fault.Wrap(fault.Unavailable, err, "the database cannot be reached")
	}
	return fault.Wrap(fault.Internal, err, "internal error")
}

// brokenConnection reports whether an error means that the connection was lost during a statement.
func brokenConnection(err error) bool {
	if errors.Is(err, net.ErrClosed) {
		return true
	}
	s := err.Error()
	return strings.Contains(s, "conn closed") || strings.Contains(s, "unexpected EOF") ||
		strings.Contains(s, "closed pool") || strings.Contains(s, "broken pipe") ||
		strings.Contains(s, "connection reset")
}

// LockTries is how many times a change waits for a lock, each time until the lock timeout.
const LockTries = 4

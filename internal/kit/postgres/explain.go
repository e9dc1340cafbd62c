package postgres

import (
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// CheckURL returns an Invalid fault that holds no secret if databaseURL is not a PostgreSQL URL. It does not connect.
func CheckURL(databaseURL string) error {
	if _, err := pgxpool.ParseConfig(databaseURL); err != nil {
		return malformedURL(err)
	}
	return nil
}

// Explain formats an error for the operator, on one line: what failed and, if the database or the network is the
// reason, the server's own text. Other people see fault.Public only.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	message := fault.Public(f)
	var server *pgconn.PgError
	switch {
	case f.Err == nil:
	case f.Kind == fault.Internal && errors.As(f.Err, &server):
		message = "the database refused: " + server.Message
		if server.Code == "42501" {
			message += " (let the user of Iris own its database: alter database NAME owner to USER)"
		}
	case f.Kind == fault.Unavailable || f.Kind == fault.Internal:
		message += ": " + cause(f.Err)
	}
	return strings.Replace(err.Error(), f.Error(), message, 1) // the text around the fault stays
}

// cause returns the useful part of an error of the driver, whose text is repeated for every address that it tried.
func cause(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Message
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return "the host name " + name.Name + " cannot be resolved (" + name.Err + ")"
	}
	var op *net.OpError
	if errors.As(err, &op) && !strings.Contains(err.Error(), takesNoWrites) { // one of several servers answered
		return op.Error()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

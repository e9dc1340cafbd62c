package postgres

import (
	"errors"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/iris-oncall/iris/internal/fault"
)

// CheckURL returns an Invalid fault that holds no secret if databaseURL is no address of a PostgreSQL. It connects to nothing.
func CheckURL(databaseURL string) error {
	if _, err := pgxpool.ParseConfig(databaseURL); err != nil {
		return malformedURL(err)
	}
	return nil
}

// Explain words an error for the operator of this installation, on one line: what cannot be done and, where the database
// or the way to it is the reason, the server's own word. What others may see is fault.Public.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	words := fault.Public(f)
	var server *pgconn.PgError
	switch {
	case f.Err == nil:
	case f.Kind == fault.Internal && errors.As(f.Err, &server):
		words = "the database refused: " + server.Message
		if server.Code == "42501" {
			words += " (let the user of Iris own its database: alter database NAME owner to USER)"
		}
	case f.Kind == fault.Unavailable || f.Kind == fault.Internal:
		words += ": " + cause(f.Err)
	}
	return strings.Replace(err.Error(), f.Error(), words, 1) // what was said around the fault stays
}

// cause finds what is worth reading in an error of the driver, which repeats itself for every way that it tried.
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
	if errors.As(err, &op) && !strings.Contains(err.Error(), takesNoWrites) { // of several servers, one is up
		return op.Error()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

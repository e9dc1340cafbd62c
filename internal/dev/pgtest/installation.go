package pgtest

import (
	"testing"

	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// Installation returns the installation of a test database, with the keys that are derived from its secret.
func Installation(t testing.TB, d *postgres.DB) pgauth.Installation {
	t.Helper()
	in, err := pgauth.LoadInstallation(t.Context(), d, "", nil)
	if err != nil {
		t.Fatalf("load installation: %v", err)
	}
	return in
}

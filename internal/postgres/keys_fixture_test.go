package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/postgres"
)

func testKeys(t testing.TB, d *postgres.DB) *auth.Keys {
	t.Helper()
	inst, err := postgres.LoadInstallation(t.Context(), d, "", nil)
	require.NoError(t, err)
	return inst.Keys
}

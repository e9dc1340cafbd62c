package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
)

// What goes wrong with the server itself is never the caller's mistake nor ours: requests are to come again.
func TestTroubleOfTheServerIsUnavailable(t *testing.T) {
	t.Parallel()
	for code, what := range map[string]string{
		"53100": "disk full", "53200": "out of memory", "53300": "too many connections", "58030": "a disk that fails", "58P01": "a file is gone",
		"57P01": "shut down", "57P03": "starting", "25006": "a standby", "08006": "connection lost",
	} {
		require.True(t, fault.Is(mapError(&pgconn.PgError{Code: code, Message: what}), fault.Unavailable), "%s %s", code, what)
	}
	require.True(t, fault.Is(mapError(&pgconn.PgError{Code: "XX000"}), fault.Internal))
}

func TestErrorsOfTheDriverAreOneLine(t *testing.T) {
	t.Parallel()
	cause := errors.New("failed to connect to `user=iris`:\n\t10.0.0.1:5432 (db): refused\n\t10.0.0.1:5432 (db): refused\n\t10.0.0.2:5432 (db): read only")
	err := oneLine{cause}
	require.Equal(t, "failed to connect to `user=iris`: 10.0.0.1:5432 (db): refused 10.0.0.2:5432 (db): read only", err.Error())
	require.ErrorIs(t, err, cause)
}

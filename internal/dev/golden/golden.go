// Package golden compares results of tests with files in testdata. It defines the flag -update for all test packages
// that import it: `go test ./internal/intake/... -update` writes the files again. A test package without golden files
// imports it only for the flag.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files again")

// Equal fails the test unless the file has the text got. With -update it writes got to the file first.
func Equal(t testing.TB, file, got string, args ...any) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644)) //nolint:gosec // a file of the repository
	}
	want, err := os.ReadFile(file) //nolint:gosec // a file of the repository
	require.NoError(t, err)
	require.Equal(t, string(want), got, args...)
}

package site

import (
	"io/fs"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// html/template escapes what is in a query itself: with path, "my app" would become my%2520app.
func TestQueriesOfAddressesAreEscapedOnce(t *testing.T) {
	t.Parallel()
	twice := regexp.MustCompile(`(href|action|src|hx-get)="[^"]*\?[^"]*\{\{path `)
	names, err := fs.Glob(files, "templates/*.html")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		body, err := fs.ReadFile(files, name)
		require.NoError(t, err)
		require.Empty(t, twice.FindString(string(body)), name)
	}
}

package walls

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const top = "../../"

// TestTheMapIsOfThisTree compares ARCHITECTURE.md with the tree: every package of internal/ has a line in the map, and
// every path that the page names exists.
func TestTheMapIsOfThisTree(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(top + "ARCHITECTURE.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "\n## The map\n")
	require.True(t, found, "the page has a map")
	section, _, _ := strings.Cut(after, "\n## ")
	var drawn []string
	for _, row := range regexp.MustCompile("(?m)^\\| `internal/([a-z]+)` \\|").FindAllStringSubmatch(section, -1) {
		drawn = append(drawn, row[1])
	}
	entries, err := os.ReadDir(top + "internal")
	require.NoError(t, err)
	var built []string
	for _, e := range entries {
		built = append(built, e.Name())
	}
	require.ElementsMatch(t, built, drawn, "rows of the map and folders of internal/")

	for _, path := range regexp.MustCompile("`((?:internal|cmd|docs|test|migrations|deploy)(?:/[^` ]*)?)`").FindAllStringSubmatch(string(page), -1) {
		there, err := filepath.Glob(top + path[1])
		require.NoError(t, err)
		require.NotEmpty(t, there, "ARCHITECTURE.md names %s", path[1])
	}
}

// TestTheReasonsOfDependenciesAreWritten compares docs/contributing/dependencies.md with the direct dependencies of
// go.mod.
func TestTheReasonsOfDependenciesAreWritten(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(top + "docs/contributing/dependencies.md")
	require.NoError(t, err)
	var written, direct []string
	for _, module := range regexp.MustCompile("`([a-z0-9.-]+\\.[a-z]+/[^` ]+)`").FindAllStringSubmatch(string(page), -1) {
		if !strings.HasPrefix(module[1], "test/") {
			written = append(written, module[1])
		}
	}
	file, err := os.ReadFile(top + "go.mod")
	require.NoError(t, err)
	for _, line := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+/\S+) v\S+$`).FindAllStringSubmatch(string(file), -1) {
		direct = append(direct, line[1])
	}
	require.NotEmpty(t, direct)
	require.ElementsMatch(t, direct, written)
}

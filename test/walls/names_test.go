package walls

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// comparison matches comparisons of text without case, in Go and in SQL. Comments do not count.
var comparison = regexp.MustCompile(`(?i)EqualFold\(|\bToLower\(|\bToUpper\(|cases\.|\blower\(|\bupper\(|\bilike\b|\bcitext\b`)

// peopled are the packages that compare user names. In the others a comparison cannot be one of users.
var peopled = regexp.MustCompile(`^(cmd|migrations|internal/(auth/[a-z_]+\.go|catalog|users|web|answers|program|legacy|oncall|kit/postgres|incidents/load|[a-z]+/pages|[a-z]+/pg)(/|$))`)

// aboutPeople are the queries and code of the database in which a comparison can be one of users; plans, templates and
// the like are compared in the others.
var aboutPeople = regexp.MustCompile(`/(people|oncall_people|directory|directory_sync|lists|devices|responses|applications|users|sessions)\.(sql|go): |users|u\.name|user_contacts|destination`)

// TestEveryComparisonOfNamesIsListed compares the case-insensitive comparisons of the tree with the list in
// testdata/name_comparisons.txt. People are compared by id (see auth.Actor): a comparison of user names in Go that
// decides what somebody may do let one user become another, because Go and PostgreSQL fold different characters. A new
// comparison needs a line "file: code" below the heading that says why it is safe.
func TestEveryComparisonOfNamesIsListed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/name_comparisons.txt")
	require.NoError(t, err)
	var want []string
	reason := ""
	for line := range strings.Lines(string(raw)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case strings.HasPrefix(line, "# "):
			reason = line
		default:
			require.NotEmpty(t, reason, "a line before the first reason: %s", line)
			want = append(want, line)
		}
	}
	var have []string
	for _, root := range []string{"internal", "cmd", "migrations"} {
		err := filepath.WalkDir(top+root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if !peopled.MatchString(strings.TrimPrefix(path, top)) || strings.Contains(path, "postgres/db/") ||
				strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".sql") {
				return nil
			}
			source, err := os.ReadFile(path)
			for line := range strings.Lines(string(source)) {
				code := strings.TrimSpace(strings.SplitN(strings.SplitN(line, "-- ", 2)[0], "// ", 2)[0])
				found := strings.TrimPrefix(path, top) + ": " + strings.Join(strings.Fields(code), " ")
				stored := strings.HasPrefix(found, "internal/kit/postgres/") || strings.Contains(found, "/pg/") ||
					strings.HasPrefix(found, "migrations/")
				if comparison.MatchString(code) && (!stored || aboutPeople.MatchString(found)) {
					have = append(have, found)
				}
			}
			return err
		})
		require.NoError(t, err)
	}
	slices.Sort(want)
	slices.Sort(have)
	var unlisted, gone []string
	for _, line := range have {
		if i, found := slices.BinarySearch(want, line); found {
			want = slices.Delete(want, i, i+1)
		} else {
			unlisted = append(unlisted, line)
		}
	}
	gone = want
	require.Empty(t, unlisted, "compares text without its case: do not compare users by name, and list it with its reason in test/walls/testdata/name_comparisons.txt")
	require.Empty(t, gone, "are listed in test/walls/testdata/name_comparisons.txt and no longer in the tree: remove them there")
}

// Package walls checks imports and sizes of packages (ARCHITECTURE.md, "The walls"), the map of packages, and the glossary.
package walls

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const own = "github.com/iris-oncall/iris/"

type pkg struct {
	ImportPath string
	Imports    []string
}

func load(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", own+"...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		p.ImportPath = strings.TrimPrefix(p.ImportPath, own)
		pkgs = append(pkgs, p)
	}
	require.Greater(t, len(pkgs), 10, "the packages of the repository")
	return pkgs
}

func under(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

var (
	domains = []string{"internal/kit/fault", "internal/kit/etag", "internal/kit/cache", "internal/kit/batch", "internal/kit/humanize", "internal/kit/hours", "internal/kit/clock", "internal/kit/recurrence", "internal/kit/clock", "internal/kit/filters", "internal/users", "internal/incidents", "internal/oncall",
		"internal/messages", "internal/escalation", "internal/catalog/applications", "internal/oncall/ical", "jinja", "internal/users/directory", "internal/auth/tokens", "internal/auth/accounts", "internal/kit/audit"}
	edge = []string{"internal/program/apiserver", "internal/legacy/irisapi", "internal/legacy/oncallapi", "internal/program/site", "internal/legacy/webhooks", "internal/intake/hooks", "internal/auth/scimapi", "internal/intake/smtpd", "internal/answers", "internal/delivery",
		"internal/vendors", "internal/kit/postgres"}
	programs = []string{"internal/program", "internal/program/database", "internal/program/health", "internal/program/jobs", "internal/program/login", "internal/program/operator", "internal/dev/bench", "internal/kit/postgres"}
	routes   = []string{"internal/program/apiserver", "internal/legacy/irisapi", "internal/legacy/oncallapi", "internal/program/site", "internal/legacy/webhooks", "internal/intake/hooks", "internal/auth/scimapi", "internal/answers", "internal/web/wire", "internal/program"}
)

// wings are the features that have all their rooms in one folder: the wing itself, pg and pages.
var wings = []string{"internal/catalog", "internal/silences"}

// isRoom reports whether a package is that room of a wing.
func isRoom(path, room string) bool {
	wing, ok := strings.CutSuffix(path, "/"+room)
	return ok && slices.Contains(wings, wing)
}

func TestWalls(t *testing.T) {
	t.Parallel()
	for _, p := range load(t) {
		for _, imp := range p.Imports {
			inner, isOwn := strings.CutPrefix(imp, own)
			if under(p.ImportPath, domains...) && !under(p.ImportPath, "internal/users/directory/ldap", "internal/program/directories") {
				require.NotEqual(t, "net/http", imp, "%s is a domain and knows no transport", p.ImportPath)
				// Bucket numbers, sets and leases are plain values that the runner uses.
				shared := under(p.ImportPath, "internal/escalation") && inner == "internal/buckets" || inner == "internal/kit/metrics"
				require.False(t, isOwn && (!under(inner, domains...) || inner == "internal/users/directory/ldap") && !shared, "%s is a domain and may not import %s", p.ImportPath, inner)
			}
			if strings.HasPrefix(imp, "github.com/jackc/pgx") {
				require.True(t, isRoom(p.ImportPath, "pg") || under(p.ImportPath, "internal/kit/postgres", "internal/dev/pgserver"), "%s may not import pgx", p.ImportPath)
			}
			if imp == "github.com/hashicorp/memberlist" {
				require.True(t, under(p.ImportPath, "internal/buckets"), "%s may not import memberlist", p.ImportPath)
			}
			if imp == "github.com/slack-go/slack" {
				require.True(t, under(p.ImportPath, "internal/vendors/slack", "internal/dev/pretend"), "%s may not import slack-go", p.ImportPath)
			}
			if strings.HasPrefix(imp, "github.com/go-ldap") {
				require.Equal(t, "internal/users/directory/ldap", p.ImportPath, "%s may not import go-ldap", p.ImportPath)
			}
			if strings.HasPrefix(imp, "github.com/go-sql-driver") {
				require.True(t, under(p.ImportPath, "internal/legacy/imports"), "%s may not import the MySQL driver", p.ImportPath)
			}
			if strings.HasPrefix(imp, "github.com/go-chi/chi") {
				require.True(t, isRoom(p.ImportPath, "pages") || under(p.ImportPath, routes...), "%s may not import chi", p.ImportPath)
			}
			if !isOwn {
				continue
			}
			if inner == "internal/users/directory/ldap" {
				require.Equal(t, "internal/program/directories", p.ImportPath, "%s may not ask LDAP servers", p.ImportPath)
			}
			if under(p.ImportPath, "jinja") {
				require.True(t, under(inner, "jinja"), "%s is part of a library and may not import %s", p.ImportPath, inner)
			}
			if under(p.ImportPath, "internal/legacy/imports") {
				require.True(t, under(inner, append(domains, "internal/legacy/imports")...), "%s takes data over and may not import %s", p.ImportPath, inner)
			}
			if inner == "internal/kit/postgres/db" {
				require.True(t, isRoom(p.ImportPath, "pg") || under(p.ImportPath, "internal/kit/postgres"), "%s may not import generated statements", p.ImportPath)
			}
			if under(inner, "internal/kit/postgres") {
				require.True(t, isRoom(p.ImportPath, "pg") || under(p.ImportPath, programs...), "%s may not import postgres", p.ImportPath)
			}
			require.False(t, under(p.ImportPath, "internal/kit/operation") && !under(inner, "internal/kit/fault", "internal/kit/etag"), "%s knows no wing and no transport and may not import %s", p.ImportPath, inner)
			require.False(t, under(p.ImportPath, wings...) && !isRoom(p.ImportPath, "pg") && isRoom(inner, "pg"), "%s may not import the storage %s", p.ImportPath, inner)
			require.False(t, slices.Contains(wings, p.ImportPath) && (isRoom(inner, "pages") || under(inner, "internal/web/mount", "internal/web/wire", "internal/program/site", "internal/vendors")),
				"%s is a wing and may not import the door %s", p.ImportPath, inner)
			require.False(t, under(inner, "internal/dev/pgtest", "internal/dev/vendortest", "internal/program/servertest", "internal/legacy/irisapi/v0test",
				"internal/dev/golden"), "%s imports test support %s", p.ImportPath, inner)
			if under(p.ImportPath, edge...) && under(inner, edge...) && root(p.ImportPath) != root(inner) {
				allowed := under(p.ImportPath, "internal/kit/postgres") && (inner == "internal/delivery" || inner == "internal/delivery")
				require.True(t, allowed, "%s and %s are siblings at the edge", p.ImportPath, inner)
			}
		}
	}
}

func root(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:2], "/")
}

// TestPackagesOfIntakeKnowUpdate checks that `go test ./internal/intake/... -update` works: a test program that does not define the
// flag fails. internal/dev/golden defines it.
func TestPackagesOfIntakeKnowUpdate(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.TestImports}} {{.XTestImports}}", own+"internal/intake/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, " [] []") {
			require.Contains(t, line, own+"internal/dev/golden", "import it in a test, for the flag -update")
		}
	}
}

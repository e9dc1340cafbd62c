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
	domains = []string{"internal/fault", "internal/etag", "internal/cache", "internal/batch", "internal/humanize", "internal/hours", "internal/instant", "internal/recurrence", "internal/clock", "internal/filters", "internal/users", "internal/incidents", "internal/oncall",
		"internal/messages", "internal/escalation", "internal/applications", "internal/ical", "internal/jinja", "internal/directory", "internal/tokens", "internal/accounts", "internal/audit"}
	edge = []string{"internal/api", "internal/irisapi", "internal/oncallapi", "internal/web", "internal/webhooks", "internal/hooks", "internal/scimapi", "internal/smtpd", "internal/responses", "internal/delivery",
		"internal/vendors", "internal/postgres"}
	programs = []string{"internal/app", "internal/database", "internal/health", "internal/jobs", "internal/login", "internal/operator", "internal/bench", "internal/postgres"}
	routes   = []string{"internal/api", "internal/irisapi", "internal/oncallapi", "internal/web", "internal/webhooks", "internal/hooks", "internal/scimapi", "internal/responses", "internal/wire", "internal/app"}
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
			if under(p.ImportPath, domains...) && !under(p.ImportPath, "internal/directory/ldap", "internal/directory/connect") {
				require.NotEqual(t, "net/http", imp, "%s is a domain and knows no transport", p.ImportPath)
				// Bucket numbers, sets and leases are plain values that the runner uses.
				shared := under(p.ImportPath, "internal/escalation") && inner == "internal/buckets" || inner == "internal/metrics"
				require.False(t, isOwn && (!under(inner, domains...) || inner == "internal/directory/ldap") && !shared, "%s is a domain and may not import %s", p.ImportPath, inner)
			}
			if strings.HasPrefix(imp, "github.com/jackc/pgx") {
				require.True(t, isRoom(p.ImportPath, "pg") || under(p.ImportPath, "internal/postgres", "internal/pgserver"), "%s may not import pgx", p.ImportPath)
			}
			if imp == "github.com/hashicorp/memberlist" {
				require.True(t, under(p.ImportPath, "internal/buckets"), "%s may not import memberlist", p.ImportPath)
			}
			if imp == "github.com/slack-go/slack" {
				require.True(t, under(p.ImportPath, "internal/vendors/slack", "internal/vendors/pretend"), "%s may not import slack-go", p.ImportPath)
			}
			if strings.HasPrefix(imp, "github.com/go-ldap") {
				require.Equal(t, "internal/directory/ldap", p.ImportPath, "%s may not import go-ldap", p.ImportPath)
			}
			if strings.HasPrefix(imp, "github.com/go-sql-driver") {
				require.True(t, under(p.ImportPath, "internal/imports"), "%s may not import the MySQL driver", p.ImportPath)
			}
			if strings.HasPrefix(imp, "github.com/go-chi/chi") {
				require.True(t, isRoom(p.ImportPath, "pages") || under(p.ImportPath, routes...), "%s may not import chi", p.ImportPath)
			}
			if !isOwn {
				continue
			}
			if inner == "internal/directory/ldap" {
				require.Equal(t, "internal/directory/connect", p.ImportPath, "%s may not ask LDAP servers", p.ImportPath)
			}
			if under(p.ImportPath, "internal/jinja") {
				require.True(t, under(inner, "internal/jinja"), "%s is part of a library and may not import %s", p.ImportPath, inner)
			}
			if under(p.ImportPath, "internal/imports") {
				require.True(t, under(inner, append(domains, "internal/imports")...), "%s takes data over and may not import %s", p.ImportPath, inner)
			}
			if inner == "internal/postgres/db" {
				require.True(t, isRoom(p.ImportPath, "pg") || under(p.ImportPath, "internal/postgres"), "%s may not import generated statements", p.ImportPath)
			}
			if under(inner, "internal/postgres") {
				require.True(t, isRoom(p.ImportPath, "pg") || under(p.ImportPath, programs...), "%s may not import postgres", p.ImportPath)
			}
			require.False(t, under(p.ImportPath, "internal/kit/operation") && !under(inner, "internal/fault", "internal/etag"), "%s knows no wing and no transport and may not import %s", p.ImportPath, inner)
			require.False(t, under(p.ImportPath, wings...) && !isRoom(p.ImportPath, "pg") && isRoom(inner, "pg"), "%s may not import the storage %s", p.ImportPath, inner)
			require.False(t, slices.Contains(wings, p.ImportPath) && (isRoom(inner, "pages") || under(inner, "internal/kit/kithttp", "internal/wire", "internal/web", "internal/vendors")),
				"%s is a wing and may not import the door %s", p.ImportPath, inner)
			require.False(t, under(inner, "internal/postgres/pgtest", "internal/vendors/vendortest", "internal/app/servertest", "internal/irisapi/v0/v0test",
				"internal/golden"), "%s imports test support %s", p.ImportPath, inner)
			if under(p.ImportPath, edge...) && under(inner, edge...) && root(p.ImportPath) != root(inner) {
				allowed := under(p.ImportPath, "internal/postgres") && (inner == "internal/delivery" || inner == "internal/delivery/history")
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
// flag fails. internal/golden defines it.
func TestPackagesOfIntakeKnowUpdate(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.TestImports}} {{.XTestImports}}", own+"internal/intake/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, " [] []") {
			require.Contains(t, line, own+"internal/golden", "import it in a test, for the flag -update")
		}
	}
}

// Package walls checks imports (ARCHITECTURE.md, "The walls"), the map of packages, and the glossary.
package walls

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
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

// order is the direction of the wings: each imports those before it. ARCHITECTURE.md has the same order. The wings in
// free import all.
var (
	order = []string{"kit", "buckets", "users", "auth", "web", "incidents", "messages", "oncall", "delivery",
		"escalation", "catalog",
		"notifications", "silences", "vendors", "answers", "intake", "system"}
	free = []string{"legacy", "program", "dev"}
)

// doors are packages that take requests, besides the rooms pages. No other package of a wing may import one.
var doors = []string{"internal/web", "internal/answers", "internal/intake/hooks", "internal/intake/smtpd",
	"internal/auth/scimapi",
	"internal/auth/signon", "internal/escalation/reach", "internal/oncall/requests"}

// clients are packages of wings that use the network: they call other systems.
var clients = []string{"internal/vendors", "internal/users/directory/ldap", "internal/auth/sso/oidc",
	"internal/intake/signatures"}

// testSupport may be imported by tests only.
var testSupport = []string{"internal/dev/pgtest", "internal/dev/vendortest", "internal/dev/golden",
	"internal/dev/testlog",
	"internal/program/servertest", "internal/legacy/irisapi/v0test"}

// only names the packages that may import a driver or client library.
var only = []struct {
	library string
	by      func(path string) bool
}{
	{"github.com/jackc/pgx", func(p string) bool {
		return isRoom(p, "pg") || under(p, "internal/kit/postgres", "internal/kit/auditlog", "internal/dev/pgserver",
			"internal/dev/pgtest")
	}},
	{own + "internal/kit/postgres/db", func(p string) bool {
		return isRoom(p, "pg") || under(p, "internal/kit/postgres", "internal/kit/auditlog", "internal/dev/pgtest")
	}},
	{"github.com/hashicorp/memberlist", func(p string) bool { return p == "internal/buckets" }},
	{"github.com/slack-go/slack", func(p string) bool {
		return under(p, "internal/vendors/slack",
			"internal/dev/pretend")
	}},
	{"github.com/go-ldap", func(p string) bool { return p == "internal/users/directory/ldap" }},
	{own + "internal/users/directory/ldap", func(p string) bool { return p == "internal/program/directories" }},
	{"github.com/go-sql-driver", func(p string) bool { return under(p, "internal/legacy") }},
	{"github.com/rickar/cal", func(p string) bool { return p == "internal/oncall/countries" }},
	{"github.com/go-chi/chi", func(p string) bool {
		return isDoor(p) || under(p, "internal/legacy", "internal/program", "internal/dev")
	}},
}

func wing(path string) string {
	return strings.SplitN(strings.TrimPrefix(path, "internal/"), "/", 2)[0]
}

// isRoom reports whether a package is that room of a wing, such as pg.
func isRoom(path, room string) bool { return path == "internal/"+wing(path)+"/"+room }

func isDoor(path string) bool { return isRoom(path, "pages") || under(path, doors...) }

// mayImport returns why one package of ours may not import another; "" = it may.
func mayImport(from, to string) string {
	a, b := wing(from), wing(to)
	switch {
	case under(to, testSupport...) && !under(from, testSupport...):
		return "test support is for tests"
	case slices.Contains(free, a):
		return ""
	case slices.Contains(free, b):
		return "a wing knows no " + b
	case isDoor(from):
		if isRoom(to, "pg") || under(to, "internal/kit/postgres") {
			return "a door knows no storage"
		}
		return ""
	case isDoor(to) && !isRoom(from, "pg"):
		return "a wing knows no door"
	case (isRoom(from, "pg") || from == "internal/kit/postgres/db") && !isRoom(to, "pg"):
		return "" // storage has the types of all wings, the generated code too
	case isRoom(to, "pg") && !isRoom(from, "pg"):
		return "a wing knows no storage"
	case a != "kit" && !isRoom(from, "pg") && under(to, "internal/kit/postgres", "internal/kit/auditlog"):
		return "a wing knows no storage"
	case slices.Index(order, b) > slices.Index(order, a):
		return "the order of wings is " + a + ", then " + b
	}
	return ""
}

func TestWalls(t *testing.T) {
	t.Parallel()
	for _, p := range load(t) {
		path := p.ImportPath
		// Operations name methods and statuses.
		named := slices.Contains(p.Imports, own+"internal/kit/operation")
		for _, imp := range p.Imports {
			for _, o := range only {
				require.False(t, strings.HasPrefix(imp, o.library) && !o.by(path), "%s may not import %s", path, imp)
			}
			inner, isOwn := strings.CutPrefix(imp, own)
			require.False(t, isOwn && under(path, "jinja") && !under(inner, "jinja"),
				"%s is part of a library and may not import %s", path, inner)
			if !under(path, "internal") {
				continue
			}
			require.False(t, imp == "net/http" && slices.Contains(order, wing(path)) && wing(path) != "kit" &&
				!isDoor(path) && !named && !under(path, clients...),
				"%s is no door and may not import net/http", path)
			if !isOwn || !under(inner, "internal") {
				continue
			}
			why := mayImport(path, inner)
			require.Empty(t, why, "%s may not import %s: %s", path, inner, why)
		}
	}
}

// TestPackagesHaveNamesOfTheirOwn checks that no two packages have one name, except the rooms pg and pages.
func TestPackagesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, p := range load(t) {
		name := path.Base(p.ImportPath)
		if name == "pg" || name == "pages" {
			continue
		}
		require.Empty(t, seen[name], "%s has the name of another package", p.ImportPath)
		seen[name] = p.ImportPath
	}
}

// TestThePageNamesTheOrder compares the order of the wings with ARCHITECTURE.md, and with the folders of internal.
func TestThePageNamesTheOrder(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(top + "ARCHITECTURE.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(page)), " "), strings.Join(order, ", "))
	entries, err := os.ReadDir(top + "internal")
	require.NoError(t, err)
	var built []string
	for _, e := range entries {
		built = append(built, e.Name())
	}
	require.ElementsMatch(t, slices.Concat(order, free), built)
}

// TestPackagesOfIntakeKnowUpdate checks that `go test ./internal/intake/... -update` works: a test program that does
// not define the flag fails. internal/dev/golden defines it.
func TestPackagesOfIntakeKnowUpdate(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.TestImports}} {{.XTestImports}}",
		own+"internal/intake/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, " [] []") {
			require.Contains(t, line, own+"internal/dev/golden", "import it in a test, for the flag -update")
		}
	}
}

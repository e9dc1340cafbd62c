package walls

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStructsHoldNoContextAndPackagesNoState checks what ARCHITECTURE.md, "The walls", says about state.
func TestStructsHoldNoContextAndPackagesNoState(t *testing.T) {
	t.Parallel()
	var faults []string
	for _, p := range readSources(t, token.NewFileSet()) {
		for file, f := range p.files {
			if n := contextFields(f); n > 0 {
				faults = append(faults, fmt.Sprintf("%s: %d fields of structs hold a context; pass it as the first parameter", file, n))
			}
		}
		for _, name := range p.mutableVariables() {
			if p.path == "internal/dev/pgtest" && name == "server" {
				continue // one PostgreSQL for all tests of a process
			}
			if p.path == "internal/kit/audit" && name == "actions" {
				continue // filled by the declarations of the actions, so that no second list repeats them
			}
			faults = append(faults, fmt.Sprintf("%s: the package variable %s holds state; move it into a struct",
				p.path, name))
		}
	}
	slices.Sort(faults)
	require.Empty(t, strings.Join(faults, "\n"))
}

// source is the code of a package without its tests.
type source struct {
	path  string // of its folder, from the top of the repository
	files map[string]*ast.File
}

func readSources(t *testing.T, set *token.FileSet) []*source {
	t.Helper()
	byPath := map[string]*source{}
	for _, root := range []string{"cmd", "internal", "migrations", "test"} {
		require.NoError(t, filepath.WalkDir(top+root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			f, err := parser.ParseFile(set, file, raw, parser.ParseComments)
			if err != nil || ast.IsGenerated(f) {
				return err
			}
			file = filepath.ToSlash(strings.TrimPrefix(file, top))
			p := byPath[path.Dir(file)]
			if p == nil {
				p = &source{path: path.Dir(file), files: map[string]*ast.File{}}
				byPath[p.path] = p
			}
			p.files[file] = f
			return nil
		}))
	}
	require.Greater(t, len(byPath), 10, "the packages of the repository")
	return slices.Collect(maps.Values(byPath))
}

// contextFields counts the fields of structs that hold a context.
func contextFields(f *ast.File) int {
	count := 0
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range s.Fields.List {
			itself := len(field.Names) == 0 && len(s.Fields.List) == 1 // a context that changes another one
			if isSelector(field.Type, "context", "Context") && !itself {
				count += max(1, len(field.Names))
			}
		}
		return true
	})
	return count
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && s.Sel.Name == name
}

// state are the calls whose results change or differ from one process to the next. A value that is computed from
// constants is as good as a constant.
var state = regexp.MustCompile(`^(make|new|sync\..*|atomic\..*|rand\..*|os\..*|time\.Now)$`)

// mutableVariables returns the names of package variables that are more than constants, sentinels, compiled expressions
// and embedded files: those without a value, those with state, and those that a function assigns to.
func (p *source) mutableVariables() []string {
	variables := map[string]bool{} // by name: is it mutable
	for _, f := range p.files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.ValueSpec)
				embedded := isEmbed(g.Doc) || isEmbed(spec.Doc)
				for i, name := range spec.Names {
					if name.Name == "_" {
						continue
					}
					variables[name.Name] = !embedded && (len(spec.Values) != len(spec.Names) ||
						!isFixed(spec.Values[i]))
				}
			}
		}
	}
	for _, f := range p.files {
		for _, name := range assigned(f) {
			if _, isPackage := variables[name]; isPackage {
				variables[name] = true
			}
		}
	}
	maps.DeleteFunc(variables, func(_ string, mutable bool) bool { return !mutable })
	return slices.Sorted(maps.Keys(variables))
}

func isEmbed(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List,
		func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed") })
}

// isFixed reports whether a value has no state. What function literals do when they are called does not count.
func isFixed(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			ok = ok && !state.MatchString(calledName(n.Fun))
		case *ast.ChanType:
			ok = false
		}
		return ok
	})
	return ok
}

func calledName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// assigned returns the names of variables that functions of a file assign to and do not declare themselves.
func assigned(f *ast.File) []string {
	var out []string
	note := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.SelectorExpr:
				e = x.X
				continue
			case *ast.StarExpr:
				e = x.X
				continue
			case *ast.Ident:
				if x.Obj == nil || isPackageLevel(f, x.Obj) {
					out = append(out, x.Name)
				}
			}
			return
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok != token.DEFINE {
						for _, left := range n.Lhs {
							note(left)
						}
					}
				case *ast.IncDecStmt:
					note(n.X)
				}
				return true
			})
		}
	}
	return out
}

// isPackageLevel reports whether an assignment goes to a name that the file declares outside of functions.
func isPackageLevel(f *ast.File, o *ast.Object) bool { //nolint:staticcheck // what it gets wrong, keys of literals, is never assigned to
	return f.Scope.Lookup(o.Name) == o
}

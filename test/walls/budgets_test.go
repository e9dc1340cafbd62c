package walls

import (
	"cmp"
	"flag"
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
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Budgets of the packages (ARCHITECTURE.md, "The walls"). Lines, files and functions count without tests and generated code.
const (
	maxPackageLines     = 2500
	maxPackageFiles     = 30
	maxFileLines        = 500
	maxFunctionLines    = 80
	maxInterfaceMethods = 5
	maxOwnImports       = 10
)

// ownImports are the budgets of imports that differ. Composition roots import at most 24 or 25 packages, and each area of postgres
// counts for them.
var ownImports = map[string]int{"internal/app/apiserver": 24, "internal/app/processor": 24, "internal/app/server": 25, "cmd/iris": 12}

const exceptions = "testdata/over_budget.txt"

var update = flag.Bool("update", false, "lower the values in "+exceptions+" and remove lines that are not needed")

// measure is one figure that has a budget.
type measure struct {
	place, what   string
	value, budget int
}

func (m measure) key() string { return m.place + " " + m.what }

// TestBudgets compares the tree with the budgets and with the exceptions in testdata/over_budget.txt. An exception has the
// form "place measure value". A value may not rise above its line, and a line that is not needed must be removed:
// `go test ./test/walls -update` lowers and removes lines. It never raises or adds one. After a conflict in the file keep the
// lines of both sides and run it.
func TestBudgets(t *testing.T) {
	t.Parallel()
	listed := readExceptions(t)
	over := map[string]measure{}
	for _, m := range measures(t) {
		if m.value > m.budget {
			over[m.key()] = m
		}
	}
	for key, limit := range listed {
		if m, still := over[key]; *update && (!still || m.value < limit) {
			delete(listed, key)
			if still {
				listed[key] = m.value
			}
		}
	}
	if *update {
		writeExceptions(t, listed)
	}
	var faults []string
	for key, m := range over {
		switch limit, found := listed[key]; {
		case !found:
			faults = append(faults, fmt.Sprintf("%s is %d, its budget is %d", key, m.value, m.budget))
		case m.value > limit:
			faults = append(faults, fmt.Sprintf("%s is %d; it was %d and may only shrink towards %d", key, m.value, limit, m.budget))
		}
	}
	for key := range listed {
		if _, still := over[key]; !still {
			faults = append(faults, fmt.Sprintf("%s is within its budget: remove its line from test/walls/%s", key, exceptions))
		}
	}
	slices.Sort(faults)
	require.Empty(t, strings.Join(faults, "\n"), "budgets of ARCHITECTURE.md, \"The walls\"")
}

func readExceptions(t *testing.T) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(exceptions)
	require.NoError(t, err)
	listed := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value := line[:max(strings.LastIndex(line, " "), 0)], line[strings.LastIndex(line, " ")+1:]
		n, err := strconv.Atoi(value)
		require.NoError(t, err, "%s: %q is not \"place measure value\"", exceptions, line)
		listed[key] = max(listed[key], n) // a merge may leave both sides
	}
	return listed
}

func writeExceptions(t *testing.T, listed map[string]int) {
	t.Helper()
	out := "# What is over its budget, and by how much it may be: \"place measure value\". Values may only shrink.\n"
	for _, key := range slices.Sorted(maps.Keys(listed)) {
		out += fmt.Sprintf("%s %d\n", key, listed[key])
	}
	require.NoError(t, os.WriteFile(exceptions, []byte(out), 0o644))
}

// source is the code of a package without its tests.
type source struct {
	path  string // of its folder, from the top of the repository
	files map[string]*ast.File
	lines map[string]int
}

func measures(t *testing.T) []measure {
	t.Helper()
	set := token.NewFileSet()
	packages := readSources(t, set)
	interfaces := map[string]*declared{}
	for _, p := range packages {
		p.interfaces(interfaces)
	}
	var out []measure
	for _, p := range packages {
		lines := 0
		for file, n := range p.lines {
			lines += n
			out = append(out, measure{file, "lines", n, maxFileLines})
		}
		out = append(out, measure{p.path, "lines", lines, maxPackageLines}, measure{p.path, "files", len(p.files), maxPackageFiles},
			measure{p.path, "imports", p.ownImports(), cmp.Or(ownImports[p.path], maxOwnImports)})
		for file, f := range p.files {
			out = append(out, functions(set, file, f)...)
			out = append(out, measure{file, "contexts-in-structs", contextFields(f), 0})
		}
		for _, name := range p.mutableVariables() {
			out = append(out, measure{p.path, "variable:" + name, 1, 0})
		}
	}
	for name, d := range interfaces {
		out = append(out, measure{path.Dir(name), "interface:" + path.Base(name), len(d.methods(interfaces)), maxInterfaceMethods})
	}
	return out
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
				p = &source{path: path.Dir(file), files: map[string]*ast.File{}, lines: map[string]int{}}
				byPath[p.path] = p
			}
			p.files[file], p.lines[file] = f, strings.Count(string(raw), "\n")
			return nil
		}))
	}
	require.Greater(t, len(byPath), 10, "the packages of the repository")
	return slices.Collect(maps.Values(byPath))
}

// ownImports counts the packages of the repository that a package imports. The areas of postgres count as one, but not in app:
// other callers need not know which area stores an object.
func (p *source) ownImports() int {
	own := map[string]bool{}
	for _, f := range p.files {
		for _, imp := range ownImportsOf(f) {
			if under(imp, "internal/postgres") && !under(p.path, "internal/app") {
				imp = "internal/postgres"
			}
			own[imp] = true
		}
	}
	return len(own)
}

// ownImportsOf returns the packages of the repository that a file imports, by the name that it uses.
func ownImportsOf(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, imp := range f.Imports {
		inner, isOwn := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), own)
		if !isOwn {
			continue
		}
		name := path.Base(inner)
		if imp.Name != nil {
			name = imp.Name.Name
		}
		out[name] = inner
	}
	return out
}

func functions(set *token.FileSet, file string, f *ast.File) []measure {
	var out []measure
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			name = receiver(fn.Recv.List[0].Type) + "." + name
		}
		lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
		out = append(out, measure{file, "function:" + name, lines, maxFunctionLines})
	}
	return out
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
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
			if isSelector(field.Type, "context", "Context") {
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

// declared is an interface of the repository: its own methods, and the interfaces that it embeds by their full names.
type declared struct {
	names    []string
	embedded []string
}

// methods returns the names of all methods, with those of embedded interfaces. One of another module counts as a method.
func (d *declared) methods(all map[string]*declared) map[string]bool {
	out := map[string]bool{}
	for _, name := range d.names {
		out[name] = true
	}
	for _, name := range d.embedded {
		inner, known := all[name]
		if !known {
			out[name] = true
			continue
		}
		maps.Copy(out, inner.methods(all))
	}
	return out
}

func (p *source) interfaces(into map[string]*declared) {
	for _, f := range p.files {
		imports := ownImportsOf(f)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			i, ok := spec.Type.(*ast.InterfaceType)
			if !ok {
				return true
			}
			d := &declared{}
			for _, m := range i.Methods.List {
				switch inner := m.Type.(type) {
				case *ast.FuncType:
					for _, name := range m.Names {
						d.names = append(d.names, name.Name)
					}
				case *ast.Ident:
					d.embedded = append(d.embedded, path.Join(p.path, inner.Name))
				case *ast.SelectorExpr:
					pkg := inner.X.(*ast.Ident).Name
					d.embedded = append(d.embedded, path.Join(cmp.Or(imports[pkg], pkg), inner.Sel.Name))
				}
			}
			into[path.Join(p.path, spec.Name.Name)] = d
			return true
		})
	}
}

// state are the calls whose results change or differ from one process to the next. A value that is computed from constants
// is as good as a constant.
var state = regexp.MustCompile(`^(make|new|sync\..*|atomic\..*|rand\..*|os\..*|time\.Now)$`)

// mutableVariables returns the names of package variables that are more than constants, sentinels, compiled expressions and
// embedded files: those without a value, those with state, and those that a function assigns to.
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
					variables[name.Name] = !embedded && (len(spec.Values) != len(spec.Names) || !isFixed(spec.Values[i]))
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
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed") })
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

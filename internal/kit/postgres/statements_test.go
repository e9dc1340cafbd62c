package postgres_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// PostgreSQL accepts every statement of the generated package. sqlc does not find every error: it accepts two parts of
// a statement with the same name.
func TestEveryStatementIsAccepted(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{})
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	statements := generatedStatements(t)
	require.Greater(t, len(statements), 300)
	for name, sql := range statements {
		_, err := conn.Conn().PgConn().Prepare(t.Context(), "", sql, nil)
		require.NoError(t, err, name)
	}
}

// generatedStatements returns the statements of the generated package by the names of their constants.
func generatedStatements(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("db/*.sql.go")
	require.NoError(t, err)
	statements := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING {
				if sql, err := strconv.Unquote(value.Value); err == nil && strings.HasPrefix(sql, "-- name:") {
					statements[spec.Names[0].Name] = sql
				}
			}
			return true
		})
	}
	return statements
}

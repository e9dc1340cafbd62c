package walls

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// plain are words in names of tables and schemas that need no entry.
var plain = []string{"made", "changed", "v1"}

// TestTheGlossaryIsComplete looks for every table and every schema of /v1 in docs/glossary.md. A name is there as it
// is, in backquotes, or each of its words belongs to a term: plan_notifications is covered by "plan" and
// "notification".
func TestTheGlossaryIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(top + "docs/glossary.md")
	require.NoError(t, err)
	terms := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(string(page), -1) {
		for _, word := range strings.FieldsFunc(row[1], func(r rune) bool { return strings.ContainsRune(" ,-", r) }) {
			terms[singular(strings.ToLower(word))] = true
		}
	}
	names := append(tables(t), schemas(t)...)
	require.Greater(t, len(names), 100, "tables and schemas")
	var missing []string
	for _, name := range names {
		name = strings.TrimPrefix(name, "New")
		if strings.Contains(string(page), "`"+name+"`") {
			continue
		}
		for _, word := range regexp.MustCompile(`[A-Z]?[a-z]+1?|V1`).FindAllString(name, -1) {
			word = singular(strings.ToLower(word))
			if !terms[word] && !slices.Contains(plain, word) {
				missing = append(missing, word+" of "+name)
			}
		}
	}
	require.Empty(t, missing, "docs/glossary.md: add these words as terms, or the names in backquotes")
}

func singular(word string) string {
	switch {
	case word == "people":
		return "person"
	case strings.HasSuffix(word, "ies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "shes"):
		return strings.TrimSuffix(word, "es")
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// tables returns the tables that migrations make.
func tables(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(top + "migrations/*.sql")
	require.NoError(t, err)
	var out []string
	for _, file := range files {
		sql, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, table := range regexp.MustCompile(`(?m)^create (?:unlogged )?table ([a-z_]+)`).FindAllStringSubmatch(string(sql), -1) {
			out = append(out, table[1])
		}
	}
	return out
}

// schemas returns the schemas of /v1. The files of the frozen APIs are left out: their names are those of the
// predecessors.
func schemas(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(top + "internal/web/openapi/spec/*.yaml")
	require.NoError(t, err)
	var out []string
	for _, file := range files {
		if slices.Contains([]string{"base.yaml", "edge.yaml", "oncall.yaml", "pagerduty.yaml", "v0.yaml"}, filepath.Base(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var spec struct {
			Schemas map[string]any `yaml:"schemas"`
		}
		require.NoError(t, yaml.Unmarshal(text, &spec))
		for schema := range spec.Schemas {
			out = append(out, schema)
		}
	}
	return out
}

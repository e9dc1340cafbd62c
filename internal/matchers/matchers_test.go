package matchers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/matchers"
)

func TestMatchers(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"team": "db", "env": `a"b,c`, "severity": "critical", "title": "Disk full"}
	for s, want := range map[string]bool{
		``: true, `team="db"`: true, `{team="db"}`: true, `team=db`: true, `team = db , severity=critical`: true, `team!="db"`: false,
		`team=~"db|web"`: true, `team=~"d"`: false, `team!~"web.*"`: true, `severity="critical"`: true, `title=~"Disk.*"`: true,
		`absent=""`: true, `absent!=""`: false, `env="a\"b,c"`: true, `team="db",severity="info"`: false,
	} {
		m, err := matchers.Parse(s)
		require.NoError(t, err, s)
		require.Equal(t, want, m.Match(func(name string) string { return labels[name] }), s)
	}
	for _, s := range []string{`team`, `="x"`, `team="x`, `team=~"("`, `team="a" env="b"`, `{team="a"`} {
		_, err := matchers.Parse(s)
		require.True(t, fault.Is(err, fault.Invalid), s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`team=~"db|web", severity!="info"`)
	f.Fuzz(func(t *testing.T, s string) {
		m, err := matchers.Parse(s)
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid))
			return
		}
		m.Match(func(string) string { return "" })
	})
}

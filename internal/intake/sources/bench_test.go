package sources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
)

// BenchmarkRecipes decodes deliveries of generic integrations: one that no recipe knows, one that a recipe recognises,
// and one whose integration names the recipe. The last reads all recipes, as a program does when it starts.
func BenchmarkRecipes(b *testing.B) {
	unknown := request(`{"id": "job-17", "title": "Backup failed", "severity": "high", "host": "db7", "labels": {"team": "db"}}`)
	known, ok := builtin.Named("uptime_kuma")
	require.True(b, ok)
	recognised := SampleRequest(known.Samples[0])
	named := recognised
	named.Settings = []byte(`{"recipe": "uptime_kuma"}`)
	for name, c := range map[string]struct {
		book    *recipes.Book
		request intake.Request
	}{"without": {nil, unknown}, "unknown": {builtin, unknown}, "recognised": {builtin, recognised}, "named": {builtin, named}} {
		b.Run(name, func(b *testing.B) {
			decode := Generic(c.book)
			for b.Loop() {
				if _, err := decode(c.request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := (&recipes.Book{}).With("../recipes/senders"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

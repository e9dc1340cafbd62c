package sources

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
)

// TestSamplesOfRecipes tries each sample: what it becomes, that only its recipe recognises it, and that the alert that
// it resolves has the key of the one that fired.
func TestSamplesOfRecipes(t *testing.T) {
	t.Parallel()
	book := recipes.Builtin()
	for _, r := range book.All() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, TrySamples(book, r))
			fired := map[string]bool{}
			for _, s := range r.Samples {
				decode := Generic(book)
				if s.Mail {
					decode = Email(book)
				}
				events, err := decode(SampleRequest(s))
				require.NoError(t, err, s.Name)
				for _, e := range events {
					require.NotEmpty(t, e.Key, s.Name)
					if e.Status == intake.Firing {
						require.NotEmpty(t, e.Title, s.Name)
						fired[e.Key] = true
					} else {
						require.True(t, fired[e.Key], "sample %s: no sample before it fires with the key %q", s.Name, e.Key)
					}
				}
			}
		})
	}
}

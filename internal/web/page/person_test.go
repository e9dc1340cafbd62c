package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInitials(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"ana": "AN", "ana.lopes": "AL", "jo_van-dyk": "JV", "x": "X", "élodie": "ÉL",
		"": "?", "...": "?", "svc2": "SV"} {
		require.Equal(t, want, Initials(name), name)
	}
}

func TestAPersonHasOneOfTheColours(t *testing.T) {
	t.Parallel()
	require.Regexp(t, "^person-[0-7]$", PersonClass("ana"))
	require.NotEqual(t, PersonClass("ana"), PersonClass("demo"))
}

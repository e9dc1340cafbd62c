package oncall

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestTeamNamesHavePlainCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"red", "Red team", "größe", "チーム", "команда"} {
		require.NoError(t, CheckTeamName(name), name)
	}
	for _, name := range []string{"ｒｅｄ", "ﬁre", "gro\u0308ße", "team①", "red\u00a0team"} {
		err := CheckTeamName(name)
		require.True(t, fault.Is(err, fault.Invalid), name)
	}
	require.ErrorContains(t, CheckTeamName("ｒｅｄ"), `"red"`)
}

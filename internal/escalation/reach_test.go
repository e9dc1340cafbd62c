package escalation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReachResolvesRolesAndTargets(t *testing.T) {
	t.Parallel()
	r := Reach{Roles: map[string]string{"user": "user", "oncall-primary": "team"},
		Targets: map[string][]ReachTarget{"db": {{Kind: "user", TargetID: 1}, {Kind: "team", TargetID: 2}}}}
	for asked, want := range map[string]string{"user": "user", "USER": "user", "Oncall-Primary  ": "oncall-primary", "boss": "", " user": ""} {
		role, kind, ok := r.Role(asked)
		require.Equal(t, want, role, asked)
		require.Equal(t, r.Roles[want], kind, asked)
		require.Equal(t, want != "", ok, asked)
	}
	target, fits, exists := r.Pick("team", "db")
	require.Equal(t, []any{int64(2), true, true}, []any{target.TargetID, fits, exists})
	_, fits, exists = r.Pick("mailing-list", "db")
	require.Equal(t, []bool{false, true}, []bool{fits, exists}, "the name is somebody else's")
	_, fits, exists = r.Pick("team", "nobody")
	require.Equal(t, []bool{false, false}, []bool{fits, exists})
}

package pgserver

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Programs of a user without an entry in /etc/passwd run as one that has a name: initdb looks its user up.
func TestUsersWithoutAName(t *testing.T) {
	t.Parallel()
	unknown := identity{uid: 1<<30 + 7, gid: 1<<30 + 7}
	require.ErrorContains(t, unknown.unnamed(), "user 1073741831 has no entry in /etc/passwd")
	attributes := unknown.attributes()
	require.Len(t, attributes.UidMappings, 1)
	require.Equal(t, unknown.uid, attributes.UidMappings[0].HostID)

	own := identity{uid: os.Geteuid(), gid: os.Getegid()}
	cmd := exec.CommandContext(t.Context(), "id", "-un")
	cmd.SysProcAttr = own.asNobody()
	name, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "nobody", strings.TrimSpace(string(name)))
}

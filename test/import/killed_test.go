//go:build mariadb

package imports_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestIrisKilledInTheMiddle: an import that is killed or stopped while it writes leaves nothing, and the next one
// works.
func TestIrisKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	// Enough of the last table that the import is still busy when it is met.
	s.mysql("insert into message (created, application_id, target_id, priority_id, active, body) select '2024-01-01', 1, 10, 8, 0, repeat('x', 500) from seq_1_to_60000")
	before := s.contents()
	writing := func() bool {
		return len(s.ours("select pid from pg_stat_activity where datname = current_database() and query like 'copy \"staged\"%' and state = 'active'")) > 0
	}
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		// PostgreSQL notices late that the process before was killed.
		require.Eventually(t, func() bool { return !writing() }, 30*time.Second, 5*time.Millisecond)
		cmd := exec.Command(filepath.Join(bin, "iris"), "import", "iris", "--from", s.from)
		cmd.Env = []string{"IRIS_DATABASE_URL=" + s.url}
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		errs, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		require.Eventually(t, writing, 30*time.Second, 5*time.Millisecond)
		require.NoError(t, cmd.Process.Signal(signal))
		said := bufio.NewScanner(errs)
		var last string
		for said.Scan() {
			last = said.Text()
		}
		report := bufio.NewScanner(out)
		require.False(t, report.Scan(), "no report of what was not done")
		require.Error(t, cmd.Wait())
		if signal == syscall.SIGINT {
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), last)
			require.Contains(t, last, "the import was stopped: nothing was written",
				"an operator who stops it must know")
		}
		require.Equal(t, before, s.contents(), "nothing is half written")
	}
	require.Eventually(t, func() bool {
		code, _, errs := s.iris(nil, "import", "iris", "--from", s.from)
		require.True(t, code == 0 || strings.Contains(errs, "another import is running"), errs)
		return code == 0
	}, time.Minute, time.Second)
	require.Equal(t, []string{"60017"}, s.ours("select count(*) from message_history"))
}

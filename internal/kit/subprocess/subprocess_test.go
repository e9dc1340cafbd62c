package subprocess

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play a parent that can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("SUBPROCESS_TEST_PARENT") != "" {
		p, err := Start(exec.Command("sleep", "600"), syscall.SIGKILL)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintln(os.Stdout, p.Pid())
		<-p.Done()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestStop(t *testing.T) {
	t.Parallel()
	p, err := Start(exec.Command("sleep", "600"), syscall.SIGKILL)
	require.NoError(t, err)
	require.True(t, p.Stop(syscall.SIGTERM, time.Minute))
	require.Error(t, p.Err())
	require.NoError(t, p.Signal(syscall.SIGTERM), "a signal to an ended child is no error")

	stubborn := exec.Command("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 600; done")
	out, err := stubborn.StdoutPipe()
	require.NoError(t, err)
	p, err = Start(stubborn, syscall.SIGKILL)
	require.NoError(t, err)
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.False(t, p.Stop(syscall.SIGTERM, 50*time.Millisecond), "it had to be killed")
}

func TestStartOfNothing(t *testing.T) {
	t.Parallel()
	_, err := Start(exec.Command("/nowhere/program"), syscall.SIGKILL)
	require.ErrorContains(t, err, "start /nowhere/program")
}

func TestEndIsNoticed(t *testing.T) {
	t.Parallel()
	p, err := Start(exec.Command("sh", "-c", "exit 3"), syscall.SIGKILL)
	require.NoError(t, err)
	require.ErrorContains(t, p.Err(), "exit status 3")
}

func TestChildDiesWithAKilledParent(t *testing.T) {
	t.Parallel()
	parent := exec.Command("/proc/self/exe")
	parent.Env = append(os.Environ(), "SUBPROCESS_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err, line)
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 10*time.Second, 5*time.Millisecond)
}

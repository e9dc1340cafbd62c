package subprocess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Process is a started child. Its methods are safe for concurrent use.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// Start starts cmd. The caller may set credentials in cmd.SysProcAttr. orphan is the signal that the kernel sends to
// the child when this process dies (Linux only; on other systems use a pid file).
//
// The kernel ties that signal to the thread that forked, not to the process. So the goroutine of the Process stays
// locked to its thread until the child has ended.
func Start(cmd *exec.Cmd, orphan syscall.Signal) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr, orphan)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Pid returns the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err waits for the end of the child and returns its error, nil for exit code 0.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Signal sends sig to the child only, not to its group. It returns nil if the child has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.Pid(), err)
	}
	return nil
}

// Stop sends sig and waits up to grace for the end. Then it kills the child's group. It returns when the child has
// ended, and reports whether the child ended within grace.
func (p *Process) Stop(sig syscall.Signal, grace time.Duration) bool {
	_ = p.Signal(sig) // a child that cannot be signalled is killed below
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	}
	_ = syscall.Kill(-p.Pid(), syscall.SIGKILL)
	<-p.done
	return false
}

// Getenv returns the value of a variable in an environment that has the form of os.Environ: the last one if it is set
// more than once, "" if it is not set.
func Getenv(environ []string, name string) string {
	value := ""
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// Package subprocess starts child processes that do not outlive us: they get a process group of their own, so that
// Ctrl-C on a terminal reaches only us and we decide the order of the end, and on Linux the kernel sends them a signal
// when we die, however we die. pgserver (PostgreSQL), devmode (the servers), bench and the end-to-end tests use it.
package subprocess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a started child. Its methods may be called from any goroutine.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// Start starts cmd, whose SysProcAttr may hold credentials. orphan is the signal the kernel sends to it when this
// process dies (Linux only; elsewhere an orphan has to be found by other means, such as a pid file).
//
// A goroutine owned by the Process stays locked to its thread until the child has ended: the kernel's signal is tied to
// the thread that forked, not to the process.
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

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the child ended, nil for exit code 0. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Signal sends sig to the child alone (not to its group). A child that has ended is not an error.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal process %d: %w", p.Pid(), err)
	}
	return nil
}

// Stop sends sig, waits up to grace for the end, then kills the child's whole group. It returns when the child is gone,
// and reports whether it ended by itself within the grace.
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

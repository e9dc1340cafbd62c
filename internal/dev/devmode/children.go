package devmode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/iris-oncall/iris/internal/kit/subprocess"
)

const (
	// stopGrace is how long a server may take to stop.
	stopGrace = 8 * time.Second
	// earlyEnd is the age below which the end of a server counts as a failed start. After maxEarly of them in a row,
	// keep gives up.
	earlyEnd   = 5 * time.Second
	maxEarly   = 3
	restartGap = time.Second
	// maxLog is the size of a log file above which the next start truncates it.
	maxLog = 16 << 20
)

// keep runs a server until ctx ends. It restarts a server that ended or was killed, so that people can try failures. It
// returns an error if the server fails to start maxEarly times in a row.
func (s *Supervisor) keep(ctx context.Context, name string, args, env []string) error {
	for early := 0; ; {
		started := time.Now()
		err := s.runChild(ctx, name, args, env)
		if ctx.Err() != nil {
			return nil
		}
		early++
		if time.Since(started) > earlyEnd {
			early = 0
		}
		if early == maxEarly {
			return fmt.Errorf("%s does not stay up (%w): read its log %s", name, err, s.logFile(name))
		}
		s.say("%s ended (%v), restarting it", name, err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(restartGap):
		}
	}
}

func (s *Supervisor) logFile(name string) string { return filepath.Join(s.logDir, name+".log") }

// runChild runs a server until it ends or ctx ends.
func (s *Supervisor) runChild(ctx context.Context, name string, args, env []string) error {
	if err := os.MkdirAll(s.logDir, 0o755); err != nil {
		return err
	}
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if info, err := os.Stat(s.logFile(name)); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(s.logFile(name), flags, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	log := &childLog{s: s, name: name, file: file}
	cmd := exec.Command(s.opt.Program, args...)
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = time.Second
	// SIGKILL: no server may outlive this process. The next start works after a kill in any case.
	child, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	select {
	case <-child.Done():
	case <-ctx.Done():
		if !child.Stop(syscall.SIGTERM, stopGrace) {
			s.say("%s did not stop within %v and was killed", name, stopGrace)
		}
	}
	log.flush()
	if err := child.Err(); err != nil {
		return err
	}
	return fmt.Errorf("exit code 0")
}

// childLog writes the log of a server to its file, and prints the lines that people must see. It is used by one
// goroutine at a time.
type childLog struct {
	s    *Supervisor
	name string
	file io.Writer
	part []byte // incomplete last line
}

func (l *childLog) Write(b []byte) (int, error) {
	if _, err := l.file.Write(b); err != nil {
		return 0, err
	}
	l.part = append(l.part, b...)
	for {
		line, rest, ok := bytes.Cut(l.part, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		l.show(line)
		l.part = append(l.part[:0:0], rest...)
	}
}

func (l *childLog) flush() {
	if len(l.part) > 0 {
		l.show(l.part)
		l.part = nil
	}
}

// show prints errors in short form, and lines that are not JSON, such as a panic, unchanged.
func (l *childLog) show(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	var entry struct {
		Level, Msg, Error, Reason string
	}
	if json.Unmarshal(line, &entry) != nil || l.s.opt.Verbose {
		l.print(string(line))
		return
	}
	if entry.Level == "error" || entry.Level == "dpanic" || entry.Level == "panic" || entry.Level == "fatal" {
		text := entry.Msg
		for _, more := range []string{entry.Reason, entry.Error} {
			if more != "" {
				text += ": " + more
			}
		}
		l.print(text)
	}
}

func (l *childLog) print(text string) {
	l.s.outMu.Lock()
	defer l.s.outMu.Unlock()
	fmt.Fprintf(l.s.opt.Out, "%s: %s\n", l.name, strings.TrimRight(text, "\r\n"))
}

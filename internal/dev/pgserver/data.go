package pgserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	superuser    = "iris"
	database     = "iris"
	passwordFile = "iris-password" // in the data directory, so that a copy contains it
)

// childEnv is the whole environment of PostgreSQL's programs. Variables of the caller, such as PGDATA or LC_ALL, must
// not change them.
var childEnv = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}

// ctypes are candidates for the LC_CTYPE of a new database; the first that the system has is used. With the first two,
// names compare without case also beyond ASCII ("Ü" and "ü"). All of them order text by bytes.
var ctypes = []string{"C.UTF-8", "en_US.UTF-8", "C"}

// setup is the state that Start and StartTemporary share.
type setup struct {
	cfg  Config
	root string // StateDir/postgres
	user identity
	bin  binaries // set by choose
}

func newSetup(cfg Config) (*setup, error) {
	s := &setup{cfg: cfg, root: filepath.Join(cfg.StateDir, "postgres")}
	var err error
	if s.user, err = unprivileged(); err != nil {
		return nil, err
	}
	if err := makeOpen(s.root); err != nil {
		return nil, fmt.Errorf("state directory: %w (choose another with --state-dir or IRIS_STATE_DIR)", err)
	}
	// mktemp -d creates directories that only their owner may enter. Only the state directory is opened, not its
	// parents.
	if info, err := os.Stat(cfg.StateDir); err == nil && s.user.credential != nil && info.Mode()&0o001 == 0 {
		if err := os.Chmod(cfg.StateDir, info.Mode().Perm()|0o011); err != nil {
			return nil, fmt.Errorf("open the state directory to user %s: %w", s.user.name, err)
		}
	}
	return s, s.user.canEnter(s.root)
}

// makeOpen creates a directory and its missing parents so that the server's user can enter them, whatever the umask is.
func makeOpen(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeOpen(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// openTree makes everything in dir readable for all users, whatever the umask was.
func openTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if entry.IsDir() || mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode)
	})
}

func (s *setup) setupLock(ctx context.Context) (*os.File, error) {
	return waitLock(ctx, filepath.Join(s.root, "setup.lock"), func() {
		s.cfg.Progress("waiting for another process that is setting up PostgreSQL")
	})
}

// majors lists the major versions for which a directory prefix-N exists.
func (s *setup) majors(prefix string) []int {
	names, _ := filepath.Glob(filepath.Join(s.root, prefix+"-*")) // the pattern is well-formed
	var out []int
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(name), prefix+"-")); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// ensureData returns the data directory prefix-MAJOR and creates it if it does not exist. The caller holds the setup
// lock.
func (s *setup) ensureData(ctx context.Context, prefix string) (string, error) {
	dir := filepath.Join(s.root, prefix+"-"+strconv.Itoa(s.bin.major))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	s.cfg.Progress("initialising a database (PostgreSQL " + s.bin.version + ")")
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	if err := s.initData(ctx, fresh); err != nil {
		return "", fmt.Errorf("initialise the database in %s: %w", dir, err)
	}
	return dir, os.Rename(fresh, dir)
}

func (s *setup) initData(ctx context.Context, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := s.user.own(dir); err != nil {
		return err
	}
	// initdb needs an empty directory, and a password file that its user can read.
	pw := dir + "-password"
	defer os.Remove(pw)
	if err := os.WriteFile(pw, []byte(rand.Text()), 0o600); err != nil {
		return err
	}
	if err := s.user.own(pw); err != nil {
		return err
	}
	var err error
	for _, ctype := range ctypes {
		if err = s.tool(ctx, dir, nil, "initdb", "-D", dir, "-U", superuser, "--pwfile="+pw, "--auth=scram-sha-256",
			"--locale=C", "--lc-ctype="+ctype, "-E", "UTF8", "--no-sync"); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	single := strings.NewReader("create database " + database + ";\n")
	if err := s.tool(ctx, dir, single, "postgres", "--single", "-F", "-D", dir, "postgres"); err != nil {
		return err
	}
	kept := filepath.Join(dir, passwordFile)
	if err := os.Rename(pw, kept); err != nil {
		return err
	}
	return s.tool(ctx, dir, nil, "initdb", "-D", dir, "--sync-only")
}

// tool runs a program of PostgreSQL as the server's user and waits for its end.
func (s *setup) tool(ctx context.Context, dir string, stdin io.Reader, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin.dir, name), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, childEnv, stdin
	cmd.SysProcAttr = s.user.attributes()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if unnamed := s.user.unnamed(); unnamed != nil && (cmd.Process == nil || strings.Contains(out.String(), "could not look up effective user ID")) {
			return unnamed
		}
		return fmt.Errorf("%s: %w\n%s", name, err, strings.TrimSpace(out.String()))
	}
	return nil
}

// copyData copies a data directory that no server uses.
func (s *setup) copyData(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil { // others may read the files, but not enter the directory
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err,
			s.user.own(path))
	})
}

func readPassword(data string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(data, passwordFile))
	if err != nil {
		return "", fmt.Errorf("%s was not made by this program, or is damaged: %w "+
			"(start without this data with --fresh, or use another --state-dir)", data, err)
	}
	return strings.TrimSpace(string(raw)), nil
}

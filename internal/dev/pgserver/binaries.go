package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the oldest major version that Iris supports.
const oldest = 15

// binaries is a bin directory with postgres and initdb.
type binaries struct {
	dir     string
	version string // such as "17.5"
	major   int
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[^ \n]*)`)

// inspect returns the version of the binaries in dir.
func inspect(ctx context.Context, dir string) (binaries, error) {
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return binaries{}, fmt.Errorf("no PostgreSQL server in %s: %w", dir, err)
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version")
	cmd.Env = childEnv
	out, err := cmd.Output()
	if err != nil {
		return binaries{}, fmt.Errorf("ask %s for its version: %w%s", cmd.Path, err, stderrOf(err))
	}
	m := versionPattern.FindSubmatch(out)
	if m == nil {
		return binaries{}, fmt.Errorf("%s prints no version: %q", cmd.Path, out)
	}
	major, err := strconv.Atoi(string(m[2]))
	if err != nil {
		return binaries{}, err
	}
	if major < oldest {
		return binaries{}, fmt.Errorf("PostgreSQL in %s is version %s; %d or newer is needed", dir, m[1], oldest)
	}
	return binaries{dir: dir, version: string(m[1]), major: major}, nil
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return ": " + strings.TrimSpace(string(exit.Stderr))
	}
	return ""
}

// systemBinaries returns the installed servers that are new enough, newest first.
func systemBinaries(ctx context.Context) []binaries {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well-formed
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	slices.Sort(dirs)
	var found []binaries
	for _, dir := range slices.Compact(dirs) {
		if b, err := inspect(ctx, dir); err == nil {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b binaries) int { return b.major - a.major })
	return found
}

// choose returns the binaries to use, and downloads them if needed. have lists the major versions of existing data. The
// caller holds the setup lock.
func (s *setup) choose(ctx context.Context, have []int) (binaries, error) {
	switch want := s.cfg.Postgres; {
	case want == "embedded":
		return s.downloaded(ctx)
	case strings.ContainsRune(want, os.PathSeparator):
		b, err := inspect(ctx, want)
		if err != nil {
			return b, fmt.Errorf("IRIS_POSTGRES=%s: %w", want, err)
		}
		return b, nil
	case want != "" && want != "system":
		return binaries{}, fmt.Errorf("IRIS_POSTGRES=%s: use system, embedded, or the path of a bin directory", want)
	}
	system := systemBinaries(ctx)
	if s.cfg.Postgres == "system" && len(system) == 0 {
		return binaries{}, fmt.Errorf("IRIS_POSTGRES=system, but no PostgreSQL %d or newer is installed "+
			"(searched in /usr/lib/postgresql/*/bin and PATH)", oldest)
	}
	slices.Sort(have)
	for _, major := range slices.Backward(have) {
		for _, b := range system {
			if b.major == major {
				return b, nil
			}
		}
		if major == downloadMajor && s.cfg.Postgres == "" {
			return s.downloaded(ctx)
		}
	}
	if len(have) > 0 {
		return binaries{}, fmt.Errorf("%s has data of PostgreSQL %d, but that version is not installed: install it, "+
			"delete the data with --fresh, or use another --state-dir", s.root, have[len(have)-1])
	}
	if len(system) > 0 {
		return system[0], nil
	}
	return s.downloaded(ctx)
}

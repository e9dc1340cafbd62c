package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/program/client"
)

// usageError is an error in the command line.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// Usage marks an error as one in the command line.
func Usage(err error) error { return usageError{err} }

// Usagef returns an error in the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// IsUsage reports whether the command line is the reason of an error: it is marked so, or the server did not accept a
// value.
func IsUsage(err error) bool {
	var usage usageError
	var refused *client.Error
	return errors.As(err, &usage) || errors.As(err, &refused) && refused.Invalid()
}

// ExitCode is an error that only sets the exit code; the command has printed everything.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Output selects the output format.
type Output struct {
	Format string `name:"output" help:"table for people, json for programs, plain for scripts: lines of values separated by tabs." enum:"table,json,plain" default:"table" short:"o" placeholder:"table|json|plain"`
}

// WriteJSON writes a value as JSON for people and programs.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// maxPeriod is the longest period.
const maxPeriod = 2 * 366 * 24 * time.Hour

// Period parses the value of --for, a duration that may be in days or weeks.
func Period(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			var n int
			if n, err = strconv.Atoi(number); err == nil {
				d = time.Duration(min(n, 10_000)) * unit
			}
		}
	}
	if err != nil || d <= 0 || d > maxPeriod {
		return 0, Usagef("--for: %q is not a period; use 12h, 30d or 8w, at most two years", text)
	}
	return d, nil
}

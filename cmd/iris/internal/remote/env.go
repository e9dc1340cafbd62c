package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Env is the environment of the commands.
type Env struct {
	Environ []string // NAME=value
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	// Local returns a transport that answers requests to /v1 in this process, as the operator; nil = no database is
	// configured.
	Local func(ctx context.Context) (http.RoundTripper, error)
}

// get returns an environment variable; "" = it is not set.
func (e Env) get(name string) string {
	for _, one := range slices.Backward(e.Environ) {
		if value, ok := strings.CutPrefix(one, name+"="); ok {
			return value
		}
	}
	return ""
}

// Done prints what a command did, or returns its error.
func (e Env) Done(err error, format string, args ...any) error {
	if err == nil {
		_, err = fmt.Fprintf(e.Out, format+"\n", args...)
	}
	return err
}

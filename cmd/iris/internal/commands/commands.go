// Package commands has the commands that work over /v1, from any machine, and the rendering of templates. They send a token to a server, or
// use the handlers of /v1 in this process if a database is configured. The iris command uses it.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/jinja"
)

// Env is the environment of the commands.
type Env struct {
	Environ []string // NAME=value
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	// Local returns a transport that answers requests to /v1 in this process, as the operator; nil = no database is configured.
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

// Render renders a template from standard input.
type Render struct {
	Context string `help:"JSON file with the variables, an object." placeholder:"FILE" type:"path"`
}

// Run prints the rendered template and nothing else. An error names the line.
func (c Render) Run(e Env) error {
	source, err := io.ReadAll(e.In)
	if err != nil {
		return fmt.Errorf("read the template: %w", err)
	}
	var data []byte
	if c.Context != "" {
		if data, err = os.ReadFile(c.Context); err != nil {
			return fmt.Errorf("read the context: %w", err)
		}
	}
	vars, err := jinja.DecodeVars(data)
	if err != nil {
		return fmt.Errorf("context %s: %w", c.Context, err)
	}
	out, err := render(string(source), vars)
	if err != nil {
		return err
	}
	_, err = io.WriteString(e.Out, out)
	return err
}

// render returns the rendered template. Its errors always name a line; line 1 if the template engine gives none.
func render(source string, vars jinja.Vars) (out string, err error) {
	template, err := jinja.Compile(source, jinja.Limits{})
	if err == nil {
		out, err = template.Render(vars)
	}
	var failure *jinja.Error
	if errors.As(err, &failure) && failure.Line == 0 {
		err = fmt.Errorf("%w (line 1)", err)
	}
	return out, err
}

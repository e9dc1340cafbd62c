package commands

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/jinja"
)

// Render renders a template from standard input.
type Render struct {
	Context string `help:"JSON file with the variables, an object." placeholder:"FILE" type:"path"`
}

// Run prints the rendered template and nothing else. An error names the line.
func (c Render) Run(e remote.Env) error {
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

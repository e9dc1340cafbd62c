// Command differ compares the output of jinja with that of the real Jinja2. test/jinja/differ.sh runs it: standard
// input has the lines of JSON of generate.py, the argument is the file with the context. It prints every difference and
// fails if there is one.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/iris-oncall/iris/jinja"
)

type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Line    int    `json:"line"`
}

type line struct {
	Template string
	Output   *string
	Error    *failure
}

// address matches memory addresses of Python objects, which differ in each run. Such outputs are not compared.
var address = regexp.MustCompile(`0x[0-9a-f]{6,}|x0 ta|'0', 'x', '`)

func main() {
	context, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = compare(os.Stdin, os.Stdout, context)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compare(in io.Reader, out io.Writer, context []byte) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	var same, bounded, different int
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("read a case: %w", err)
		}
		want := told(l)
		if address.MatchString(want) {
			continue
		}
		got, limited := rendered(l.Template, context)
		switch {
		case limited:
			bounded++
		case got == want:
			same++
		default:
			different++
			fmt.Fprintf(out, "%q\n   wanted %.600s\n   got    %.600s\n", l.Template, want, got)
		}
	}
	fmt.Fprintf(out, "%d templates the same, %d beyond the engine's bounds, %d different\n", same, bounded, different)
	if err := lines.Err(); err != nil {
		return err
	}
	if different > 0 || same == 0 {
		return errors.New("the engine differs from Jinja2")
	}
	return nil
}

// told returns the output or the error of Jinja2 as text.
func told(l line) string {
	if l.Error != nil {
		return fmt.Sprintf("%s in line %d", l.Error.Kind, l.Error.Line)
	}
	return fmt.Sprintf("%q", *l.Output)
}

// rendered returns the output or the error of jinja in the format of told. limited reports that the template exceeds a
// limit of the engine.
func rendered(template string, context []byte) (got string, limited bool) {
	out, err := jinja.RenderString(template, context)
	var e *jinja.Error
	switch {
	case errors.As(err, &e):
		return fmt.Sprintf("%s in line %d", e.Kind, e.Line), e.Limited()
	case err != nil:
		return "no error of a template: " + err.Error(), false
	}
	return fmt.Sprintf("%q", out), false
}

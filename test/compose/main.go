// Command compose prints how a service of deploy/compose.yaml is started, for test/compose.sh: one line per variable of
// its environment (NAME=VALUE), an empty line, then one line per word of its command. It substitutes ${NAME},
// ${NAME:-DEFAULT} and ${NAME:?ERROR} as Compose does. With the word "healthcheck" after the service, it prints the
// words of the health check instead of those of the command.
package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

type file struct {
	Services map[string]struct {
		Command     []string `yaml:"command"`
		Healthcheck struct {
			Test []string `yaml:"test"`
		} `yaml:"healthcheck"`
		Environment map[string]string `yaml:"environment"`
		Deploy      struct {
			Replicas int `yaml:"replicas"`
		} `yaml:"deploy"`
	} `yaml:"services"`
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	health := len(args) == 3 && args[2] == "healthcheck"
	if len(args) != 2 && !health {
		return fmt.Errorf("usage: compose FILE SERVICE [healthcheck]")
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var f file
	if err := yaml.Unmarshal(raw, &f); err != nil {
		return err
	}
	s, ok := f.Services[args[1]]
	if !ok {
		return fmt.Errorf("no service %s", args[1])
	}
	var names []string
	for name := range s.Environment {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, err := substitute(s.Environment[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s=%s\n", name, value)
	}
	fmt.Fprintln(w)
	words := s.Command
	if health {
		words = s.Healthcheck.Test[1:] // after CMD
	}
	for _, word := range words {
		fmt.Fprintln(w, word)
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+)(?:(:-|:\?)([^}]*))?\}`)

func substitute(text string) (string, error) {
	var missing error
	out := variable.ReplaceAllStringFunc(text, func(m string) string {
		p := variable.FindStringSubmatch(m)
		if v := os.Getenv(p[1]); v != "" {
			return v
		}
		if p[2] == ":?" {
			missing = fmt.Errorf("%s: %s", p[1], p[3])
		}
		return p[3]
	})
	return out, missing
}

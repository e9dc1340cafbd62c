package messages

import "github.com/iris-oncall/iris/internal/jinja"

// CheckSyntax returns what is wrong with the source of a template; nil = nothing.
func CheckSyntax(source string) error {
	_, err := jinja.Compile(source, jinja.Limits{})
	return err
}

package messages

import "github.com/iris-oncall/iris/internal/jinja"

// CheckSyntax returns the error in the source of a template; nil = none.
func CheckSyntax(source string) error {
	_, err := jinja.Compile(source, jinja.Limits{})
	return err
}

package jinja

import (
	"fmt"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// Error is a template's failure: at compile time when it is malformed, at run time as Python would raise it.
type Error struct {
	Kind    string // class of the exception, for example TemplateSyntaxError, UndefinedError, TypeError; or LimitError
	Message string
	Line    int // in the template, from 1; 0 = unknown
	// Truncated tells that only the output grew too long; Render returned as much of it as is allowed.
	Truncated bool
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: %s (line %d)", e.Kind, e.Message, e.Line)
	}
	return e.Kind + ": " + e.Message
}

// Limited reports whether a bound of the engine ended the template, rather than a mistake in it.
func (e *Error) Limited() bool { return e.Kind == py.LimitError }

func syntaxError(line int, format string, args ...any) *Error {
	return &Error{Kind: "TemplateSyntaxError", Message: fmt.Sprintf(format, args...), Line: line}
}

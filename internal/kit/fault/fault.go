package fault

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Kind says what a caller can do about an error.
type Kind string

// The kinds of errors.
const (
	Invalid         Kind = "invalid"         // the request is wrong; change it
	NotFound        Kind = "not_found"       // the named object does not exist
	Conflict        Kind = "conflict"        // the request contradicts the present state
	Mismatch        Kind = "mismatch"        // the idempotency key was used with another request
	Stale           Kind = "stale"           // the object has changed since the caller read it; read it again
	TooLarge        Kind = "too_large"       // the request has too many bytes
	Unauthenticated Kind = "unauthenticated" // the caller is not known
	Forbidden       Kind = "forbidden"       // the caller may not do that
	LogInAgain      Kind = "log_in_again"    // the caller must log in again, then repeat the request
	Throttled       Kind = "throttled"       // too many requests; try again after RetryAfter
	Unavailable     Kind = "unavailable"     // a system that Iris needs does not answer; try again
	Internal        Kind = "internal"        // a defect of Iris, or an unexpected failure
)

// Error is an error with a kind. Message is shown to the caller: it names the field and says what to do. Detail is the
// "description" that legacy clients expect. Neither may have secrets, message bodies or phone numbers.
type Error struct {
	Kind    Kind
	Field   string  // the wrong input, in the caller's spelling; "" = none
	Others  []Field // further wrong inputs
	Message string
	Detail  string
	// EmptyDetail: the answer has a "description" even if Detail is empty, as some legacy clients expect.
	EmptyDetail bool
	RetryAfter  time.Duration // Throttled and Unavailable: the time to the next attempt; 0 = unknown
	Err         error         // cause, for the log only
}

func (e *Error) Error() string {
	s := e.Message
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Field is a wrong input and what is wrong with it.
type Field struct{ Name, Message string }

// Wrong collects the wrong inputs of a request.
type Wrong []Field

// Add notes a wrong input.
func (w *Wrong) Add(field, format string, args ...any) {
	*w = append(*w, Field{field, fmt.Sprintf(format, args...)})
}

// If is Add if bad is true.
func (w *Wrong) If(bad bool, field, format string, args ...any) {
	if bad {
		w.Add(field, format, args...)
	}
}

// Join adds the wrong inputs of an error; nil adds nothing.
func (w *Wrong) Join(err error) {
	var e *Error
	switch {
	case err == nil:
	case errors.As(err, &e):
		*w = append(append(*w, Field{e.Field, Public(e)}), e.Others...)
	default:
		*w = append(*w, Field{"", err.Error()})
	}
}

// Err returns an Invalid error with all wrong inputs, or nil.
func (w Wrong) Err() error {
	if len(w) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Field: w[0].Name, Message: w[0].Message, Others: w[1:]}
}

// New returns an error of the given kind.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// Newf is New with a format.
func Newf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Invalidf returns an Invalid error; field is the wrong input in the caller's spelling.
func Invalidf(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Titled returns an Invalid error with a title and a detail, the form of many v0 answers.
func Titled(title, detail string) *Error {
	return &Error{Kind: Invalid, Message: title, Detail: detail}
}

// Wrap returns an error with a kind, a message for the caller, and err as its cause; nil stays nil.
func Wrap(kind Kind, err error, message string) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind, Message: message, Err: err}
}

// KindOf returns the kind of the first *Error in the chain of err; Internal if there is none, "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Public returns the text of err for the caller: message and detail of a fault, without its cause. For any other error
// it returns "internal error".
func Public(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return "internal error"
	case e.Message == "" || e.Detail == "":
		return e.Message + e.Detail
	}
	return e.Message + ": " + e.Detail
}

// FieldOf returns the wrong field that err names; "" = none.
func FieldOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

// Is reports whether err has the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// Panic is a panic that Recover turned into an error. It is a defect of Iris.
type Panic struct {
	Value any
	Stack []byte // of the panic, for the log
}

func (p *Panic) Error() string { return fmt.Sprintf("internal error: %v", p.Value) }

// Format adds the stack to %+v, the format in which zap logs errors.
func (p *Panic) Format(f fmt.State, verb rune) {
	fmt.Fprint(f, p.Error())
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "\n%s", p.Stack)
	}
}

// Recover turns a panic of the calling function into a *Panic in *err. Use it as `defer fault.Recover(&err)` if a
// failure must not end the process.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &Panic{Value: v, Stack: debug.Stack()}
	}
}

// When returns instead if err has the kind, else err.
func When(err error, kind Kind, instead error) error {
	if Is(err, kind) {
		return instead
	}
	return err
}

// Package fault is the error vocabulary of Iris: a handful of kinds that say what the caller can do about an error,
// and constructors that say it in words. Domains and adapters return faults; the edge (irisapi, web, webhooks,
// responses) translates kinds to status codes in one place. Errors of no kind are Internal: logged in full, shown to
// users only as "internal error".
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
	NotFound        Kind = "not_found"       // the thing named does not exist
	Conflict        Kind = "conflict"        // it clashes with the present state
	Mismatch        Kind = "mismatch"        // understood, but not what the same key named before
	Stale           Kind = "stale"           // what is to be changed is no longer as the caller saw it; read it again
	TooLarge        Kind = "too_large"       // more bytes than we read
	Unauthenticated Kind = "unauthenticated" // who is calling is not known
	Forbidden       Kind = "forbidden"       // the caller may not do that
	Throttled       Kind = "throttled"       // too much; come back after RetryAfter
	Unavailable     Kind = "unavailable"     // something we need is away; try again
	Internal        Kind = "internal"        // our defect, or an unexpected failure
)

// Error is an error of a known kind. Message is safe to show to the caller: it names the field and says what to do.
// Detail carries what legacy clients expect in "description". Neither ever holds secrets, bodies or phone numbers.
type Error struct {
	Kind    Kind
	Field   string // the offending input, in the caller's own spelling; may be empty
	Message string
	Detail  string
	// EmptyDetail: the answer carries its "description" even when Detail is empty, as some legacy clients expect.
	EmptyDetail bool
	RetryAfter  time.Duration // Throttled and Unavailable: when it is worth trying again; 0 = unknown
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

// New returns an error of the given kind.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// Newf is New with a format.
func Newf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Invalidf reports a wrong input; field names it in the caller's spelling.
func Invalidf(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Titled returns an Invalid error with a fixed title and an explaining detail, the shape of many v0 answers.
func Titled(title, detail string) *Error {
	return &Error{Kind: Invalid, Message: title, Detail: detail}
}

// Wrap gives err a kind and a message that is safe to show; nil stays nil.
func Wrap(kind Kind, err error, message string) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kind, Message: message, Err: err}
}

// KindOf returns the kind of the first *Error in err's chain, Internal for other errors, "" for nil.
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

// Public returns what of err may be shown to whoever caused it: message and detail of a fault, never its cause; a
// sentence that says nothing for any other error.
func Public(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &e):
		return "internal error"
	case e.Detail != "":
		return e.Message + ": " + e.Detail
	}
	return e.Message
}

// Is reports whether err is of the given kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// Panic is a panic that Recover turned into an error: a defect of ours.
type Panic struct {
	Value any
	Stack []byte // where it happened, for the log
}

func (p *Panic) Error() string { return fmt.Sprintf("internal error: %v", p.Value) }

// Format adds the stack for %+v, with which zap logs errors.
func (p *Panic) Format(f fmt.State, verb rune) {
	fmt.Fprint(f, p.Error())
	if verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "\n%s", p.Stack)
	}
}

// Recover turns a panic of the surrounding function into a *Panic in *err. Use it as `defer fault.Recover(&err)` where one
// piece of work must not end the process.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &Panic{Value: v, Stack: debug.Stack()}
	}
}

// When returns instead where err is a fault of a kind, else err.
func When(err error, kind Kind, instead error) error {
	if Is(err, kind) {
		return instead
	}
	return err
}

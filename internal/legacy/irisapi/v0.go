package irisapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// PathID reads an integer path parameter of any size; false = it is no integer.
func PathID(r *http.Request, name string) (int64, bool) { return parseInt(wire.Param(r, name)) }

// WithID serves a route about the object whose number is the path parameter id. invalid is the text of the Invalid
// fault if the parameter is no number.
func WithID[ID ~int64](invalid string, h func(w http.ResponseWriter, r *http.Request, id ID) error) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		id, ok := PathID(r, "id")
		if !ok {
			return fault.New(fault.Invalid, invalid)
		}
		return h(w, r, ID(id))
	}
}

// Digits reports whether s is a number. Where a path takes an id or a name, a number is an id.
func Digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) < 0
}

// ApplicationName returns the application that the path names.
func ApplicationName(r *http.Request) string { return strings.TrimRight(wire.Param(r, "app"), " ") }

// StorableName returns a name that storage can compare. A text that cannot be stored becomes "", which no object has as
// name.
func StorableName(s string) string {
	if wire.Storable(s) {
		return s
	}
	return ""
}

// By names the caller for the audit log.
func By(r *http.Request) string { return wire.Actor(r.Context()).String() }

// Person finds a person by name. With a NotFound fault it also returns a user with only the name, for the check of
// permissions.
func Person(ctx context.Context, people users.Finder, name string) (users.User, error) {
	u, err := people.ByName(ctx, name)
	if err != nil {
		u = users.User{Name: name}
	}
	return u, err
}

// Internal admits only the listed applications to a route below /v0/internal.
func Internal(allowed []string, h routing.Handler) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := wire.Actor(r.Context()).MayUseInternal(allowed); err != nil {
			return err
		}
		return h(w, r)
	}
}

// Created answers with a bare id and the address of the new object, unless err is a failure: then it returns err.
func Created(w http.ResponseWriter, id int64, collection string, err error) error {
	if err != nil {
		return err
	}
	n := strconv.FormatInt(id, 10)
	if collection != "" {
		w.Header().Set("Location", "/"+collection+"/"+n)
	}
	wire.Raw(w, http.StatusCreated, []byte(n))
	return nil
}

// Answer answers 200 with v as JSON, unless err is a failure: then it returns err.
func Answer(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, v)
}

// Done is Answer with [], the answer of Iris to most changes.
func Done(w http.ResponseWriter, err error) error { return Answer(w, []int{}, err) }

// Empty is Answer with another status and without a body.
func Empty(w http.ResponseWriter, status int, err error) error {
	if err != nil {
		return err
	}
	return routing.Empty(w, status)
}

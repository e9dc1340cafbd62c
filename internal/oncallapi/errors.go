package oncallapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
)

// legacy words faults that come from below for Oncall's clients, who know 422 where we say conflict, and a title with a
// description where we say one sentence. Below /v1 errors stay as they are, without the
// title that says nothing.
func legacy(r *http.Request, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	if !strings.HasPrefix(r.URL.Path, v0) {
		if f.Message == "IntegrityError" {
			return &fault.Error{Kind: f.Kind, Field: f.Field, Message: f.Detail, Err: f.Err}
		}
		return err
	}
	switch {
	case f.Kind == fault.Conflict:
		text := f.Message
		if f.Detail != "" {
			text = f.Detail
		}
		return &fault.Error{Kind: fault.Mismatch, Message: "IntegrityError", Detail: text, Err: f.Err}
	case f.Kind == fault.Invalid && f.Detail == "" && f.Field != "":
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: "Invalid " + f.Field, Detail: f.Message, Err: f.Err}
	}
	return err
}

package pages

import (
	"errors"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Plain removes the title from a fault that both calendar APIs return. Only clients of Oncall expect the title.
func Plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Message == "IntegrityError" {
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: f.Detail, Err: f.Err}
	}
	return err
}

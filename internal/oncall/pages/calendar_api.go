package pages

import (
	"errors"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	requests.Requests
	Contacts Contacts
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

type contacts struct{ Deps }

// Authenticator authenticates the callers of the routes.
type Authenticator = requests.Authenticator

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return contacts{d}.routes()
}

// Plain removes the title from a fault that both calendar APIs return. Only clients of Oncall expect the title.
func Plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Message == "IntegrityError" {
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: f.Detail, Err: f.Err}
	}
	return err
}

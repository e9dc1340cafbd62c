package pages

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Members lists the people of a team.
type Members interface {
	People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
}

// Rotations computes the shifts that a rotation would make.
type Rotations interface {
	Rehearse(ctx context.Context, draft scheduling.Schedule, roster int64, start time.Time,
		window oncall.Span) (scheduling.Result, error)
}

// Swaps stores swap requests.
type Swaps interface {
	// Swaps lists at most limit requests of a team, newest first: those with a number below before, or all if before is
	// 0.
	Swaps(ctx context.Context, team, before int64, limit int) ([]editing.NamedSwap, error)
	AskSwap(ctx context.Context, n editing.NewSwapRequest, by oncall.By) (int64, error)
	DecideSwap(ctx context.Context, id int64, answer editing.SwapAnswer, by oncall.By) (editing.NamedSwap, error)
}

// Sealer encrypts the proofs of edits. Unseal returns an error unless Seal returned the text for the same value of
// about.
type Sealer interface {
	Seal(plain []byte, about string) []byte
	Unseal(sealed []byte, about string) ([]byte, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	requests.Requests
	Planning       *planning.Planning
	Members        Members
	Rotations      Rotations
	Unavailability planning.Absences
	Swaps          Swaps
	Imports        planning.Imports
	Contacts       Contacts
	Sealer         Sealer
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// The routes by resource.
type (
	contacts struct{ Deps }
	drafts   struct{ Deps }
	edits    struct{ Deps }
	imports  struct{ Deps }
	swaps    struct{ Deps }
)

// Authenticator authenticates the callers of the routes.
type Authenticator = requests.Authenticator

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(contacts{d}.routes(), drafts{d}.routes(), edits{d}.routes(), imports{d}.routes(), swaps{d}.routes())
}

// Plain removes the title from a fault that both calendar APIs return. Only clients of Oncall expect the title.
func Plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Message == "IntegrityError" {
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: f.Detail, Err: f.Err}
	}
	return err
}

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

// Unavailability stores the times in which people cannot be on call.
type Unavailability interface {
	Absences(ctx context.Context, people []users.ID) ([]scheduling.StoredAbsence, error)
	Absence(ctx context.Context, id int64) (scheduling.StoredAbsence, error)
	AddAbsence(ctx context.Context, a scheduling.StoredAbsence) (int64, error)
	DropAbsence(ctx context.Context, id int64) error
}

// Swaps stores swap requests.
type Swaps interface {
	// Swaps lists at most limit requests of a team, newest first: those with a number below before, or all if before is
	// 0.
	Swaps(ctx context.Context, team, before int64, limit int) ([]editing.NamedSwap, error)
	AskSwap(ctx context.Context, n editing.NewSwapRequest, by oncall.By) (int64, error)
	DecideSwap(ctx context.Context, id int64, answer editing.SwapAnswer, by oncall.By) (editing.NamedSwap, error)
}

// Imports stores shifts from iCalendar texts.
type Imports interface {
	TakeOver(ctx context.Context, c editing.ExternalCalendar, by oncall.By, rehearse bool) (editing.CalendarImport,
		error)
}

// Subscriptions stores subscriptions of external calendars.
type Subscriptions interface {
	ByID(ctx context.Context, id int64) (editing.CalendarSubscription, error)
	// Save adds a subscription without an id, and changes one with an id. An empty URL stays as it is.
	Save(ctx context.Context, c editing.CalendarSubscription, url string, by oncall.By) (int64, error)
	Drop(ctx context.Context, c editing.CalendarSubscription, by oncall.By) error
	// Refresh makes a calendar due now.
	Refresh(ctx context.Context, id int64) error
}

// SubscriptionLists lists the subscriptions of teams and people.
type SubscriptionLists interface {
	OfTeam(ctx context.Context, team int64) ([]editing.CalendarSubscription, error)
	OfPerson(ctx context.Context, person users.ID) ([]editing.CalendarSubscription, error)
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
	Unavailability Unavailability
	Holidays       planning.Holidays
	Swaps          Swaps
	Imports        Imports
	Contacts       Contacts
	Sealer         Sealer
	Subscriptions  Subscriptions
	Subscribed     SubscriptionLists
	// PrivateCalendars allows subscriptions of calendars at http addresses.
	PrivateCalendars bool `optional:"true"`
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// The routes by resource.
type (
	contacts       struct{ Deps }
	drafts         struct{ Deps }
	edits          struct{ Deps }
	holidays       struct{ Deps }
	imports        struct{ Deps }
	subscriptions  struct{ Deps }
	swaps          struct{ Deps }
	unavailability struct{ Deps }
)

// Authenticator authenticates the callers of the routes.
type Authenticator = requests.Authenticator

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(contacts{d}.routes(), drafts{d}.routes(), edits{d}.routes(),
		holidays{d}.routes(), imports{d}.routes(), subscriptions{d}.routes(), swaps{d}.routes(), unavailability{d}.routes())
}

// Plain removes the title from a fault that both calendar APIs return. Only clients of Oncall expect the title.
func Plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Message == "IntegrityError" {
		return &fault.Error{Kind: f.Kind, Field: f.Field, Message: f.Detail, Err: f.Err}
	}
	return err
}

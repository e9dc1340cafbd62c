package pages

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Quiet stores the quiet-time limits that people choose.
type Quiet interface {
	QuietLimits(ctx context.Context, id users.ID) (users.QuietLimits, error)
	SetQuietLimits(ctx context.Context, u users.User, limits users.QuietLimits, by string) error
}

// apiQuiet are the routes of the quiet-time limits of people.
type apiQuiet struct{ Deps }

func (a apiQuiet) routes() []routing.Route {
	const path = "/v1/users/{user}/quiet-limits"
	return []routing.Route{
		routing.Get(path, routing.Self, a.get),
		routing.Put(path, routing.Self, a.put),
	}
}

// quietLimits are the limits on the wire.
type quietLimits struct {
	PerDay      *int             `json:"calls_and_texts_per_day"` // null = the limit of the installation
	WorkingDays []users.Priority `json:"working_days_only"`
}

func (a apiQuiet) get(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	found, err := a.Quiet.QuietLimits(r.Context(), u.ID)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, quietLimits{found.PerDay, append([]users.Priority{}, found.WorkingDays...)})
}

// put replaces the limits of a person.
func (a apiQuiet) put(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "calls_and_texts_per_day", "working_days_only")
	if err != nil {
		return err
	}
	var limits users.QuietLimits
	if b.Given("calls_and_texts_per_day") {
		n, err := b.Whole("calls_and_texts_per_day", users.MaxPerDay, 0)
		if err != nil {
			return err
		}
		perDay := int(n)
		limits.PerDay = &perDay
	}
	names, _, err := b.Names("working_days_only", len(users.Priorities))
	if err != nil {
		return err
	}
	for _, name := range names {
		limits.WorkingDays = append(limits.WorkingDays, users.Priority(name))
	}
	if err := limits.Check(); err != nil {
		return err
	}
	if err := a.Quiet.SetQuietLimits(r.Context(), u.User, limits, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	return a.get(w, r)
}

package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Display stores how pages show times to people.
type Display interface {
	Display(ctx context.Context, id users.ID) (users.Display, error)
	SetDisplay(ctx context.Context, u users.User, d users.Display, by string) error
}

// display are the routes of the time zone and the clock of people.
type display struct{ Deps }

func (a display) routes() []routing.Route {
	const path = "/v1/users/{user}/settings"
	return []routing.Route{
		routing.Get(path, routing.Self, a.get),
		routing.Put(path, routing.Self, a.put),
	}
}

func (a display) get(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	found, err := a.Display.Display(r.Context(), u.ID)
	return routing.Reply(w, http.StatusOK, map[string]*string{"time_zone": listing.OrNull(found.TimeZone),
		"clock": listing.OrNull(found.Clock)}, err)
}

// put replaces the settings. A field that is missing has no choice: the browser's zone and clock.
func (a display) put(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "time_zone", "clock")
	if err != nil {
		return err
	}
	d := users.Display{TimeZone: strings.TrimSpace(jsonbody.Next(&err, b.Text, "time_zone")),
		Clock: jsonbody.Next(&err, b.Text, "clock")}
	if err == nil {
		err = d.Check()
	}
	if err == nil {
		err = a.Display.SetDisplay(r.Context(), u.User, d, wire.Actor(r.Context()).String())
	}
	if err != nil {
		return err
	}
	return a.get(w, r)
}

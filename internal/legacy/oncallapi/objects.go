package oncallapi

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// IDsOf returns the numbers of people.
func IDsOf(people []oncall.TeamPerson) []users.ID {
	out := make([]users.ID, len(people))
	for i, p := range people {
		out[i] = p.ID
	}
	return out
}

// Sight returns what the caller of the request sees of the contacts of people.
func (a Requests) Sight(ctx context.Context, people ...oncall.Person) (auth.Sight, error) {
	names := make([]string, len(people))
	for i, p := range people {
		names[i] = p.Name
	}
	return wire.Sight(ctx, a.People.OnCallNow, names)
}

// UserObjects returns users on the wire, with the contacts that the caller of the request sees.
func (a Requests) UserObjects(ctx context.Context, people ...oncall.Person) ([]map[string]any, error) {
	s, err := a.Sight(ctx, people...)
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, len(people))
	for i, u := range people {
		out[i] = userObject(s, u)
	}
	return out, nil
}

// Created answers that a person was added to what the path names.
func (a Requests) Created(w http.ResponseWriter, r *http.Request, u oncall.Person, err error) error {
	if err != nil {
		return err
	}
	out, err := a.UserObjects(r.Context(), u)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, out[0])
}

func userObject(s auth.Sight, u oncall.Person) map[string]any {
	zone := operation.OrNull(u.TimeZone)
	if u.NoTimeZone {
		zone = nil
	}
	return map[string]any{
		"id": u.OncallID, "name": u.Name, "full_name": operation.OrNull(u.FullName), "time_zone": zone, "photo_url": operation.OrNull(u.PhotoURL),
		"active": Bool01(u.Active), "god": Bool01(u.Admin), "contacts": s.Contacts(u.Name, u.Contacts),
	}
}

// eventObject returns a shift of /v1 on the wire.
func eventObject(e calendaring.Event) map[string]any {
	return map[string]any{"id": e.ID, "start": e.Start.Unix(), "end": e.End.Unix(), "role": e.Role, "team": e.Team,
		"user": e.User, "full_name": e.FullName, "schedule_id": e.Schedule, "link_id": e.Link, "note": e.Note}
}

// EventFields are the fields of a shift on the wire.
var EventFields = []string{"id", "start", "end", "role", "team", "user", "full_name", "schedule_id", "link_id", "note"}

// EventObjects returns shifts on the wire, with the requested fields.
func EventObjects(rows []oncall.ShiftRow, asked []string) []map[string]any {
	out := make([]map[string]any, len(rows))
	for i, row := range rows {
		out[i] = row.Event()
		maps.DeleteFunc(out[i], func(field string, _ any) bool { return !slices.Contains(asked, field) })
	}
	return out
}

// Bool01 returns a boolean on Oncall's wire: 0 or 1.
func Bool01(b bool) int {
	if b {
		return 1
	}
	return 0
}

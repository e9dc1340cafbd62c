package calendars

import (
	"maps"
	"slices"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// IDsOf returns the numbers of people.
func IDsOf(people []oncall.TeamPerson) []users.ID {
	out := make([]users.ID, len(people))
	for i, p := range people {
		out[i] = p.ID
	}
	return out
}

// UserObject returns a user on the wire.
func UserObject(u oncall.Person) map[string]any {
	contacts := map[string]string{}
	for mode, destination := range u.Contacts {
		contacts[string(mode)] = destination
	}
	zone := OrNull(u.TimeZone)
	if u.NoTimeZone {
		zone = nil
	}
	return map[string]any{
		"id": u.OncallID, "name": u.Name, "full_name": OrNull(u.FullName), "time_zone": zone, "photo_url": OrNull(u.PhotoURL),
		"active": Bool01(u.Active), "god": Bool01(u.Admin), "contacts": contacts,
	}
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

// OrNull returns nil for the zero value.
func OrNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Bool01 returns a boolean on Oncall's wire: 0 or 1.
func Bool01(b bool) int {
	if b {
		return 1
	}
	return 0
}

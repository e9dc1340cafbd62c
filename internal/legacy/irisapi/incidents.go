package irisapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Incidents reads incidents and their comments.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	// Count counts the rows of List, and the rows for each value of the fields.
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
}

// Messages reads the messages of incidents.
type Messages interface {
	ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error)
}

// IncidentsDeps are the parts that the routes work on. All are required.
type IncidentsDeps struct {
	Incidents  Incidents
	Operations *incidents.Incidents
	Messages   Messages
	People     users.Finder
	Tags       Tags
	Openings   auth.Openings
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
}

// The routes by resource.
type (
	incidentsReads struct{ IncidentsDeps }
	claims         struct{ IncidentsDeps }
	states         struct{ IncidentsDeps }
	comments       struct{ IncidentsDeps }
)

// IncidentsRoutes returns the routes on the parts.
func IncidentsRoutes(d IncidentsDeps) []routing.Route {
	read, claim, state, comment := incidentsReads{d}, claims{d}, states{d}, comments{d}
	return []routing.Route{
		routing.Get("/v0/incidents", routing.Read, read.list),
		routing.Get("/v0/incidents/{id}", routing.Read, WithID(invalidID, read.get)),
		routing.Post("/v0/incidents/claim", routing.Write, claim.many),
		routing.Post("/v0/incidents/{id}", routing.Write, WithID(invalidID, claim.one)),
		routing.Post("/v0/incidents/{id}/resolve", routing.Write, WithID(invalidID, claim.resolve)),
		routing.Post("/v0/internal/incident/{id}", routing.Write,
			Internal(state.InternalApplications, WithID(invalidID, state.set))),
		routing.Get("/v0/incidents/{id}/comments", routing.Read, WithID(invalidID, comment.list)),
		routing.Post("/v0/incidents/{id}/comments", routing.Write, WithID(invalidID, comment.add)),
	}
}

// caller returns the caller of a request as operations see it.
func (d IncidentsDeps) caller(ctx context.Context) operation.Actor {
	return wire.Actor(ctx).Caller(d.Openings)
}

// noSuchIncident translates the fault of a change of an incident that does not exist. A caller that reaches only the
// incidents of its application gets 404, since those of others do not exist for it either.
func (d IncidentsDeps) noSuchIncident(ctx context.Context, err error) error {
	if wire.Actor(ctx).Confined(d.Openings) {
		return err
	}
	return fault.When(err, fault.NotFound, fault.New(fault.Invalid, "Invalid claim: no matching incident id"))
}

const invalidID = "Invalid incident id"

var incidentsColumns = Columns[incidents.Incident]{
	{"id", func(i incidents.Incident) any { return i.ID }},
	{"plan", func(i incidents.Incident) any { return i.Plan }},
	{"plan_id", func(i incidents.Incident) any { return i.PlanID }},
	{"active", func(i incidents.Incident) any { return Flag(i.Active) }},
	{"updated", func(i incidents.Incident) any { return Unix(i.UpdatedAt) }},
	{"application", func(i incidents.Incident) any { return i.Application }},
	{"context", func(i incidents.Incident) any { return contextOf(i) }},
	{"created", func(i incidents.Incident) any { return Unix(i.CreatedAt) }},
	{"owner", func(i incidents.Incident) any { return OrNull(i.Owner) }},
	{"current_step", func(i incidents.Incident) any { return i.CurrentStep }},
	{"title_variable_name", func(i incidents.Incident) any { return OrNull(i.TitleVariable) }},
	{"resolved", func(i incidents.Incident) any { return Flag(i.Resolved) }},
}

var incidentsRows = Rows[incidents.Incident]{
	Query: List{Schema: incidents.FilterSchema, AnyOf: []string{"target"}, Limited: true,
		Unique: []string{"id", "context", "created", "updated"}},
	Columns: incidentsColumns, Kind: "incident", ID: number, TooBroad: "Incident query too broad, add filter or limit", Derived: withTitle,
}

// withTitle adds the column title if the list has the columns of which the title is made.
func withTitle(c Columns[incidents.Incident], fields []string) Columns[incidents.Incident] {
	if len(fields) == 0 || slices.Contains(fields, "context") && slices.Contains(fields, "title_variable_name") {
		return c.With("title", title)
	}
	return c
}

func contextOf(i incidents.Incident) json.RawMessage {
	if len(i.Context) == 0 {
		return json.RawMessage("{}")
	}
	return i.Context
}

// title is the value of the application's title variable inside the context, or null.
func title(i incidents.Incident) any {
	var ctx map[string]json.RawMessage
	if i.TitleVariable == "" || json.Unmarshal(i.Context, &ctx) != nil {
		return nil
	}
	if v, ok := ctx[i.TitleVariable]; ok {
		return v
	}
	return nil
}

func (a incidentsReads) list(w http.ResponseWriter, r *http.Request) error {
	return incidentsRows.Answer(w, r, a.Tags, a.Incidents.List, a.Incidents.Count)
}

func number(i incidents.Incident) int64 { return int64(i.ID) }

// single are the columns of a single incident. Its steps and comments follow them.
var single = Rows[incidents.Incident]{Kind: "incident", ID: number,
	Columns: incidentsColumns.Pick([]string{"id", "plan_id", "plan", "created",
		"updated", "context", "owner", "application", "current_step", "active", "resolved"})}

var steps = Columns[messages.Message]{
	{"id", func(m messages.Message) any { return m.ID }},
	{"name", func(m messages.Message) any { return m.Target }},
	{"mode", func(m messages.Message) any { return m.Mode }},
	{"priority", func(m messages.Message) any { return OrNull(m.Priority) }},
	{"created", func(m messages.Message) any { return Unix(m.CreatedAt) }},
	{"sent", func(m messages.Message) any { return Unix(m.SentAt) }},
	{"step", func(m messages.Message) any { return m.Step }},
	{"mode_changed", func(m messages.Message) any { return Flag(m.ModeChanged) }},
	{"target_changed", func(m messages.Message) any { return Flag(m.TargetChanged) }},
}

func (a incidentsReads) get(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	in, err := a.Incidents.Get(r.Context(), id)
	if err != nil {
		return err
	}
	sent, err := a.Messages.ByIncident(r.Context(), in.ID)
	if err != nil {
		return err
	}
	// Imported messages may have no mode, and messages to the tracking address of the plan belong to no step: neither
	// is shown.
	sent = slices.DeleteFunc(sent, func(m messages.Message) bool { return m.Mode == "" || m.Step == 0 })
	// In the order of sending; messages that are not sent come last.
	slices.SortStableFunc(sent, func(x, y messages.Message) int {
		if x.SentAt.IsZero() != y.SentAt.IsZero() {
			return cmp.Compare(Flag(x.SentAt.IsZero()), Flag(y.SentAt.IsZero()))
		}
		return cmp.Or(x.SentAt.Compare(y.SentAt), cmp.Compare(x.ID, y.ID))
	})
	comments, err := a.Incidents.Comments(r.Context(), in.ID)
	if err != nil {
		return err
	}
	page, err := single.Record(r.Context(), a.Tags, in)
	page = append(page, Member{"steps", steps.Records(sent)}, Member{"comments", commentColumns.Records(comments)})
	return Answer(w, page, err)
}

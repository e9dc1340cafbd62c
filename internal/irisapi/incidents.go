package irisapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/wire"
)

var incidentColumns = columns[incidents.Incident]{
	{"id", func(i incidents.Incident) any { return i.ID }},
	{"plan", func(i incidents.Incident) any { return i.Plan }},
	{"plan_id", func(i incidents.Incident) any { return i.PlanID }},
	{"active", func(i incidents.Incident) any { return flag(i.Active) }},
	{"updated", func(i incidents.Incident) any { return unix(i.UpdatedAt) }},
	{"application", func(i incidents.Incident) any { return i.Application }},
	{"context", func(i incidents.Incident) any { return incidentContext(i) }},
	{"created", func(i incidents.Incident) any { return unix(i.CreatedAt) }},
	{"owner", func(i incidents.Incident) any { return orNull(i.Owner) }},
	{"current_step", func(i incidents.Incident) any { return i.CurrentStep }},
	{"title_variable_name", func(i incidents.Incident) any { return orNull(i.TitleVariable) }},
	{"resolved", func(i incidents.Incident) any { return flag(i.Resolved) }},
}

var incidentList = list{schema: incidents.FilterSchema, anyOf: []string{"target"}, columns: incidentColumns.names(), limited: true,
	unique: []string{"id", "context", "created", "updated"}}

func incidentContext(i incidents.Incident) json.RawMessage {
	if len(i.Context) == 0 {
		return json.RawMessage("{}")
	}
	return i.Context
}

// incidentTitle is the value of the application's title variable inside the context, or null.
func incidentTitle(i incidents.Incident) any {
	var ctx map[string]json.RawMessage
	if i.TitleVariable == "" || json.Unmarshal(i.Context, &ctx) != nil {
		return nil
	}
	if v, ok := ctx[i.TitleVariable]; ok {
		return v
	}
	return nil
}

func (a *API) listIncidents(w http.ResponseWriter, r *http.Request) error {
	all := a.tagging.list(incidentList)
	q, err := all.read(w, r)
	if err != nil {
		return err
	}
	if len(q.Conditions) == 0 && q.Limit == 0 {
		return fault.New(fault.Invalid, "Incident query too broad, add filter or limit")
	}
	if done, err := all.counted(w, r, q, a.Incidents.Count); done || err != nil {
		return err
	}
	found, err := a.Incidents.List(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, incidentColumns.pick(q.Fields), q.Fields, "incident", found, incidentNumber)
	if err != nil {
		return err
	}
	if len(q.Fields) == 0 || (slices.Contains(q.Fields, "context") && slices.Contains(q.Fields, "title_variable_name")) {
		cols = append(slices.Clip(cols), column[incidents.Incident]{"title", incidentTitle})
	}
	wire.JSON(w, http.StatusOK, records(cols, found))
	return nil
}

func incidentNumber(i incidents.Incident) int64 { return int64(i.ID) }

// incidentPage are the columns of a single incident, in front of its steps and comments.
var incidentPage = incidentColumns.pick([]string{"id", "plan_id", "plan", "created", "updated", "context", "owner", "application",
	"current_step", "active", "resolved"})

var incidentSteps = columns[messages.Message]{
	{"id", func(m messages.Message) any { return m.ID }},
	{"name", func(m messages.Message) any { return m.Target }},
	{"mode", func(m messages.Message) any { return m.Mode }},
	{"priority", func(m messages.Message) any { return orNull(m.Priority) }},
	{"created", func(m messages.Message) any { return unix(m.CreatedAt) }},
	{"sent", func(m messages.Message) any { return unix(m.SentAt) }},
	{"step", func(m messages.Message) any { return m.Step }},
	{"mode_changed", func(m messages.Message) any { return flag(m.ModeChanged) }},
	{"target_changed", func(m messages.Message) any { return flag(m.TargetChanged) }},
}

var commentColumns = columns[incidents.Comment]{
	{"author", func(c incidents.Comment) any { return c.Author }},
	{"created", func(c incidents.Comment) any { return unix(c.CreatedAt) }},
	{"content", func(c incidents.Comment) any { return c.Content }},
}

func invalidIncidentID() error { return fault.New(fault.Invalid, "Invalid incident id") }

func noSuchIncident() error {
	return fault.New(fault.Invalid, "Invalid claim: no matching incident id")
}

func (a *API) getIncident(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return invalidIncidentID()
	}
	in, err := a.Incidents.Get(r.Context(), incidents.ID(id))
	if err != nil {
		return err
	}
	sent, err := a.Messages.ByIncident(r.Context(), in.ID)
	if err != nil {
		return err
	}
	// Left out are those whose mode was never decided (imported), and what the plan's tracking address heard, which is of no step.
	sent = slices.DeleteFunc(sent, func(m messages.Message) bool { return m.Mode == "" || m.Step == 0 })
	// By the time of sending; what has not left comes last.
	slices.SortStableFunc(sent, func(x, y messages.Message) int {
		if x.SentAt.IsZero() != y.SentAt.IsZero() {
			return cmp.Compare(flag(x.SentAt.IsZero()), flag(y.SentAt.IsZero()))
		}
		return cmp.Or(x.SentAt.Compare(y.SentAt), cmp.Compare(x.ID, y.ID))
	})
	comments, err := a.Incidents.Comments(r.Context(), in.ID)
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, incidentPage, nil, "incident", []incidents.Incident{in}, incidentNumber)
	if err != nil {
		return err
	}
	page := cols.record(in)
	page = append(page, member{"steps", records(incidentSteps, sent)}, member{"comments", records(commentColumns, comments)})
	wire.JSON(w, http.StatusOK, page)
	return nil
}

func (a *API) resolveIncident(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return invalidIncidentID()
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	raw, ok := b.members["resolved"]
	if !ok {
		return fault.Invalidf("resolved", "resolved field required")
	}
	done, err := a.Incidents.Resolve(r.Context(), a.change(r, incidents.ID(id)), truthy(raw))
	if err != nil {
		return err
	}
	if len(done) != 1 || !done[0].Found {
		return noSuchIncident()
	}
	a.wake(r.Context(), done)
	wire.JSON(w, http.StatusOK, record{{"incident_id", strconv.FormatInt(id, 10)}, {"resolved", raw}})
	return nil
}

func (a *API) listComments(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return invalidIncidentID()
	}
	comments, err := a.Incidents.Comments(r.Context(), incidents.ID(id))
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(commentColumns, comments))
	return nil
}

func (a *API) addComment(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return invalidIncidentID()
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	author, err := b.text("author")
	if err != nil {
		return err
	}
	content, err := b.text("content")
	if err != nil {
		return err
	}
	if content == "" {
		return fault.Invalidf("content", "Empty comment")
	}
	user, err := lookUp(r.Context(), a.People, author)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if !wire.Actor(r.Context()).MayActAs(user, a.Config.Openings) {
		return fault.New(fault.Forbidden, "Comment author must match logged in user")
	}
	if err == nil && !user.Active {
		err = fault.New(fault.NotFound, "the author is not active")
	}
	var n int64
	if err == nil {
		n, err = a.Incidents.AddComment(r.Context(), incidents.ID(id), user, content)
	}
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, "Failed to post comment")
	}
	if err != nil {
		return err
	}
	created(w, n, "")
	return nil
}

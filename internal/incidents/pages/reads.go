package pages

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a reads) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/incidents", routing.Someone, a.list),
		routing.Get("/v1/incidents/{id}", routing.Someone, a.get),
		routing.Get("/v1/incidents/{id}/alerts", routing.Someone, a.alerts),
	}
}

// apiObject is an incident in lists.
type apiObject struct {
	ID           incidents.ID    `json:"id"`
	State        incidents.State `json:"state"`
	Title        *string         `json:"title"`
	Heading      string          `json:"heading"` // never empty
	Application  string          `json:"application"`
	Plan         string          `json:"plan"`
	PlanID       int64           `json:"plan_id"`
	Owner        *string         `json:"owner"`
	Step         int             `json:"step"`
	Integration  *string         `json:"integration"`
	Severity     *string         `json:"severity"`
	CreatedAt    *string         `json:"created_at"`
	UpdatedAt    *string         `json:"updated_at"`
	SnoozedUntil *string         `json:"snoozed_until"`
	MergedInto   *incidents.ID   `json:"merged_into"`
}

// whole is an incident with its context, for its own route.
type whole struct {
	apiObject
	Context json.RawMessage `json:"context"`
}

func show(i incidents.Incident) apiObject {
	out := apiObject{ID: i.ID, State: i.State(), Title: title(i), Heading: i.Title(), Application: i.Application,
		Plan: i.Plan, PlanID: i.PlanID,
		Owner: listing.OrNull(i.Owner), Step: i.CurrentStep, Integration: listing.OrNull(i.Integration), Severity: listing.OrNull(i.Severity), CreatedAt: listing.Time(i.CreatedAt), UpdatedAt: listing.Time(i.UpdatedAt),
		SnoozedUntil: listing.Time(i.SnoozedUntil)}
	if i.MergedInto != 0 {
		out.MergedInto = &i.MergedInto
	}
	return out
}

// title returns the value of the application's title variable in the context; nil if it is not a text.
func title(i incidents.Incident) *string {
	var values map[string]json.RawMessage
	var text string
	if i.TitleVariable == "" || json.Unmarshal(i.Context, &values) != nil || json.Unmarshal(values[i.TitleVariable], &text) != nil {
		return nil
	}
	return &text
}

func (a reads) list(w http.ResponseWriter, r *http.Request) error {
	return listing.List[incidents.Incident]{
		Read: a.Incidents.List, Texts: []string{"plan", "application", "owner", "integration",
			"target"}, More: []string{"state", "merged_into", "severity"}, Further: further,
		Endless: true, Indexed: true, Show: func(i incidents.Incident) any { return show(i) },
		Place: func(i incidents.Incident) filters.Place { return filters.Place{At: i.CreatedAt, ID: int64(i.ID)} },
	}.Answer(w, r)
}

// further adds the conditions of the parameters state, merged_into and severity.
func further(q listing.Query, to *filters.Query) error {
	parent, ok, err := q.Number("merged_into")
	if err != nil {
		return err
	}
	if ok {
		to.Conditions = append(to.Conditions, listing.Equal("merged_into", parent))
	}
	if severity, ok := q.Text("severity"); ok {
		if !slices.Contains(incidents.Severities, severity) {
			return fault.Invalidf("severity", "severity must be one of %s", strings.Join(incidents.Severities, ", "))
		}
		to.Conditions = append(to.Conditions, listing.Equal(severity, true))
	}
	name, ok := q.Text("state")
	if !ok {
		return nil
	}
	conditions, known := incidents.InState(name)
	if !known {
		return fault.Invalidf("state", "state must be one of %s", strings.Join(incidents.StateFilters(), ", "))
	}
	to.Conditions = append(to.Conditions, conditions...)
	return nil
}

func (a reads) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.find(r)
	if err != nil {
		return err
	}
	return answer(w, found)
}

func answer(w http.ResponseWriter, i incidents.Incident) error {
	return routing.Answer(w, http.StatusOK, Show(i))
}

// Show returns an incident as its own route shows it.
func Show(i incidents.Incident) any {
	body := whole{apiObject: show(i), Context: i.Context}
	if len(body.Context) == 0 {
		body.Context = json.RawMessage("{}")
	}
	return body
}

// alert is an alert on the wire.
type alert struct {
	Fingerprint string          `json:"fingerprint"`
	Status      string          `json:"status"`
	StartsAt    *string         `json:"starts_at"`
	EndsAt      *string         `json:"ends_at"`
	Labels      json.RawMessage `json:"labels"`
	Annotations json.RawMessage `json:"annotations"`
}

func (a reads) alerts(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	found, err := a.find(r)
	if err != nil {
		return err
	}
	alerts, err := a.Incidents.Alerts(r.Context(), found.ID, q.AfterName(), q.Size+1)
	if err != nil {
		return err
	}
	return listing.AnswerFrom(w, q, alerts, showAlert, func(a incidents.Alert) string { return a.Fingerprint })
}

func showAlert(a incidents.Alert) any {
	out := alert{Fingerprint: a.Fingerprint, Status: "resolved", StartsAt: listing.Time(a.StartsAt),
		EndsAt: listing.Time(a.EndsAt),
		Labels: orObject(a.Labels), Annotations: orObject(a.Annotations)}
	if a.Firing {
		out.Status = "firing"
	}
	return out
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// number is an incident's number as text.
func number(id incidents.ID) string { return strconv.FormatInt(int64(id), 10) }

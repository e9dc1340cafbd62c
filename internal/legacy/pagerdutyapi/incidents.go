package pagerdutyapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// The states of incidents in PagerDuty.
const (
	triggered    = "triggered"
	acknowledged = "acknowledged"
	resolved     = "resolved"
)

// maxChanged is how many incidents a request can change, as in PagerDuty.
const maxChanged = 250

// status returns the state of an incident. A closed one is resolved, a snoozed one with an owner acknowledged.
func status(i incidents.IncidentInList) string {
	switch {
	case i.State == incidents.StateResolved || i.State == incidents.StateClosed:
		return resolved
	case i.Owner != "":
		return acknowledged
	}
	return triggered
}

// shown returns an incident on the wire. Its service is its application, its escalation policy its plan.
func (a *API) shown(i incidents.IncidentInList) object {
	id, changed, urgency := strconv.FormatInt(int64(i.ID), 10), i.CreatedAt, "high"
	if i.UpdatedAt != nil {
		changed = *i.UpdatedAt
	}
	if i.Severity == "warning" || i.Severity == "info" {
		urgency = "low"
	}
	o := a.reference("incident", id, "[#"+id+"] "+i.Heading, "/incidents/"+id)
	o["self"] = a.d.PublicURL + Root + "/incidents/" + id
	o["incident_number"], o["title"], o["description"] = i.ID, i.Heading, i.Heading
	o["status"], o["urgency"], o["priority"] = status(i), urgency, nil
	o["created_at"], o["updated_at"], o["last_status_change_at"] = i.CreatedAt.UTC(), changed.UTC(), changed.UTC()
	o["service"], o["escalation_policy"] = a.service("service_reference", i.Application), a.policy("escalation_policy_reference", i.Plan)
	o["assignments"], o["acknowledgements"], o["teams"], o["pending_actions"] = []object{}, []object{}, []object{}, []object{}
	if i.Owner != "" {
		owner := a.person("user_reference", string(i.Owner), "")
		o["assignments"] = []object{{"at": changed.UTC(), "assignee": owner}}
		if status(i) == acknowledged {
			o["acknowledgements"] = []object{{"at": changed.UTC(), "acknowledger": owner}}
		}
	}
	return o
}

// incidents are listed newest first.
func (a *API) incidents(ctx context.Context, query url.Values, add func(object) bool) error {
	by := a.d.Caller(ctx)
	f := incidents.Filter{Application: only(query, "service_ids[]"), Owner: only(query, "user_ids[]")}
	for _, s := range query["statuses[]"] {
		if s != triggered && s != acknowledged && s != resolved {
			return fault.Invalidf("statuses[]", "statuses[] must be triggered, acknowledged or resolved")
		}
	}
	if !wanted(query, "statuses[]", resolved) {
		f.State = incidents.StateOpen
	}
	for name, to := range map[string]*time.Time{"since": &f.CreatedAfter, "until": &f.CreatedBefore} {
		given := query.Get(name)
		if given == "" || query.Get("date_range") == "all" {
			continue
		}
		var err error
		if *to, err = parseTime(given); err != nil {
			return fault.Invalidf(name, "%s must be a time such as 2026-11-22T11:00:00Z", name)
		}
	}
	return walk(func(p operation.Paging) (operation.Page[incidents.IncidentInList], error) {
		f.Paging = p
		return a.d.Incidents.List.Do(ctx, by, f)
	}, func(i incidents.IncidentInList) bool {
		return !wanted(query, "statuses[]", status(i)) || !wanted(query, "service_ids[]", i.Application) ||
			!wanted(query, "user_ids[]", string(i.Owner)) || add(a.shown(i))
	})
}

// parseTime reads a time; without a zone, it is in UTC.
func parseTime(s string) (t time.Time, err error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err = time.Parse(layout, s); err == nil {
			break
		}
	}
	return t, err
}

// number reads the number of an incident. Another text names no incident.
func number(id string) (incidents.One, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n <= 0 {
		return incidents.One{}, fault.New(fault.NotFound, "Not Found")
	}
	return incidents.One{ID: incidents.ID(n)}, nil
}

func (a *API) incident(w http.ResponseWriter, r *http.Request) error {
	which, err := number(routing.Param(r, "id"))
	if err != nil {
		return err
	}
	found, err := a.d.Incidents.Get.Do(r.Context(), a.d.Caller(r.Context()), which)
	return routing.Reply(w, http.StatusOK, object{"incident": a.shown(found.IncidentInList)}, err)
}

// edit is a change of an incident. Members that clients send without changing them are ignored.
type edit struct {
	ID     json.RawMessage `json:"id"`
	Status string          `json:"status"`
}

func (a *API) changeIncident(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Incident edit `json:"incident"`
	}
	r, err := read(w, r, &body)
	if err != nil {
		return err
	}
	changed, err := a.change(r, routing.Param(r, "id"), body.Incident.Status)
	return routing.Reply(w, http.StatusOK, object{"incident": changed}, err)
}

// changeIncidents changes several incidents in their order. The first refusal ends the request.
func (a *API) changeIncidents(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Incidents []edit `json:"incidents"`
	}
	r, err := read(w, r, &body)
	if err != nil {
		return err
	}
	if n := len(body.Incidents); n == 0 || n > maxChanged {
		return fault.Invalidf("incidents", "incidents must be a list of 1 to %d incidents", maxChanged)
	}
	var out []object
	for _, e := range body.Incidents {
		changed, err := a.change(r, strings.Trim(string(e.ID), `"`), e.Status)
		if err != nil {
			return err
		}
		out = append(out, changed)
	}
	return routing.Answer(w, http.StatusOK, object{"incidents": out})
}

// read decodes a body.
func read(w http.ResponseWriter, r *http.Request, to any) (*http.Request, error) {
	raw, r, err := wire.Body(w, r, wire.MaxBody)
	if err == nil {
		err = wire.CheckJSON(raw)
	}
	if err == nil && json.Unmarshal(raw, to) != nil {
		err = fault.New(fault.Invalid, "The body must be an object with the incident")
	}
	return r, err
}

// change acknowledges or resolves an incident.
func (a *API) change(r *http.Request, id, wantedStatus string) (object, error) {
	ctx, by := r.Context(), a.d.Caller(r.Context())
	which, err := number(id)
	if err != nil {
		return nil, err
	}
	var done incidents.IncidentDetail
	switch wantedStatus {
	case acknowledged:
		claim := incidents.Claim{One: which}
		if by.Person == 0 {
			owner, err := a.from(ctx, r.Header.Get("From"))
			if err != nil {
				return nil, err
			}
			claim.Body = &incidents.Claimant{Owner: operation.Text(owner)}
		}
		done, err = a.d.Incidents.Acknowledge.Do(ctx, by, claim)
	case resolved:
		done, err = a.d.Incidents.Resolve.Do(ctx, by, which)
	default:
		return nil, fault.Invalidf("status", "status must be acknowledged or resolved: Iris supports no other change here")
	}
	return a.shown(done.IncidentInList), err
}

// from returns the name of the person in the header From: their e-mail address or name. Callers who are people need no
// header.
func (a *API) from(ctx context.Context, header string) (string, error) {
	if !strings.Contains(header, "@") {
		return header, nil
	}
	found, err := a.d.Addresses.ByContact(ctx, users.Email, header)
	if fault.Is(err, fault.NotFound) {
		err = fault.Invalidf("From", "the header From must be the e-mail address of a person")
	}
	return found.Name, err
}

package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// alertAction is what a request can do with an alert.
type alertAction struct {
	letter byte   // begins the ids of its requests
	name   string // in the status of a request
	done   string // the status of a request that was carried out
	event  intake.Status
	closed bool // also for closed alerts
	// plan checks the fields and returns what to do; nil = only the event or the note.
	plan func(f alertFields) (alertWork, error)
}

// alertWork changes an alert.
type alertWork func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error

// alertActions returns the actions by method and last segment of the path. DELETE without a segment deletes the alert:
// it is resolved.
func alertActions() map[string]alertAction {
	return map[string]alertAction{
		"POST close": {letter: 'x', name: "Close", done: "Closed alert", event: intake.Resolved},
		"DELETE ":    {letter: 'z', name: "Delete", done: "Deleted alert", event: intake.Resolved},
		"POST acknowledge": {letter: 'a', name: "Acknowledge", done: "Acknowledged alert",
			event: intake.Acknowledged},
		"POST unacknowledge": {letter: 'u', name: "UnAcknowledge", done: "Unacknowledged alert",
			plan: planned(intake.Actions.Unacknowledge)},
		"POST escalate": {letter: 'E', name: "Escalate", done: "Escalated alert to the next step",
			plan: planned(intake.Actions.Escalate)},
		"POST assign":     {letter: 'o', name: "Assign", done: "Assigned alert", plan: planAssign},
		"POST snooze":     {letter: 's', name: "Snooze", done: "Snoozed alert", plan: planSnooze},
		"POST responders": {letter: 'q', name: "AddResponder", done: "Added responder", plan: planResponder},
		"POST teams":      {letter: 'R', name: "AddTeam", done: "Added team", plan: planTeam},
		"POST notes":      {letter: 'n', name: "AddNote", done: "Added note", closed: true, plan: planNote},
		"POST tags":       {letter: 't', name: "AddTags", done: "Added tags", closed: true, plan: planTags},
		"DELETE tags":     {letter: 'T', name: "RemoveTags", done: "Removed tags", closed: true, plan: planDropTags},
		"POST details":    {letter: 'd', name: "AddDetails", done: "Added details", closed: true, plan: planDetails},
		"DELETE details": {letter: 'D', name: "RemoveDetails", done: "Removed details", closed: true,
			plan: planDropDetails},
		"PUT message": {letter: 'm', name: "UpdateMessage", done: "Updated message", closed: true,
			plan: planField("message")},
		"PUT description": {letter: 'M', name: "UpdateDescription", done: "Updated description", closed: true,
			plan: planField("description")},
		"PUT priority": {letter: 'p', name: "UpdatePriority", done: "Updated priority", closed: true,
			plan: planField("priority")},
	}
}

// statusOf returns the action of a letter.
func statusOf(letter byte) (alertAction, bool) {
	if letter == 'c' {
		return alertAction{name: "Create", done: "Created alert"}, true
	}
	for _, a := range alertActions() {
		if a.letter == letter {
			return a, true
		}
	}
	return alertAction{}, false
}

// changeAlert carries out an action on an alert. An alert that does not exist, or whose state does not permit the
// action, is no error: the status of the request says so.
func (h *Hooks) changeAlert(w http.ResponseWriter, r *http.Request) {
	a := h.beginAlert(w, r, wire.MaxBody)
	act, identifier, err := actionOf(r)
	if a.err == nil {
		a.err = err
	}
	if a.err == nil {
		a.err = a.change(act, identifier)
	}
	a.finish(act.letter)
}

// actionOf returns the action and the identifier in the path of a request.
func actionOf(r *http.Request) (act alertAction, identifier string, err error) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), alertsPath+"/")
	cut := strings.LastIndexByte(path, '/')
	act, known := alertActions()[r.Method+" "+path[cut+1:]]
	escaped := path[:max(cut, 0)]
	if !known && r.Method == http.MethodDelete {
		act, known, escaped = alertActions()["DELETE "], true, path
	}
	if !known {
		return act, "", fault.Invalidf("action", "the action %.40q is not supported", path[cut+1:])
	}
	identifier, err = url.PathUnescape(escaped)
	if err != nil || identifier == "" || !wire.Storable(identifier) {
		return act, "", fault.Invalidf("identifier", "name the alert by its id, alias or tiny id")
	}
	return act, identifier, nil
}

// change finds the alert and carries out the action.
func (a *alertRequest) change(act alertAction, identifier string) error {
	ctx, do := a.r.Context(), a.d.h.actions
	if _, err := a.d.keep(a.body); err != nil {
		return err
	}
	f, err := newAlertFields(a.d.body, a.r.URL.Query())
	if err != nil {
		return err
	}
	work := func(context.Context, intake.Actions, intake.Integration, intake.Alert) error { return nil }
	if act.plan != nil {
		if work, err = act.plan(f); err != nil {
			return err
		}
	}
	alert, err := a.find(ctx, identifier)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil // nothing to do: finish says that the alert does not exist
	case err != nil:
		return err
	case !alert.Open && !act.closed:
		a.incident, a.outcome = alert.Incident, alertClosed
		return nil
	}
	a.incident = alert.Incident
	if alert.Grouped && act.event == "" { // it would change what others reported, too
		a.outcome = alertRefused
		return nil
	}
	if act.event != "" {
		a.d.events = []intake.Event{{Status: act.event, Key: alert.Key}}
		err = a.d.receive(ctx)
	} else {
		err = work(ctx, do, a.d.from, alert)
	}
	if fault.Is(err, fault.Conflict) {
		a.outcome, err = conflictOutcome(err), nil
	}
	if note := f.optional("note"); err == nil && note != "" && a.outcome == alertDone {
		err = do.Comment(ctx, a.d.from, alert, f.optional("user"), note)
	}
	return err
}

func conflictOutcome(err error) alertOutcome {
	switch {
	case errors.Is(err, intake.ErrNotAcknowledged):
		return alertNotAcknowledged
	case errors.Is(err, intake.ErrNoPerson):
		return alertNoPerson
	case errors.Is(err, intake.ErrNoTeam):
		return alertNoTeam
	}
	return alertRefused
}

// find finds the alert of an identifier. Aliases that look like ids are ids.
func (a *alertRequest) find(ctx context.Context, identifier string) (intake.Alert, error) {
	alerts, from := a.d.h.d.Alerts, a.d.from
	switch kind := a.r.URL.Query().Get("identifierType"); kind {
	case "tiny":
		n, err := strconv.ParseInt(identifier, 10, 64)
		if err != nil || n <= 0 {
			return intake.Alert{}, fault.Invalidf("identifier", "a tiny id is a number")
		}
		return alerts.Alert(ctx, from.ID, n)
	case "", "id", "alias":
		if b, incident, ok := parseUUID(identifier); ok && b[0] == 0 {
			return alerts.Alert(ctx, from.ID, incident)
		}
		return alerts.AlertOfKey(ctx, from, sources.ShortKey(identifier))
	default:
		return intake.Alert{}, fault.Invalidf("identifierType", "identifierType %.40q must be id, alias or tiny", kind)
	}
}

// alertFields are the fields of a request about an alert: the members of its body, and its query.
type alertFields struct {
	members map[string]json.RawMessage
	query   url.Values
}

func newAlertFields(body []byte, query url.Values) (alertFields, error) {
	f := alertFields{query: query}
	if len(bytes.TrimSpace(body)) == 0 {
		return f, nil
	}
	var err error
	f.members, err = wire.Object(body)
	return f, err
}

// optional returns a text; "" if it is absent or no text.
func (f alertFields) optional(name string) string {
	var s string
	_ = json.Unmarshal(f.members[name], &s) // another type counts as absent
	return strings.TrimSpace(s)
}

// required returns a text that must be given.
func (f alertFields) required(name string) (string, error) {
	s := f.optional(name)
	if s == "" {
		return "", fault.Invalidf(name, "%s is missing or no text", name)
	}
	return s, nil
}

// listed returns the comma-separated values of a parameter.
func (f alertFields) listed(name string) ([]string, error) {
	var out []string
	for value := range strings.SplitSeq(f.query.Get(name), ",") {
		if value = strings.TrimSpace(value); value != "" && wire.Storable(value) {
			out = append(out, value)
		}
	}
	if len(out) == 0 {
		return nil, fault.Invalidf(name, "the parameter %s is missing", name)
	}
	return out, nil
}

// planned returns the plan of an action without fields.
func planned(work func(intake.Actions, context.Context, intake.Integration, intake.Alert) error) func(alertFields) (alertWork, error) {
	return func(alertFields) (alertWork, error) {
		return func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error {
			return work(do, ctx, from, on)
		}, nil
	}
}

func planSnooze(f alertFields) (alertWork, error) {
	given, err := f.required("endTime")
	if err != nil {
		return nil, err
	}
	until := sources.OpsgenieTime(given)
	if until.IsZero() {
		return nil, fault.Invalidf("endTime", "endTime must be a time such as 2026-11-22T11:00:00Z")
	}
	return func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error {
		err := do.Snooze(ctx, from, on, until)
		return fault.When(err, fault.Invalid, fault.Invalidf("endTime", "endTime: %s", fault.Public(err)))
	}, nil
}

// named returns the name in an object of the body. names are its members that may have the name.
func (f alertFields) named(field string, names ...string) (string, error) {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(f.members[field], &object) // another type has no name
	in := alertFields{members: object}
	for _, name := range names {
		if s := in.optional(name); s != "" {
			return s, nil
		}
	}
	return "", fault.Invalidf(field, "%s must be an object with a %s", field, names[0])
}

func planAssign(f alertFields) (alertWork, error) {
	name, err := f.named("owner", "username", "name", "id")
	return func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error {
		return do.Assign(ctx, from, on, name)
	}, err
}

func planResponder(f alertFields) (alertWork, error) {
	kind, err := f.named("responder", "type")
	if err != nil || kind != "user" && kind != "team" {
		return nil, fault.Invalidf("responder", "the type of the responder must be user or team")
	}
	name, err := f.named("responder", "name", "username", "id")
	return func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error {
		if kind == "team" {
			return do.PageTeam(ctx, from, on, name)
		}
		return do.PagePerson(ctx, from, on, name)
	}, err
}

func planTeam(f alertFields) (alertWork, error) {
	name, err := f.named("team", "name", "id")
	return func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error {
		return do.PageTeam(ctx, from, on, name)
	}, err
}

// planNote only checks: every action adds the note of its body.
func planNote(f alertFields) (alertWork, error) {
	_, err := f.required("note")
	return func(context.Context, intake.Actions, intake.Integration, intake.Alert) error { return nil }, err
}

func planTags(f alertFields) (alertWork, error) {
	var tags []string
	if err := json.Unmarshal(f.members["tags"], &tags); err != nil || len(tags) == 0 {
		return nil, fault.Invalidf("tags", "tags must be a list of texts")
	}
	for k := range tags {
		if tags[k] = strings.TrimSpace(tags[k]); tags[k] == "" {
			return nil, fault.Invalidf("tags", "a tag must not be empty")
		}
	}
	return edited(sources.OpsgenieEdit{AddTags: tags}), nil
}

func planDropTags(f alertFields) (alertWork, error) {
	tags, err := f.listed("tags")
	return edited(sources.OpsgenieEdit{DropTags: tags}), err
}

func planDetails(f alertFields) (alertWork, error) {
	var details map[string]string
	if err := json.Unmarshal(f.members["details"], &details); err != nil || len(details) == 0 {
		return nil, fault.Invalidf("details", "details must be an object of texts")
	}
	return edited(sources.OpsgenieEdit{SetDetails: details}), nil
}

func planDropDetails(f alertFields) (alertWork, error) {
	keys, err := f.listed("keys")
	return edited(sources.OpsgenieEdit{DropDetails: keys}), err
}

var priorities = regexp.MustCompile(`^P[1-5]$`)

// planField returns the plan of a change of one field. Only a description may become empty.
func planField(name string) func(alertFields) (alertWork, error) {
	return func(f alertFields) (alertWork, error) {
		value, err := f.required(name)
		switch {
		case name == "description" && len(f.members[name]) == 0:
			value, err = "", nil
		case err == nil && name == "priority" && !priorities.MatchString(value):
			err = fault.Invalidf(name, "priority must be P1, P2, P3, P4 or P5")
		}
		return edited(sources.OpsgenieEdit{Field: name, Value: value}), err
	}
}

// edited returns the work of an edit.
func edited(e sources.OpsgenieEdit) alertWork {
	return func(ctx context.Context, do intake.Actions, from intake.Integration, on intake.Alert) error {
		return do.Edit(ctx, from, on, sources.Opsgenie, func(context json.RawMessage) (json.RawMessage, string, error) {
			return e.Apply(sources.OpsgeniePayload(context))
		})
	}
}

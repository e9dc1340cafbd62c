package incidents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// IncidentInList is an incident as lists show it.
type IncidentInList struct {
	ID           ID             `json:"id"`
	State        State          `json:"state" enum:"escalating,exhausted,acknowledged,snoozed,silenced,merged,resolved,closed" doc:"exhausted: the plan has ended and nobody acknowledged. closed: nothing happened for a long time (30 days by default)."`
	Name         *string        `json:"title" doc:"The value of the title variable of the application; null if it is no text."`
	Heading      string         `json:"heading" doc:"A line that describes the incident: its title, else what its context says, else its plan and application."`
	Application  string         `json:"application"`
	Plan         string         `json:"plan"`
	PlanID       int64          `json:"plan_id"`
	Owner        operation.Text `json:"owner" doc:"Who acknowledged it."`
	Step         int            `json:"step" doc:"0 = no step began."`
	Integration  operation.Text `json:"integration" doc:"The name of its sender."`
	Severity     operation.Text `json:"severity" doc:"The highest severity of its firing alerts: critical, error, warning or info."`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    *time.Time     `json:"updated_at"`
	SnoozedUntil *time.Time     `json:"snoozed_until" doc:"When escalation starts again."`
	MergedInto   *ID            `json:"merged_into" doc:"The incident that stands for this one."`
}

// IncidentDetail is an incident with its context.
type IncidentDetail struct {
	IncidentInList
	Context json.RawMessage `json:"context" doc:"An object."`
}

// IncidentAlert is an alert of an incident.
type IncidentAlert struct {
	Fingerprint string          `json:"fingerprint"`
	Status      string          `json:"status" enum:"firing,resolved"`
	StartsAt    *time.Time      `json:"starts_at"`
	EndsAt      *time.Time      `json:"ends_at"`
	Labels      json.RawMessage `json:"labels"`
	Annotations json.RawMessage `json:"annotations"`
}

// TimelineEntry is an entry of a timeline.
type TimelineEntry struct {
	At     time.Time       `json:"at"`
	Kind   EntryKind       `json:"kind"`
	Actor  operation.Text  `json:"actor"`
	Text   string          `json:"text"`
	Detail json.RawMessage `json:"detail"`
}

// One names an incident.
type One struct {
	ID ID `path:"id" json:"id"`
}

// Part is a page of what belongs to an incident.
type Part struct {
	One
	operation.Paging
}

// Filter selects incidents.
type Filter struct {
	operation.Paging
	operation.Period
	State       string `query:"state" json:"state,omitempty" enum:"open,escalating,exhausted,acknowledged,snoozed,silenced,merged,resolved,closed" doc:"Only incidents in this state; open is every state but resolved and closed."`
	Plan        string `query:"plan" json:"plan,omitempty" doc:"The name of a plan."`
	Application string `query:"application" json:"application,omitempty" doc:"The name of an application."`
	Owner       string `query:"owner" json:"owner,omitempty" doc:"Who acknowledged."`
	Target      string `query:"target" json:"target,omitempty" doc:"Who was paged."`
	Integration string `query:"integration" json:"integration,omitempty" doc:"The name of an integration."`
	Severity    string `query:"severity" json:"severity,omitempty" enum:"critical,error,warning,info" doc:"A severity."`
	Text        string `query:"text" json:"text,omitempty" maxLength:"200" doc:"# and a number, or a part of the context or the dedup key."`
	Label       string `query:"label" json:"label,omitempty" maxLength:"300" doc:"A label, as NAME=VALUE."`
	MergedInto  int64  `query:"merged_into" json:"merged_into,omitempty" minimum:"1" doc:"The number of the incident that they are merged into."`
}

// Check implements operation.Checker.
func (f Filter) Check() error {
	var wrong fault.Wrong
	_, ok := HasLabel(f.Label)
	wrong.If(f.Label != "" && !ok, "label", "label must be written as NAME=VALUE")
	return wrong.Err()
}

// Claim acknowledges an incident.
type Claim struct {
	One
	Body *Claimant `json:"body,omitempty"`
}

// Claimant becomes the owner of an incident.
type Claimant struct {
	Owner operation.Text `json:"owner" required:"false" doc:"A person for whom the caller may act. Default: the caller; required if the caller is not a person."`
	// AskFirst leaves an incident of another owner as it is, unless that is Replace (0 = nobody). Pages ask first.
	AskFirst bool     `json:"-"`
	Replace  users.ID `json:"-"`
}

// OwnedError is the cause of the Conflict of a claim with AskFirst: somebody else has acknowledged the incident.
type OwnedError struct {
	Owner users.ID
	Name  string
}

func (e *OwnedError) Error() string { return "acknowledged by " + e.Name }

// MaxTogether is how many incidents one request changes. They are changed in one transaction.
const MaxTogether = 1000

// Several names incidents.
type Several struct {
	Incidents []ID `json:"incidents" maxItems:"1000" doc:"Their numbers."`
}

// ClaimOfSeveral acknowledges incidents.
type ClaimOfSeveral struct {
	Several
	Claimant
}

// SnoozeOfSeveral snoozes incidents.
type SnoozeOfSeveral struct {
	Several
	Pause
}

// Outcome is the state of an incident after a change of several ones.
type Outcome struct {
	ID         ID   `json:"id"`
	Escalating bool `json:"escalating"`
	// Kept is the owner of an incident that a claim with AskFirst left; "" = the incident was changed.
	Kept string `json:"-"`
}

// Outcomes are the states of the incidents that a request changes, in the order of the request, each once.
type Outcomes struct {
	Items []Outcome `json:"items"`
}

// Moving puts an incident on a step.
type Moving struct {
	One
	Body Place `json:"body"`
}

// Place is a step, and whether the incident escalates from there.
type Place struct {
	Step       int  `json:"step" minimum:"0" maximum:"32767" doc:"0 = no step began."`
	Escalating bool `json:"escalating" doc:"An incident that begins to escalate loses its owner."`
}

// Commenting adds a comment.
type Commenting struct {
	One
	Body NewComment `json:"body"`
}

// NewComment is a comment that is not stored.
type NewComment struct {
	Content string         `json:"content"`
	Author  operation.Text `json:"author" required:"false" doc:"A person for whom the caller may act. Default: the caller; required if the caller is not a person."`
}

// Check implements operation.Checker.
func (c Commenting) Check() error {
	var wrong fault.Wrong
	wrong.If(strings.TrimSpace(c.Body.Content) == "", "content", "content must not be empty")
	return wrong.Err()
}

// Commented is a stored comment.
type Commented struct {
	ID int64 `json:"id"`

	incident ID
}

// Location is the address of the comments of the incident.
func (c Commented) Location() string { return operation.Path(Comments.Path, c.incident) }

// Snoozing snoozes an incident.
type Snoozing struct {
	One
	Body Pause `json:"body"`
}

// Pause says when a snooze ends.
type Pause struct {
	Until time.Time      `json:"until,omitzero" nullable:"true" doc:"When escalation starts again, within 30 days. Either until or for is required."`
	For   operation.Text `json:"for" required:"false" doc:"A duration, such as 90m or 24h."`
	// Tomorrow, if set, is the zone in which the snooze ends at nine o'clock on the next day. The others are empty then.
	Tomorrow *time.Location `json:"-"`
}

// Check implements operation.Checker.
func (s Snoozing) Check() error { return s.Body.Check() }

// Check implements operation.Checker.
func (p Pause) Check() error {
	var wrong fault.Wrong
	d, err := time.ParseDuration(string(p.For))
	switch {
	case p.Tomorrow != nil:
	case p.Until.IsZero() == (p.For == ""):
		wrong.Add("until", "either until or for is required")
	case p.For != "":
		wrong.If(err != nil || d <= 0 || d > MaxSnooze, "for",
			"for must be a duration such as 90m or 24h, at most %d days", MaxSnooze/(24*time.Hour))
	}
	return wrong.Err()
}

func (p Pause) end() SnoozeEnd {
	if p.Tomorrow != nil {
		return SnoozeTomorrow(p.Tomorrow)
	}
	if d, err := time.ParseDuration(string(p.For)); err == nil {
		return SnoozeFor(d)
	}
	return SnoozeUntil(p.Until)
}

// Merging merges an incident into another one.
type Merging struct {
	One
	Body Parenthood `json:"body"`
}

// Parenthood says which incident stands for another one.
type Parenthood struct {
	Into    ID             `json:"into" minimum:"1" doc:"The number of the incident that stands for this one from now on."`
	Comment operation.Text `json:"comment" required:"false" doc:"Why; for the timelines."`
}

// Paging pages further people.
type Paging struct {
	One
	Body AddedPage `json:"body"`
}

// Reassigning gives an incident another owner.
type Reassigning struct {
	One
	Body NewOwner `json:"body"`
}

// NewOwner becomes the owner of an acknowledged incident.
type NewOwner struct {
	Owner string `json:"owner"`
}

// The operations on incidents.
var (
	List = operation.Define[Filter, operation.Page[IncidentInList]](operation.Doc{Name: "incident.list", Method: http.MethodGet,
		Path: "/v1/incidents", Needs: operation.Reader, Summary: "Incidents, newest first",
		Note: "With filters, a page may have fewer items than limit and still a next: go on until next is null."})
	Get      = read[One, IncidentDetail]("get", "", "An incident")
	Alerts   = read[Part, operation.Page[IncidentAlert]]("alerts", "/alerts", "The alerts of an incident")
	Timeline = read[Part, operation.Page[TimelineEntry]]("timeline", "/timeline",
		"What happened to an incident, oldest first")
	Comments = read[Part, operation.Page[Comment]]("comments", "/comments",
		"The comments on an incident, oldest first")
	AddComment = operation.Define[Commenting, Commented](operation.Doc{Name: "incident.comment",
		Method: http.MethodPost, Path: "/v1/incidents/{id}/comments", Needs: operation.Member,
		Rule: operation.ConfinedInTheNameOf, Summary: "Comment on an incident"})
	OpAcknowledge = operation.Define[Claim, IncidentDetail](operation.Doc{Name: "incident.acknowledge",
		Method: http.MethodPost, Path: "/v1/incidents/{id}/acknowledge", Status: http.StatusOK,
		Needs: operation.Member, Rule: operation.ConfinedInTheNameOf,
		Summary: "Acknowledge an incident: it stops paging and has an owner"})
	OpAcknowledgeSeveral = several[ClaimOfSeveral]("acknowledge", "Acknowledge incidents, all or none",
		operation.ConfinedInTheNameOf)
	OpUnacknowledge = several[Several]("unacknowledge",
		"Take acknowledgements back, all or none: the incidents lose their owners and escalate from their steps",
		operation.Confined)
	OpResolveSeveral = several[Several]("resolve", "Resolve incidents, all or none", operation.Confined)
	OpSnoozeSeveral  = several[SnoozeOfSeveral]("snooze",
		"End the escalation of incidents for some time, all or none; then their plans begin again", operation.Confined, 409, 422)
	OpResolve   = change[One]("resolve", "Resolve an incident", "")
	OpUnresolve = change[One]("unresolve", "Undo the resolve of an incident, which keeps its owner and does not escalate",
		"409: another incident stands for it.", 409)
	OpMove = change[Moving]("move", "Put an incident on a step of its plan, and let it escalate from there or stop",
		"409: the incident is resolved, closed, merged or silenced.", 409)
	OpReopen = change[One]("reopen",
		"Undo the resolve and the acknowledgement of an incident: escalation goes on from its step", "")
	OpEscalate = change[One]("escalate", "Start the next step now",
		"409: the incident is resolved, or the step is the last one.", 409)
	OpRestart = change[One]("restart", "Begin the plan again at step 1", "409: the incident is resolved.", 409)
	OpSnooze  = change[Snoozing]("snooze",
		"End the escalation of an incident for some time; then the plan begins again",
		"409: the incident is resolved, closed, merged or silenced.", 409, 422)
	OpUnsnooze = change[One]("unsnooze", "End a snooze now: the plan begins again", "409: the incident is not snoozed.",
		409)
	OpMerge = change[Merging]("merge", "Merge an incident into another one, which stands for it",
		"The incident pages nobody, and follows the acknowledgements and resolves of the other. 409: it is resolved, closed, or merged into a third one.", 409, 422)
	OpUnmerge = change[One]("unmerge", "Undo a merge: the plan begins again",
		"With an owner it is acknowledged instead; if its source has resolved its alerts, it is resolved. 409: the incident is not merged.", 409)
	OpPage = change[Paging]("page", "Page further people, in addition to the plan",
		"An incident that is acknowledged already sends the pages too; a later acknowledgement stops them. 409: the incident is resolved.", 409, 422)
	OpReassign = change[Reassigning]("reassign", "Give an acknowledged incident another owner, who is paged",
		"The acknowledgement stays. The caller need not be allowed to act for the new owner. 409: nobody has acknowledged the incident, or it is resolved.", 409, 422)
)

func read[In, Out any](name, path, summary string) operation.Def[In, Out] {
	return operation.Define[In, Out](operation.Doc{Name: "incident." + name, Method: http.MethodGet,
		Path: "/v1/incidents/{id}" + path, Needs: operation.Reader, Rule: operation.Confined, Summary: summary})
}

// change defines an operation that returns the changed incident.
func change[In any](name, summary, note string, errs ...int) operation.Def[In, IncidentDetail] {
	return operation.Define[In, IncidentDetail](operation.Doc{Name: "incident." + name, Method: http.MethodPost,
		Path: "/v1/incidents/{id}/" + name, Status: http.StatusOK, Needs: operation.Member, Rule: operation.Confined,
		Summary: summary, Note: note, Errors: errs})
}

// several defines an operation on several incidents.
func several[In any](name, summary string, rule operation.Rule, errs ...int) operation.Def[In, Outcomes] {
	return operation.Define[In, Outcomes](operation.Doc{Name: "incident." + name + "-several", Method: http.MethodPost,
		Path: "/v1/incidents/" + name, Status: http.StatusOK, Needs: operation.Member, Rule: rule, Summary: summary,
		Errors: append(errs, 404)})
}

// Store reads and changes incidents. A method that changes one returns when its change is durable. An incident that
// does not exist is a NotFound fault of reads. A change that the state of the incident does not allow, or a step that
// does not exist, is a Conflict fault.
type Store interface {
	List(ctx context.Context, q filters.Query) ([]Incident, error)
	// CountUpTo counts the incidents that match each of the queries, up to a limit. Counts that take too long are an
	// Unavailable fault.
	CountUpTo(ctx context.Context, limit int, queries ...filters.Query) ([]int, error)
	Get(ctx context.Context, id ID) (Incident, error)
	// Timeline returns the entries of a timeline, oldest first.
	Timeline(ctx context.Context, id ID) ([]Entry, error)
	// Alerts returns at most so many alerts, after a fingerprint ("" = from the first one).
	Alerts(ctx context.Context, id ID, after string, most int) ([]Alert, error)
	Comments(ctx context.Context, id ID) ([]Comment, error)
	AddComment(ctx context.Context, id ID, author users.User, content string) (int64, error)
	Acknowledge(ctx context.Context, c Change, owner users.User) ([]Acknowledged, error)
	Reopen(ctx context.Context, c Change) ([]Acknowledged, error)
	Resolve(ctx context.Context, c Change, resolved bool) ([]Acknowledged, error)
	// SetState sets the step of an incident and whether it escalates. A step that the plan does not have is an Invalid
	// fault.
	SetState(ctx context.Context, c Change, step int, active bool) ([]Acknowledged, error)
	// Escalate and Restart move an incident on in its plan.
	Escalate(ctx context.Context, c Change) ([]Acknowledged, error)
	Restart(ctx context.Context, c Change) ([]Acknowledged, error)
	// Snooze stops the escalation of incidents until an end.
	Snooze(ctx context.Context, c Change, end SnoozeEnd) ([]Acknowledged, error)
	EndSnooze(ctx context.Context, c Change) ([]Acknowledged, error)
	// Merge makes one incident stand for others. A parent that does not permit the merge is an Invalid fault.
	Merge(ctx context.Context, c Change, into ID, comment string) ([]Acknowledged, error)
	Unmerge(ctx context.Context, c Change) ([]Acknowledged, error)
}

// Responders changes who works on an incident. A change that the incident's state does not allow is a Conflict fault.
type Responders interface {
	PageAlso(ctx context.Context, c Change, p AddedPage) error
	Reassign(ctx context.Context, c Change, owner string) error
}

// Deps are what Incidents works on.
type Deps struct {
	Store      Store
	Responders Responders
	People     users.Finder
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// Incidents are the operations on incidents. They are safe for concurrent use.
type Incidents struct {
	List        operation.Op[Filter, operation.Page[IncidentInList]]
	Get         operation.Op[One, IncidentDetail]
	Alerts      operation.Op[Part, operation.Page[IncidentAlert]]
	Timeline    operation.Op[Part, operation.Page[TimelineEntry]]
	Comments    operation.Op[Part, operation.Page[Comment]]
	AddComment  operation.Op[Commenting, Commented]
	Acknowledge operation.Op[Claim, IncidentDetail]
	// The changes that need no body.
	Resolve, Unresolve, Reopen, Escalate, Restart, Unsnooze, Unmerge operation.Op[One, IncidentDetail]

	AcknowledgeSeveral operation.Op[ClaimOfSeveral, Outcomes]
	SnoozeSeveral      operation.Op[SnoozeOfSeveral, Outcomes]

	Unacknowledge, ResolveSeveral operation.Op[Several, Outcomes]

	Move     operation.Op[Moving, IncidentDetail]
	Snooze   operation.Op[Snoozing, IncidentDetail]
	Merge    operation.Op[Merging, IncidentDetail]
	Page     operation.Op[Paging, IncidentDetail]
	Reassign operation.Op[Reassigning, IncidentDetail]

	deps Deps
}

// NewIncidents returns the operations.
func NewIncidents(d Deps) *Incidents {
	i := &Incidents{deps: d}
	i.List, i.Get, i.Alerts = List.By(i.list), Get.By(i.get), Alerts.By(i.alerts)
	i.Timeline, i.Comments = Timeline.By(i.timeline), Comments.By(i.comments)
	i.AddComment, i.Acknowledge = AddComment.By(i.comment), OpAcknowledge.By(i.acknowledge)
	i.AcknowledgeSeveral, i.Unacknowledge = OpAcknowledgeSeveral.By(i.acknowledgeSeveral), OpUnacknowledge.By(i.unacknowledge)
	plain := func(def operation.Def[One, IncidentDetail], do func(context.Context, Change) ([]Acknowledged, error)) operation.Op[One, IncidentDetail] {
		return def.By(func(ctx context.Context, by operation.Actor, of One) (IncidentDetail, error) {
			return i.change(ctx, by, of.ID, do)
		})
	}
	resolve := func(resolved bool) func(context.Context, Change) ([]Acknowledged, error) {
		return func(ctx context.Context, c Change) ([]Acknowledged, error) { return d.Store.Resolve(ctx, c, resolved) }
	}
	i.Resolve, i.Unresolve = plain(OpResolve, resolve(true)), plain(OpUnresolve, resolve(false))
	i.Reopen, i.Escalate, i.Restart = plain(OpReopen, i.reopen), plain(OpEscalate, d.Store.Escalate), plain(OpRestart, d.Store.Restart)
	i.Unsnooze, i.Unmerge = plain(OpUnsnooze, d.Store.EndSnooze), plain(OpUnmerge, d.Store.Unmerge)
	i.ResolveSeveral, i.SnoozeSeveral = OpResolveSeveral.By(i.resolveSeveral), OpSnoozeSeveral.By(i.snoozeSeveral)
	i.Move = OpMove.By(i.move)
	i.Snooze, i.Merge = OpSnooze.By(i.snooze), OpMerge.By(i.merge)
	i.Page, i.Reassign = OpPage.By(i.page), OpReassign.By(i.reassign)
	return i
}

func rowOf(i Incident) IncidentInList {
	return IncidentInList{ID: i.ID, State: i.State(), Name: i.name(), Heading: i.Title(), Application: i.Application, Plan: i.Plan,
		PlanID: i.PlanID, Owner: operation.Text(i.Owner), Step: i.CurrentStep,
		Integration: operation.Text(i.Integration), Severity: operation.Text(i.Severity), CreatedAt: i.CreatedAt.UTC(),
		UpdatedAt: operation.OrNull(i.UpdatedAt.UTC()), SnoozedUntil: operation.OrNull(i.SnoozedUntil.UTC()),
		MergedInto: operation.OrNull(i.MergedInto)}
}

// Detail returns the incident as operations answer it.
func (i Incident) Detail() IncidentDetail { return IncidentDetail{rowOf(i), orObject(i.Context)} }

// name returns the value of the application's title variable in the context; nil if it is not a text.
func (i Incident) name() *string {
	var values map[string]json.RawMessage
	var text string
	if i.TitleVariable == "" || json.Unmarshal(i.Context, &values) != nil || json.Unmarshal(values[i.TitleVariable], &text) != nil {
		return nil
	}
	return &text
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func (i *Incidents) list(ctx context.Context, by operation.Actor, f Filter) (out operation.Page[IncidentInList], err error) {
	var q filters.Query
	for field, text := range map[string]string{"plan": f.Plan, "application": f.Application, "owner": f.Owner,
		"target": f.Target, "integration": f.Integration} {
		q.Add(field, filters.Eq, text)
	}
	q.Add("merged_into", filters.Eq, f.MergedInto)
	if f.Severity != "" {
		q.Add(f.Severity, filters.Eq, true)
	}
	conditions, _ := InState(f.State)
	q.Conditions = append(q.Conditions, conditions...)
	if f.Text != "" {
		q.Conditions = append(q.Conditions, HasText(f.Text))
	}
	if label, ok := HasLabel(f.Label); ok {
		q.Conditions = append(q.Conditions, label)
	}
	f.Add(&q)
	if err := f.Newest(&q); err != nil {
		return out, err
	}
	read := filters.Reader[Incident](i.deps.Store.List)
	find := read.Find
	if f.Text != "" || f.Label != "" {
		find = read.Search
	}
	found, next, err := find(ctx, by.Within(q), Incident.Place)
	return operation.PageTo(found, next, rowOf), err
}

// find reads an incident that the caller reaches.
func (i *Incidents) find(ctx context.Context, by operation.Actor, id ID) (Incident, error) {
	found, err := i.deps.Store.Get(ctx, id)
	return found, by.Reached(found.Application, err)
}

func (i *Incidents) get(ctx context.Context, by operation.Actor, one One) (IncidentDetail, error) {
	found, err := i.find(ctx, by, one.ID)
	if err != nil {
		return IncidentDetail{}, err
	}
	return found.Detail(), nil
}

func (i *Incidents) alerts(ctx context.Context, by operation.Actor, p Part) (out operation.Page[IncidentAlert], err error) {
	after, err := p.Place()
	if err != nil {
		return out, err
	}
	if _, err := i.find(ctx, by, p.ID); err != nil {
		return out, err
	}
	found, err := i.deps.Store.Alerts(ctx, p.ID, after, p.Size()+1)
	return operation.PageAfter(p.Paging, found, func(a Alert) IncidentAlert {
		status := "resolved"
		if a.Firing {
			status = "firing"
		}
		return IncidentAlert{a.Fingerprint, status, operation.OrNull(a.StartsAt.UTC()), operation.OrNull(a.EndsAt.UTC()),
			orObject(a.Labels), orObject(a.Annotations)}
	}, func(a Alert) string { return a.Fingerprint }), err
}

func (i *Incidents) timeline(ctx context.Context, by operation.Actor, p Part) (out operation.Page[TimelineEntry], err error) {
	place, err := p.Place()
	if err != nil {
		return out, err
	}
	after, err := parsePosition(place)
	if err != nil {
		return out, err
	}
	if _, err := i.find(ctx, by, p.ID); err != nil {
		return out, err
	}
	entries, err := i.deps.Store.Timeline(ctx, p.ID)
	if err != nil {
		return out, err
	}
	shown, next := after.page(entries, p.Size())
	out = operation.Page[TimelineEntry]{Items: make([]TimelineEntry, len(shown)), Next: operation.NextOf(next)}
	for k, e := range shown {
		out.Items[k] = TimelineEntry{e.At.UTC(), e.Kind, operation.Text(e.Actor), e.Text, e.Detail}
	}
	return out, nil
}

func (i *Incidents) comments(ctx context.Context, by operation.Actor, p Part) (out operation.Page[Comment], err error) {
	if _, err := i.find(ctx, by, p.ID); err != nil {
		return out, err
	}
	all, err := i.deps.Store.Comments(ctx, p.ID)
	if err != nil {
		return out, err
	}
	for k := range all {
		all[k].CreatedAt = all[k].CreatedAt.UTC()
	}
	return operation.PageByName(p.Paging, all, func(c Comment) string { return fmt.Sprintf("%019d", c.ID) })
}

// comment stores a comment of the caller, or of the author whom the body names.
func (i *Incidents) comment(ctx context.Context, by operation.Actor, c Commenting) (out Commented, err error) {
	if _, err := i.find(ctx, by, c.ID); err != nil {
		return out, err
	}
	author, err := i.person(ctx, by, "author", string(c.Body.Author))
	if err != nil {
		return out, err
	}
	id, err := i.deps.Store.AddComment(ctx, c.ID, author, c.Body.Content)
	return Commented{id, c.ID}, err
}

// person returns the person who acts: the named one, else the caller. It refuses a person for whom the caller may not
// act.
func (i *Incidents) person(ctx context.Context, by operation.Actor, field, name string) (users.User, error) {
	if name == "" {
		if by.Person == 0 {
			return users.User{}, fault.Invalidf(field, "%s is required: the caller is no person", field)
		}
		name = by.Name
	}
	u, err := i.deps.People.ByName(ctx, name)
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return u, err
	}
	if unknown {
		u = users.User{Name: name}
	}
	switch {
	case !auth.MayActAs(by, u):
		return u, operation.ErrNotThisUser
	case unknown || !u.Active:
		return u, fault.Invalidf(field, "there is no active user %.100q", name)
	}
	return u, nil
}

// via returns the way in which a caller of operations changes incidents.
func via(by operation.Actor) Via {
	if by.OnPage {
		return ViaWeb
	}
	return ViaAPI
}

// change makes a change of an incident that the caller reaches, wakes the processors and returns the incident.
func (i *Incidents) change(ctx context.Context, by operation.Actor, id ID, do func(context.Context, Change) ([]Acknowledged, error)) (IncidentDetail, error) {
	if _, err := i.find(ctx, by, id); err != nil {
		return IncidentDetail{}, err
	}
	done, err := do(ctx, Change{IDs: []ID{id}, Actor: by.Name, Via: via(by)})
	if err != nil {
		return IncidentDetail{}, err
	}
	if len(done) != 1 || !done[0].Found {
		return IncidentDetail{}, fault.New(fault.NotFound, "there is no such incident")
	}
	i.deps.Wake(ctx, buckets.Of(int(int64(id)%buckets.Count)))
	return i.get(ctx, by, One{id})
}

// acknowledge makes the caller, or the person whom the body names, the owner of an incident.
func (i *Incidents) acknowledge(ctx context.Context, by operation.Actor, c Claim) (IncidentDetail, error) {
	return i.change(ctx, by, c.ID, func(ctx context.Context, change Change) ([]Acknowledged, error) {
		var body Claimant
		if c.Body != nil {
			body = *c.Body
		}
		done, err := i.claim(ctx, by, change, body)
		if err == nil && len(done) == 1 && done[0].OwnedBy != 0 {
			return nil, fault.Wrap(fault.Conflict, &OwnedError{done[0].OwnedBy, done[0].PreviousOwner},
				"another person has acknowledged this incident")
		}
		return done, err
	})
}

// acknowledgeSeveral makes the caller, or the person whom the body names, the owner of incidents.
func (i *Incidents) acknowledgeSeveral(ctx context.Context, by operation.Actor, c ClaimOfSeveral) (Outcomes, error) {
	return i.together(ctx, by, c.Incidents, func(ctx context.Context, change Change) ([]Acknowledged, error) {
		return i.claim(ctx, by, change, c.Claimant)
	})
}

func (i *Incidents) claim(ctx context.Context, by operation.Actor, change Change, c Claimant) ([]Acknowledged, error) {
	owner, err := i.person(ctx, by, "owner", string(c.Owner))
	if err != nil {
		return nil, err
	}
	change.AskFirst, change.Replace = c.AskFirst, c.Replace
	return i.deps.Store.Acknowledge(ctx, change, owner)
}

// unacknowledge takes acknowledgements back.
func (i *Incidents) unacknowledge(ctx context.Context, by operation.Actor, s Several) (Outcomes, error) {
	return i.together(ctx, by, s.Incidents, i.deps.Store.Reopen)
}

func (i *Incidents) resolveSeveral(ctx context.Context, by operation.Actor, s Several) (Outcomes, error) {
	return i.together(ctx, by, s.Incidents, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return i.deps.Store.Resolve(ctx, c, true)
	})
}

func (i *Incidents) snoozeSeveral(ctx context.Context, by operation.Actor, s SnoozeOfSeveral) (Outcomes, error) {
	return i.together(ctx, by, s.Incidents, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return i.deps.Store.Snooze(ctx, c, s.end())
	})
}

// together makes a change of incidents that the caller reaches, in one transaction. If one of them does not exist, it
// changes none.
func (i *Incidents) together(ctx context.Context, by operation.Actor, ids []ID, do func(context.Context, Change) ([]Acknowledged, error)) (Outcomes, error) {
	c := Change{Actor: by.Name, Via: via(by)}
	out := Outcomes{Items: []Outcome{}}
	values := map[any]bool{}
	for _, id := range ids {
		if !values[int64(id)] {
			values[int64(id)], c.IDs = true, append(c.IDs, id)
		}
	}
	if len(c.IDs) == 0 {
		return out, nil
	}
	found, err := i.deps.Store.List(ctx, by.Within(filters.Query{Fields: []string{"id"}, Conditions: []filters.Condition{
		{Field: "id", Op: filters.In, Values: slices.Collect(maps.Keys(values))}}}))
	var done []Acknowledged
	if err == nil && len(found) == len(c.IDs) {
		done, err = do(ctx, c)
	}
	if err != nil {
		return out, err
	}
	missing := func(d Acknowledged) bool { return !d.Found }
	if len(done) != len(c.IDs) || slices.ContainsFunc(done, missing) {
		return out, by.Reached("", fault.New(fault.NotFound, "one of the incidents does not exist"))
	}
	var woken buckets.Set
	for _, d := range done {
		outcome := Outcome{ID: d.ID, Escalating: d.Active}
		if d.OwnedBy != 0 {
			outcome.Kept = d.PreviousOwner
		}
		out.Items = append(out.Items, outcome)
		woken.Add(int(int64(d.ID) % buckets.Count))
	}
	i.deps.Wake(ctx, woken)
	return out, nil
}

// move puts an incident on a step.
func (i *Incidents) move(ctx context.Context, by operation.Actor, m Moving) (IncidentDetail, error) {
	return i.change(ctx, by, m.ID, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return i.deps.Store.SetState(ctx, c, m.Body.Step, m.Body.Escalating)
	})
}

// reopen undoes the resolution and the acknowledgement. The incident escalates again from its current step.
func (i *Incidents) reopen(ctx context.Context, c Change) ([]Acknowledged, error) {
	if _, err := i.deps.Store.Resolve(ctx, c, false); err != nil {
		return nil, err
	}
	return i.deps.Store.Reopen(ctx, c)
}

func (i *Incidents) snooze(ctx context.Context, by operation.Actor, s Snoozing) (IncidentDetail, error) {
	return i.change(ctx, by, s.ID, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return i.deps.Store.Snooze(ctx, c, s.Body.end())
	})
}

// merge makes another incident stand for an incident. A confined caller reaches both.
func (i *Incidents) merge(ctx context.Context, by operation.Actor, m Merging) (IncidentDetail, error) {
	if by.Application != 0 {
		if _, err := i.find(ctx, by, m.Body.Into); err != nil {
			return IncidentDetail{}, err
		}
	}
	return i.change(ctx, by, m.ID, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return i.deps.Store.Merge(ctx, c, m.Body.Into, string(m.Body.Comment))
	})
}

// page pages further people. The request is durable before the answer; the processors make the messages.
func (i *Incidents) page(ctx context.Context, by operation.Actor, p Paging) (IncidentDetail, error) {
	return i.change(ctx, by, p.ID, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return changed(c), i.deps.Responders.PageAlso(ctx, c, p.Body)
	})
}

// reassign gives an acknowledged incident another owner.
func (i *Incidents) reassign(ctx context.Context, by operation.Actor, r Reassigning) (IncidentDetail, error) {
	return i.change(ctx, by, r.ID, func(ctx context.Context, c Change) ([]Acknowledged, error) {
		return changed(c), i.deps.Responders.Reassign(ctx, c, r.Body.Owner)
	})
}

func changed(c Change) []Acknowledged { return []Acknowledged{{ID: c.IDs[0], Found: true}} }

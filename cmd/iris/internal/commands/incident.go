package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/notifications/updates"
	"github.com/iris-oncall/iris/internal/program/client"
)

// Incident is the group of commands about incidents.
type Incident struct {
	Open        incidentOpen        `cmd:"" help:"Open an incident. Prints its number."`
	List        incidentList        `cmd:"" help:"List incidents, newest first."`
	Show        incidentShow        `cmd:"" help:"Show an incident and its timeline."`
	Acknowledge incidentAcknowledge `cmd:"" help:"Acknowledge incidents: they stop paging and have an owner."`
	Resolve     incidentResolve     `cmd:"" help:"Resolve incidents."`
	Snooze      incidentSnooze      `cmd:"" help:"End the escalation of an incident for some time. Then its plan begins again."`
	Unsnooze    incidentUnsnooze    `cmd:"" help:"End a snooze now: the plan begins again."`
	Page        incidentPage        `cmd:"" help:"Page further people on a running incident, in addition to its plan."`
	Reassign    incidentReassign    `cmd:"" help:"Give an acknowledged incident another owner, who is paged."`
	Merge       incidentMerge       `cmd:"" help:"Merge duplicates into one incident, which stands for them."`
	Unmerge     incidentUnmerge     `cmd:"" help:"Undo the merge of an incident: its plan begins again."`
	Update      incidentUpdate      `cmd:"" help:"Send an update to the subscribers of an incident. It pages nobody."`
	Review      incidentReview      `cmd:"" help:"Print the review of an incident as Markdown."`
}

// incident is an incident of an answer.
type incident struct {
	ID           int64           `json:"id"`
	State        string          `json:"state"`
	Title        string          `json:"title"`
	Application  string          `json:"application"`
	Plan         string          `json:"plan"`
	Owner        string          `json:"owner"`
	Step         int             `json:"step"`
	Integration  string          `json:"integration"`
	Severity     string          `json:"severity"`
	CreatedAt    time.Time       `json:"created_at"`
	SnoozedUntil time.Time       `json:"snoozed_until"`
	MergedInto   int64           `json:"merged_into"`
	Context      json.RawMessage `json:"context"`
}

// target is a role and a name of a request.
type target struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

func (t target) String() string { return t.Role + ":" + t.Name }

// changeIncident changes an incident and returns it. body nil = the request has none.
func changeIncident(ctx context.Context, s remote.Flags, e remote.Env, id int64, action string, body any) (changed incident, err error) {
	api, err := s.API(ctx, e)
	if err == nil {
		err = api.Do(ctx, http.MethodPost, fmt.Sprintf("/v1/incidents/%d/%s", id, action), body, &changed)
	}
	return changed, err
}

type incidentOpen struct {
	remote.Flags
	Plan        string            `required:"" help:"Plan that the incident follows." placeholder:"NAME"`
	Application string            `help:"Application of the incident. Default: iris, the application of people." placeholder:"NAME"`
	Title       string            `required:"" help:"What is wrong, in a line."`
	Summary     string            `help:"More about it."`
	Severity    string            `help:"critical, error, warning or info."`
	Label       map[string]string `help:"A label, for silences and templates. May be repeated." placeholder:"NAME=VALUE"`
	Context     string            `help:"Further variables for templates: a JSON object." placeholder:"JSON"`
	Target      []string          `help:"Whom a dynamic target of the plan means, such as user:ann. May be repeated, in the order of the plan." placeholder:"ROLE:NAME"`
	DedupKey    string            `help:"If an incident of the application and plan is open with this key, none is opened." placeholder:"KEY"`
}

// body returns the body of the request. It leaves out what is not given.
func (c incidentOpen) body() (map[string]any, error) {
	out := map[string]any{"plan": c.Plan}
	for name, value := range map[string]string{"application": c.Application, "title": c.Title, "summary": c.Summary, "severity": c.Severity, "dedup_key": c.DedupKey} {
		if value != "" {
			out[name] = value
		}
	}
	if len(c.Label) > 0 {
		out["labels"] = c.Label
	}
	if c.Context != "" {
		var object map[string]any
		if json.Unmarshal([]byte(c.Context), &object) != nil || object == nil {
			return nil, remote.Usagef("--context: it must be a JSON object")
		}
		out["context"] = json.RawMessage(c.Context)
	}
	var targets []target
	for _, text := range c.Target {
		role, name, ok := strings.Cut(text, ":")
		if !ok {
			return nil, remote.Usagef("--target: %.60q must be a role and a name, such as user:ann", text)
		}
		targets = append(targets, target{role, name})
	}
	if targets != nil {
		out["dynamic_targets"] = targets
	}
	return out, nil
}

// Run opens an incident. Standard output has only its number.
func (c incidentOpen) Run(ctx context.Context, e remote.Env) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var opened incident
	status, err := api.Send(ctx, http.MethodPost, "/v1/incidents", body, &opened)
	if err == nil && status == http.StatusOK {
		fmt.Fprintln(e.Err, "an incident with this key is open already: none was opened")
	}
	return e.Done(err, "%d", opened.ID)
}

type incidentList struct {
	remote.Flags
	State       string `help:"open, escalating, exhausted, acknowledged, snoozed, silenced, merged, resolved or closed." default:"open"`
	Plan        string `help:"Only those of this plan." placeholder:"NAME"`
	Application string `help:"Only those of this application." placeholder:"NAME"`
	Owner       string `help:"Only those that this person has acknowledged." placeholder:"USER"`
	Severity    string `help:"Only those of this severity: critical, error, warning or info."`
	Most        int    `help:"How many are listed at most." default:"100" placeholder:"N"`
}

// Run lists incidents.
func (c incidentList) Run(ctx context.Context, e remote.Env) error {
	if c.Most < 1 {
		return remote.Usagef("--most must be more than 0")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	query := url.Values{"limit": {fmt.Sprint(min(c.Most, 500))}}
	for name, value := range map[string]string{"state": c.State, "plan": c.Plan, "application": c.Application, "owner": c.Owner, "severity": c.Severity} {
		if value != "" {
			query.Set(name, value)
		}
	}
	found, err := client.First[incident](ctx, api, "/v1/incidents?"+query.Encode(), c.Most)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	_ = text.Row(w, "NUMBER", "STATE", "SEVERITY", "PLAN", "APPLICATION", "OWNER", "OPENED",
		"TITLE") // Flush returns the error
	for _, i := range found {
		_ = text.Row(w, fmt.Sprint(i.ID), i.State, i.Severity, i.Plan, i.Application, i.Owner,
			text.Moment(i.CreatedAt), text.Short(i.Title))
	}
	return w.Flush()
}

// incidentNumber is the argument of commands about one incident.
type incidentNumber struct {
	remote.Flags
	ID int64 `arg:"" help:"Number of the incident."`
}

type incidentShow struct{ incidentNumber }

// Run shows an incident and its timeline.
func (c incidentShow) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var i incident
	path := fmt.Sprintf("/v1/incidents/%d", c.ID)
	if err := api.Do(ctx, http.MethodGet, path, nil, &i); err != nil {
		return err
	}
	timeline, err := client.All[struct {
		At          time.Time
		Actor, Text string
	}](ctx, api, path+"/timeline")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			_ = text.Row(w, name+":", value) // Flush returns the error
		}
	}
	line("incident", fmt.Sprint(i.ID))
	line("title", i.Title)
	line("state", i.State)
	line("severity", i.Severity)
	line("plan", fmt.Sprintf("%s, step %d", i.Plan, i.Step))
	line("application", i.Application)
	line("integration", i.Integration)
	line("owner", i.Owner)
	line("opened", text.Moment(i.CreatedAt))
	if !i.SnoozedUntil.IsZero() {
		line("snoozed until", text.Moment(i.SnoozedUntil))
	}
	if i.MergedInto != 0 {
		line("merged into", fmt.Sprint(i.MergedInto))
	}
	line("context", string(i.Context))
	if err := w.Flush(); err != nil {
		return err
	}
	for _, entry := range timeline {
		by := ""
		if entry.Actor != "" {
			by = " (" + entry.Actor + ")"
		}
		fmt.Fprintf(e.Out, "%s  %s%s\n", text.Moment(entry.At), text.SingleLine.Replace(entry.Text), by)
	}
	return nil
}

// incidentNumbers are the arguments of commands about many incidents.
type incidentNumbers struct {
	remote.Flags
	IDs []int64 `arg:"" name:"incident" help:"Numbers of the incidents."`
}

type incidentAcknowledge struct {
	incidentNumbers
	Owner string `help:"Who owns them; default: you. Service tokens and the command on the database must name somebody." placeholder:"USER"`
}

// Run acknowledges incidents, in order. It ends at the first that cannot be acknowledged.
func (c incidentAcknowledge) Run(ctx context.Context, e remote.Env) error {
	body := map[string]string{}
	if c.Owner != "" {
		body["owner"] = c.Owner
	}
	for _, id := range c.IDs {
		changed, err := changeIncident(ctx, c.Flags, e, id, "acknowledge", body)
		if err := e.Done(err, "incident %d is acknowledged by %s", id, changed.Owner); err != nil {
			return err
		}
	}
	return nil
}

type incidentResolve struct{ incidentNumbers }

// Run resolves incidents, in order. It ends at the first that cannot be resolved.
func (c incidentResolve) Run(ctx context.Context, e remote.Env) error {
	for _, id := range c.IDs {
		_, err := changeIncident(ctx, c.Flags, e, id, "resolve", nil)
		if err := e.Done(err, "incident %d is resolved", id); err != nil {
			return err
		}
	}
	return nil
}

type incidentSnooze struct {
	incidentNumber
	For string `required:"" help:"How long: 90m, 2h, 3d; at most 30d." placeholder:"PERIOD"`
}

// Run snoozes an incident.
func (c incidentSnooze) Run(ctx context.Context, e remote.Env) error {
	d, err := remote.Period(c.For)
	if err != nil {
		return err
	}
	changed, err := changeIncident(ctx, c.Flags, e, c.ID, "snooze", map[string]string{"for": d.String()})
	return e.Done(err, "incident %d is snoozed until %s", c.ID, text.Moment(changed.SnoozedUntil))
}

type incidentUnsnooze struct{ incidentNumber }

// Run ends a snooze.
func (c incidentUnsnooze) Run(ctx context.Context, e remote.Env) error {
	_, err := changeIncident(ctx, c.Flags, e, c.ID, "unsnooze", nil)
	return e.Done(err, "incident %d escalates again", c.ID)
}

type incidentMerge struct {
	remote.Flags
	IDs     []int64 `arg:"" name:"child" help:"Numbers of the incidents that page nobody from now on."`
	Into    int64   `required:"" help:"Number of the incident that stands for them: they follow its acknowledgements and resolves." placeholder:"PARENT"`
	Comment string  `help:"Why; for the timelines."`
}

// Run merges incidents, in order. It ends at the first that cannot be merged.
func (c incidentMerge) Run(ctx context.Context, e remote.Env) error {
	body := map[string]any{"into": c.Into}
	if c.Comment != "" {
		body["comment"] = c.Comment
	}
	for _, id := range c.IDs {
		_, err := changeIncident(ctx, c.Flags, e, id, "merge", body)
		if err := e.Done(err, "incident %d is merged into incident %d", id, c.Into); err != nil {
			return err
		}
	}
	return nil
}

type incidentUnmerge struct{ incidentNumber }

// Run undoes a merge.
func (c incidentUnmerge) Run(ctx context.Context, e remote.Env) error {
	_, err := changeIncident(ctx, c.Flags, e, c.ID, "unmerge", nil)
	return e.Done(err, "incident %d is no longer merged", c.ID)
}

type incidentPage struct {
	incidentNumber
	User     []string `help:"Person to page; may be repeated."`
	Team     []string `help:"Team whose people are all paged; may be repeated."`
	Oncall   []string `help:"Team whose primary on call is paged; may be repeated." placeholder:"TEAM"`
	Priority string   `help:"Decides the mode: urgent, high, medium or low." default:"high"`
	Template string   `help:"Template of the messages; that of the current step by default." placeholder:"NAME"`
}

// Run pages further people.
func (c incidentPage) Run(ctx context.Context, e remote.Env) error {
	var targets []target
	for _, of := range []struct {
		role  string
		names []string
	}{{"user", c.User}, {"team", c.Team}, {"oncall-primary", c.Oncall}} {
		for _, name := range of.names {
			targets = append(targets, target{of.role, name})
		}
	}
	if targets == nil {
		return remote.Usagef("name at least one --user, --team or --oncall")
	}
	body := map[string]any{"targets": targets, "priority": c.Priority}
	if c.Template != "" {
		body["template"] = c.Template
	}
	_, err := changeIncident(ctx, c.Flags, e, c.ID, "page", body)
	return e.Done(err, "incident %d pages %s", c.ID, strings.Join(slices.Concat(c.User, c.Team, c.Oncall), ", "))
}

type incidentReassign struct {
	incidentNumber
	Owner string `arg:"" help:"Name of the new owner."`
}

// Run gives an incident another owner.
func (c incidentReassign) Run(ctx context.Context, e remote.Env) error {
	_, err := changeIncident(ctx, c.Flags, e, c.ID, "reassign", map[string]string{"owner": c.Owner})
	return e.Done(err, "incident %d belongs to %s", c.ID, c.Owner)
}

type incidentUpdate struct {
	incidentNumber
	Text  string `arg:"" help:"What subscribers get, at most 2,000 characters."`
	State string `required:"" help:"What the update says about the incident: investigating, identified, monitoring or resolved. It does not change its state."`
}

// Run sends an update.
func (c incidentUpdate) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	sent, err := client.Call(ctx, api, updates.Post, updates.Posting{One: incidents.One{ID: incidents.ID(c.ID)},
		Body: updates.Draft{State: updates.State(c.State), Text: c.Text}})
	return e.Done(err, "the update of incident %d was sent to %d subscribers", c.ID, sent.Recipients)
}

type incidentReview struct {
	incidentNumber
	Draft bool `help:"Print a first text from the timeline, not the stored review."`
}

// Run prints a review.
func (c incidentReview) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	one := reviews.One{Incident: incidents.ID(c.ID)}
	if c.Draft {
		draft, err := client.Call(ctx, api, reviews.MakeDraft, one)
		if err == nil {
			_, err = fmt.Fprint(e.Out, draft.Text)
		}
		return err
	}
	file, err := client.Call(ctx, api, reviews.Export, one)
	if err == nil {
		_, err = fmt.Fprint(e.Out, file.Markdown)
	}
	return err
}

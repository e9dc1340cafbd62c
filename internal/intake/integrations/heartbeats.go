package integrations

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Heartbeat is a heartbeat and its state.
type Heartbeat struct {
	ID           heartbeats.ID    `json:"id"`
	Integration  string           `json:"integration"`
	Name         string           `json:"name"`
	Description  string           `json:"description"`
	EverySeconds int64            `json:"every_seconds" doc:"Expected interval between two pings."`
	GraceSeconds int64            `json:"grace_seconds" doc:"How much later a ping may come."`
	Plan         operation.Text   `json:"plan" doc:"null = the integration routes its incidents."`
	Severity     operation.Text   `json:"severity"`
	Enabled      bool             `json:"enabled"`
	State        heartbeats.State `json:"state" enum:"waiting,alive,missed,off" doc:"waiting = never pinged or started: the first interval begins then. missed = an incident is open; failure says why."`
	LastPingAt   *time.Time       `json:"last_ping_at"`
	Deadline     *time.Time       `json:"deadline" doc:"When the heartbeat is missed if no ping comes; null = never pinged or started, or off."`
	MissedAt     *time.Time       `json:"missed_at"`
	Failure      operation.Text   `json:"failure" doc:"Why it is missed, if not for a missing ping: the program failed, or a run has not ended."`
	Incident     *int64           `json:"incident_id" doc:"The incident of the current miss; null = none."`
	RunningSince *time.Time       `json:"running_since" doc:"When the oldest run began that is expected to end; null = there is none."`
	LastRun      *float64         `json:"last_run_seconds" doc:"How long the run took that ended last; null = none has ended."`
	CreatedBy    string           `json:"created_by"`
	CreatedAt    *time.Time       `json:"created_at"`
	Runs         []Run            `json:"runs,omitempty" doc:"Up to 30 runs, latest first. Only of one heartbeat, not in lists."`
	Text         *HeartbeatText   `json:"text,omitempty" doc:"The last text of the program. Only of one heartbeat, for administrators and owners of the application, as it may have secrets; left out = none."`

	tag string
}

// Run is the time from a start of a program to its end.
type Run struct {
	ID        operation.Text     `json:"rid" doc:"What the program calls the run; null = nothing."`
	StartedAt *time.Time         `json:"started_at"`
	EndedAt   *time.Time         `json:"ended_at" doc:"null = it has not ended."`
	Seconds   *float64           `json:"seconds" doc:"How long it took; null = it has not ended."`
	Outcome   heartbeats.Outcome `json:"outcome" enum:"running,succeeded,failed,lost" doc:"lost = it did not end in time, or before the next run of that rid began."`
	ExitCode  *int               `json:"exit_code" doc:"null = the program did not say it."`
}

// HeartbeatText is a text of a program.
type HeartbeatText struct {
	Signal heartbeats.Signal `json:"signal" enum:"success,start,fail,log"`
	At     *time.Time        `json:"at"`
	Body   string            `json:"body" doc:"The first 10,000 bytes."`
}

// Tag names the state of the settings.
func (h Heartbeat) Tag() string { return h.tag }

// StoredHeartbeat is a heartbeat that was made or replaced.
type StoredHeartbeat struct {
	Heartbeat
	made bool
}

// Made reports whether the heartbeat is new.
func (h StoredHeartbeat) Made() bool { return h.made }

// Location is the address of the heartbeat.
func (h StoredHeartbeat) Location() string {
	return operation.Path(GetHeartbeat.Path, h.Integration, h.Name)
}

// OneHeartbeat names a heartbeat.
type OneHeartbeat struct {
	One
	Heartbeat string `path:"heartbeat" json:"heartbeat"`
}

// HeartbeatFilter selects heartbeats of an integration.
type HeartbeatFilter struct {
	One
	operation.Paging
}

// HeartbeatContent are the settings of a heartbeat. What is left out is cleared.
type HeartbeatContent struct {
	EverySeconds int64          `json:"every_seconds" doc:"Expected interval between two pings: 1 to 31622400 seconds (366 days)."`
	GraceSeconds int64          `json:"grace_seconds,omitempty" nullable:"true" doc:"How much later than every_seconds a ping may come: 0 to 31622400 seconds (366 days)."`
	Plan         operation.Text `json:"plan,omitempty"`
	Severity     operation.Text `json:"severity,omitempty" doc:"critical, error, warning or info; null = that of the integration, else error."`
	Description  operation.Text `json:"description,omitempty"`
	Enabled      *bool          `json:"enabled,omitempty" nullable:"true" doc:"Default: true."`
}

// HeartbeatEdit makes or replaces a heartbeat.
type HeartbeatEdit struct {
	OneHeartbeat
	operation.State
	Body HeartbeatContent `json:"body"`
}

// HeartbeatRemoval deletes a heartbeat.
type HeartbeatRemoval struct {
	OneHeartbeat
	operation.State
}

// The operations on heartbeats.
var (
	ListHeartbeats = operation.Define[operation.Paging, operation.Page[Heartbeat]](operation.Doc{
		Name: "heartbeat.list", Method: http.MethodGet, Path: "/v1/heartbeats",
		Needs: operation.Reader, Summary: "Heartbeats of all integrations, by integration and name"})
	HeartbeatsOfIntegration = operation.Define[HeartbeatFilter, operation.Page[Heartbeat]](operation.Doc{
		Name: "integration.heartbeats", Method: http.MethodGet, Path: "/v1/integrations/{integration}/heartbeats",
		Needs: operation.Reader, Summary: "Heartbeats of an integration, by name"})
	GetHeartbeat = operation.Define[OneHeartbeat, Heartbeat](operation.Doc{Name: "heartbeat.get",
		Method: http.MethodGet, Path: "/v1/integrations/{integration}/heartbeats/{heartbeat}",
		Needs: operation.Reader, Rule: operation.Confined, Summary: "A heartbeat",
		Note: "ETag names the state of its settings."})
	ReplaceHeartbeat = operation.Define[HeartbeatEdit, StoredHeartbeat](operation.Doc{Name: "heartbeat.replace",
		Method: http.MethodPut, Path: "/v1/integrations/{integration}/heartbeats/{heartbeat}",
		Needs: operation.Member, Rule: operation.OfApplication,
		Audit:   []audit.Action{audit.HeartbeatAdded, audit.HeartbeatChanged},
		Summary: "Create a heartbeat, or replace its settings", Errors: []int{409, 412, 422},
		Note: "409 when the type of the integration has no heartbeats. With If-None-Match: *, only a new heartbeat is created: 412 if the name is in use."})
	DeleteHeartbeat = operation.Define[HeartbeatRemoval, operation.None](operation.Doc{Name: "heartbeat.delete",
		Method: http.MethodDelete, Path: "/v1/integrations/{integration}/heartbeats/{heartbeat}",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.HeartbeatRemoved},
		Summary: "Delete a heartbeat; its incidents stay", Errors: []int{412}})
)

// HeartbeatStore stores heartbeats. Methods that change one check that it is as it was read; otherwise they return a
// Stale fault.
type HeartbeatStore interface {
	// Of returns the heartbeats of an integration (0 = of all) of an application (0 = of all) by name, and when pings
	// could be received.
	Of(ctx context.Context, integration intake.ID, application int64) ([]heartbeats.Heartbeat, heartbeats.Reception,
		error)
	// Save adds a heartbeat (ID 0), or replaces its content. A name in use is a Conflict fault.
	Save(ctx context.Context, i intake.Integration, before heartbeats.Heartbeat, c heartbeats.Content,
		actor string) error
	Delete(ctx context.Context, h heartbeats.Heartbeat, actor string) error
	// Runs returns the kept runs of a heartbeat, latest first, Text its last text.
	Runs(ctx context.Context, of heartbeats.ID) ([]heartbeats.Run, error)
	Text(ctx context.Context, of heartbeats.ID) (heartbeats.Text, error)
}

// Heartbeats are the operations on heartbeats. They are safe for concurrent use.
type Heartbeats struct {
	List          operation.Op[operation.Paging, operation.Page[Heartbeat]]
	OfIntegration operation.Op[HeartbeatFilter, operation.Page[Heartbeat]]
	Get           operation.Op[OneHeartbeat, Heartbeat]
	Replace       operation.Op[HeartbeatEdit, StoredHeartbeat]
	Delete        operation.Op[HeartbeatRemoval, operation.None]

	deps Deps
}

func newHeartbeats(d Deps) *Heartbeats {
	h := &Heartbeats{deps: d}
	h.List, h.OfIntegration, h.Get = ListHeartbeats.By(h.list), HeartbeatsOfIntegration.By(h.ofIntegration), GetHeartbeat.By(h.get)
	h.Replace, h.Delete = ReplaceHeartbeat.By(h.replace), DeleteHeartbeat.By(h.remove)
	return h
}

func showHeartbeat(h heartbeats.Heartbeat, r heartbeats.Reception) Heartbeat {
	return Heartbeat{ID: h.ID, Integration: h.Integration, Name: h.Name, Description: h.Description,
		EverySeconds: int64(h.Every / time.Second), GraceSeconds: int64(h.Grace / time.Second),
		Plan: operation.Text(h.Plan), Severity: operation.Text(h.Severity), Enabled: h.Enabled, State: h.State(),
		LastPingAt: instant(h.LastPingAt), Deadline: instant(h.Deadline(r)),
		Failure: operation.Text(h.Failure), RunningSince: instant(h.StartedAt), LastRun: operation.OrNull(h.LastRun.Seconds()),
		MissedAt: instant(h.MissedAt), Incident: operation.OrNull(h.Incident), CreatedBy: h.CreatedBy,
		CreatedAt: instant(h.CreatedAt), tag: h.Tag()}
}

func (h *Heartbeats) list(ctx context.Context, by operation.Actor, p operation.Paging) (operation.Page[Heartbeat], error) {
	return h.page(ctx, by, 0, p)
}

func (h *Heartbeats) ofIntegration(ctx context.Context, by operation.Actor, f HeartbeatFilter) (out operation.Page[Heartbeat], err error) {
	of, err := h.deps.Store.ByName(ctx, f.Integration)
	if err != nil {
		return out, err
	}
	return h.page(ctx, by, of.ID, f.Paging)
}

func (h *Heartbeats) page(ctx context.Context, by operation.Actor, of intake.ID, p operation.Paging) (out operation.Page[Heartbeat], err error) {
	found, reception, err := h.deps.Heartbeats.Of(ctx, of, by.Application)
	if err != nil {
		return out, err
	}
	rows := make([]Heartbeat, len(found))
	for k, one := range found {
		rows[k] = showHeartbeat(one, reception)
	}
	key := func(h Heartbeat) string { return h.Integration + "/" + h.Name }
	slices.SortFunc(rows, func(a, b Heartbeat) int { return strings.Compare(key(a), key(b)) })
	return operation.PageByName(p, rows, key)
}

func (h *Heartbeats) get(ctx context.Context, by operation.Actor, one OneHeartbeat) (Heartbeat, error) {
	of, err := h.deps.Store.ByName(ctx, one.Integration)
	if err != nil {
		return Heartbeat{}, err
	}
	found, reception, err := h.find(ctx, by, of, one.Heartbeat)
	if err != nil {
		return Heartbeat{}, err
	}
	out := showHeartbeat(found, reception)
	runs, err := h.deps.Heartbeats.Runs(ctx, found.ID)
	if err != nil {
		return out, err
	}
	out.Runs = make([]Run, len(runs))
	for k, r := range runs {
		out.Runs[k] = Run{ID: operation.Text(r.Name), StartedAt: instant(r.StartedAt), EndedAt: instant(r.EndedAt), Outcome: r.Outcome, ExitCode: r.ExitCode}
		if !r.EndedAt.IsZero() {
			took := r.EndedAt.Sub(r.StartedAt).Seconds()
			out.Runs[k].Seconds = &took
		}
	}
	if _, err := h.deps.application(ctx, by, of.Application); err != nil { // as for payloads
		return out, fault.When(err, fault.Forbidden, nil)
	}
	text, err := h.deps.Heartbeats.Text(ctx, found.ID)
	if !text.At.IsZero() {
		out.Text = &HeartbeatText{text.Signal, instant(text.At), text.Body}
	}
	return out, err
}

// find returns a heartbeat of an integration. An unknown name is a NotFound fault.
func (h *Heartbeats) find(ctx context.Context, by operation.Actor, of intake.Integration, name string) (heartbeats.Heartbeat, heartbeats.Reception, error) {
	all, reception, err := h.deps.Heartbeats.Of(ctx, of.ID, by.Application)
	if err != nil {
		return heartbeats.Heartbeat{}, reception, err
	}
	at := slices.IndexFunc(all, func(one heartbeats.Heartbeat) bool { return one.Name == name })
	if at < 0 {
		return heartbeats.Heartbeat{}, reception, fault.Newf(fault.NotFound,
			"the integration %s has no heartbeat %.100q", of.Name, name)
	}
	return all[at], reception, nil
}

// replace makes the heartbeat, or replaces its settings.
func (h *Heartbeats) replace(ctx context.Context, by operation.Actor, e HeartbeatEdit) (out StoredHeartbeat, err error) {
	of, err := h.deps.editable(ctx, by, e.Integration)
	if err == nil {
		err = heartbeats.CheckType(of)
	}
	if err != nil {
		return out, err
	}
	before, _, err := h.find(ctx, by, of, e.Heartbeat)
	tag := before.Tag()
	if fault.Is(err, fault.NotFound) {
		out.made, tag, err = true, "", nil
	}
	if err == nil {
		_, err = e.Check(tag)
	}
	if err != nil {
		return out, err
	}
	b := e.Body
	c := heartbeats.Content{Name: e.Heartbeat, Every: seconds(b.EverySeconds), Grace: seconds(b.GraceSeconds),
		Description: string(b.Description), Plan: string(b.Plan),
		Severity: intake.Severity(b.Severity), Enabled: b.Enabled == nil || *b.Enabled}
	if err := c.Check(); err != nil {
		return out, err
	}
	if err := h.deps.Previewer.Chooser.CheckPlan(ctx, "plan", c.Plan); err != nil {
		return out, err
	}
	if err := h.deps.Heartbeats.Save(ctx, of, before, c, by.Name); err != nil {
		return out, err
	}
	stored, reception, err := h.find(ctx, by, of, c.Name)
	out.Heartbeat = showHeartbeat(stored, reception)
	return out, err
}

// seconds returns an interval; a negative one, which no heartbeat may have, for a number out of bounds.
func seconds(n int64) time.Duration {
	if n < 0 || n > int64(heartbeats.MaxEvery/time.Second) {
		return -1
	}
	return time.Duration(n) * time.Second
}

// remove deletes a heartbeat. Its incidents stay.
func (h *Heartbeats) remove(ctx context.Context, by operation.Actor, r HeartbeatRemoval) (none operation.None, err error) {
	of, err := h.deps.editable(ctx, by, r.Integration)
	if err != nil {
		return none, err
	}
	found, _, err := h.find(ctx, by, of, r.Heartbeat)
	if err == nil {
		_, err = r.Check(found.Tag())
	}
	if err == nil {
		err = h.deps.Heartbeats.Delete(ctx, found, by.Name)
	}
	return none, err
}

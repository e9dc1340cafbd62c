package incidents

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
)

// ID is an incident's number, also its number on the wire.
type ID int64

// MaxContext is the largest context accepted, counted on compact ASCII JSON with escaped slashes
// (docs/reference/iris-v0.md 4).
const MaxContext = 65535

// Incident is an incident as lists and pages show it.
type Incident struct {
	ID            ID
	Bucket        int
	PlanID        int64
	Plan          string
	ApplicationID int64
	Application   string
	Team          string // the team that owns the plan; if none does, that of the application; "" = none
	CreatedAt     time.Time
	UpdatedAt     time.Time // zero: it never changed
	Active        bool
	Resolved      bool
	Owner         string // "" = nobody acknowledged it
	CurrentStep   int    // 0 = not started
	ReopenCount   int
	Context       json.RawMessage
	Severity      string // one of Severities; "" = unknown
	Integration   string // name of the sender; "" = none, or it was deleted
	TitleVariable string // the application's; "" = none
	// What stopped paging besides the owner; zero values = nothing did.
	SourceAcknowledged                    bool
	SnoozedUntil, SilencedUntil, ClosedAt time.Time
	Silence                               int64 // the number of the silence that hides it
	MergedInto                            ID
}

// Status returns the condition from which the state follows.
func (i Incident) Status() Status {
	return Status{Active: i.Active, Owned: i.Owner != "" || i.SourceAcknowledged, Snoozed: !i.SnoozedUntil.IsZero(),
		Silenced: !i.SilencedUntil.IsZero(), Merged: i.MergedInto != 0, Resolved: i.Resolved, Closed: !i.ClosedAt.IsZero()}
}

// Place returns the place of the incident in lists, the newest first.
func (i Incident) Place() filters.Place { return filters.Place{At: i.CreatedAt, ID: int64(i.ID)} }

// State returns the state.
func (i Incident) State() State { return i.Status().State() }

// Severities of alerts.
const (
	Critical = "critical"
	Error    = "error"
	Warning  = "warning"
	Info     = "info"
)

// Severities are all severities, the highest first.
var Severities = []string{Critical, Error, Warning, Info}

// Target is a (role, target) pair as clients name it.
type Target struct {
	Role string `json:"role" doc:"A role such as user, team or oncall-primary."`
	Name string `json:"name"`
}

// AddedPage is a request to page further people.
type AddedPage struct {
	Targets  []Target `json:"targets" maxItems:"20" doc:"Who is paged, at most 20 targets."`
	Priority string   `json:"priority" required:"false" nullable:"true" doc:"Decides the mode; default: high."`
	Template string   `json:"template" required:"false" nullable:"true" doc:"Default: the template of the step of the incident."`
}

// MaxAddedTargets is how many targets an AddedPage may have.
const MaxAddedTargets = 20

// New is a request to open an incident; its content is validated and resolved to ids.
type New struct {
	PlanID        int64
	ApplicationID int64
	// Opener is the person or service token that opened the incident of the application iris; "" = the application
	// opened it. Each has quotas and dedup keys of its own.
	Opener string
	// Version is the version that the application must have; otherwise Open returns a Stale fault. 0 = any.
	Version        int64
	Context        json.RawMessage
	DynamicTargets []DynamicTarget
	Actor          string // who opened it, for the timeline
	Remark         string // what else the first line of the timeline says; "" = nothing
	// DedupKey, if not empty, prevents a second open incident of the same application, plan and key.
	DedupKey string
	// DedupFacts is the content of a delivery (see Opened.Known).
	DedupFacts json.RawMessage
	// Alerts are the alerts of a webhook delivery, each fingerprint once. Late is the source's setting for late ones.
	Alerts []Alert
	Late   Late
	// StartsAt is the start of a resolve without Alerts, on the sender's clock; zero = unknown.
	StartsAt time.Time
	// Early: a resolve of the alerts came before them. The incident is opened as a resolved one that holds the delivery.
	Early bool
	// Integration is the sender's number; 0 = none. With an integration, DedupKey prevents a second open incident of
	// the same integration and key, whatever the plan is.
	Integration int64
	Severity    string
	// Silenced hides the incident from the start; nil = it escalates. SilencesVersion is the state of the silences that
	// were searched: in another state the incident is not opened. 0 = any.
	Silenced        *Silenced
	SilencesVersion int64
	// Threshold holds the event back until enough have come; nil = it opens an incident.
	Threshold *Threshold
	// Group makes the event an alert of an incident of several events; nil = it has one of its own. Alert describes the
	// event in such an incident; nil = it is never in one.
	Group *Group
	Alert GroupAlert
}

// ErrSilencesChanged is the error of Open if the silences are not those of New.SilencesVersion. Nothing was stored.
var ErrSilencesChanged = fault.New(fault.Unavailable, "the silences are being changed, send the request again")

// Silenced says that a silence hides an incident.
type Silenced struct {
	Silence int64
	Until   time.Time
	Reason  string // for the timeline
}

// DynamicTarget is a target given by the incident, not the plan; Index is the plan's dynamic_index.
type DynamicTarget struct {
	Index    int
	Role     string
	TargetID int64
}

// Opened is the result of opening.
type Opened struct {
	ID     ID
	Bucket int
	// Known: an open incident with the same dedup key existed; nothing was opened. Facts are those stored with it.
	Known    bool
	Facts    json.RawMessage
	Severity string
	// Repage: the plan of the known incident has been exhausted for so long that a repeat starts it again.
	Repage bool
	// Held: the delivery is late and waits on this resolved incident.
	Held bool
	// Early: there is no incident yet, and the delivery is late: it must be opened with New.Early.
	Early bool
	// HeldBack: there are only so many events of New.Threshold, and nothing was opened; 0 = not held back.
	HeldBack int
	// Grouped: the known incident has several events as alerts. Facts are those of this event.
	Grouped bool
	// Joined: the event became an alert of the incident of its group. Restarted: its escalation starts again.
	Joined, Restarted bool
}

// Delivery is a webhook delivery for an incident that is open.
type Delivery struct {
	Context, Facts json.RawMessage
	Alerts         []Alert
	Late           Late
	Text           string // what is new compared with the stored facts; "" = nothing
	Severity       string // "" = unchanged
	Rose           bool   // Severity is higher than before: that is news for the owner
	// Reroute is the plan that the rules choose for the higher severity; nil = they choose none.
	Reroute *Reroute
	// Event is the alert of an incident of several events; nil = the delivery is about the whole incident.
	Event *GroupedEvent
}

// Reroute is the plan of another rule. An incident that nobody has acknowledged goes on with the first step of it.
type Reroute struct {
	PlanID  int64
	Plan    string // its name: the plan of the incident is no reroute
	Targets []DynamicTarget
	Reason  string // for the timeline: the rule
}

// Via is the way in which a person or program answered.
type Via string

// The ways.
const (
	ViaAPI   Via = "api"
	ViaWeb   Via = "web"
	ViaLink  Via = "link"
	ViaSlack Via = "slack"
	ViaSMS   Via = "sms"
	ViaCall  Via = "call"
	ViaEmail Via = "email"
	ViaHook  Via = "webhook"
)

// Change is an acknowledgement, reopening (unclaim), or resolution.
type Change struct {
	IDs []ID
	// Actor is who made the change, as text for the timeline (a user or "application NAME"); Via is how.
	Actor string
	Via   Via
	// AskFirst leaves an incident unchanged if it has an owner who is neither the new owner nor Replace (0 = nobody).
	AskFirst bool
	Replace  users.ID
}

// Acknowledged is the result of an acknowledgement of one incident.
type Acknowledged struct {
	ID            ID
	Found         bool
	Active        bool   // after the change
	PreviousOwner string // "" if nobody had acknowledged it
	Application   string
	// OwnedBy is who has acknowledged an incident that AskFirst left unchanged; 0 = it was acknowledged.
	OwnedBy users.ID
}

// EntryKind classifies timeline entries for icons and filters; the text is what people read.
type EntryKind string

// The kinds of entries.
const (
	EntryOpened       EntryKind = "opened"
	EntryUpdated      EntryKind = "updated"   // a webhook delivery brought something new
	EntryStep         EntryKind = "step"      // a step began; who was chosen, why and by which mode
	EntryAdded        EntryKind = "added"     // a person asked for a page that is not in the plan
	EntryRepeat       EntryKind = "repeat"    // another round of a notification
	EntrySkipped      EntryKind = "skipped"   // an optional notification reached nobody
	EntryFallback     EntryKind = "fallback"  // somebody else is paged, and why
	EntryLate         EntryKind = "late"      // a step was not delivered in time; escalating anyway
	EntryExhausted    EntryKind = "exhausted" // the plan ended without an acknowledgement
	EntryAcknowledged EntryKind = "acknowledged"
	EntryReopened     EntryKind = "reopened"
	EntryResolved     EntryKind = "resolved"
	EntrySnoozed      EntryKind = "snoozed"
	EntrySilenced     EntryKind = "silenced"
	EntryMerged       EntryKind = "merged"
	EntryClosed       EntryKind = "closed" // no news for long
	EntryComment      EntryKind = "comment"
	EntryStatus       EntryKind = "status"   // an update for people who subscribed
	EntryDelivery     EntryKind = "delivery" // what happened to a message: sent, failed, in doubt, mode changed
	EntryNotice       EntryKind = "notice"   // who is notified without a page
	EntryCancelled    EntryKind = "cancelled"
	EntryHeld         EntryKind = "held"    // a page waits for a digest, or was sent in one; or a late firing delivery waits
	EntryLimited      EntryKind = "limited" // a quota or a person's own rule changed a page
	EntryOperator     EntryKind = "operator"
	EntryFailure      EntryKind = "failure" // the engine failed on the incident itself and will retry
)

// Entry is one line of a timeline.
type Entry struct {
	ID     int64
	At     time.Time
	Kind   EntryKind
	Actor  string
	Text   string
	Detail json.RawMessage
}

// Comment is a comment by a person or application.
type Comment struct {
	ID        int64     `json:"id"`
	Author    string    `json:"author"`
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at"`
}

// FilterSchema names the fields of GET /v0/incidents.
var FilterSchema = filters.Schema{
	"id": filters.Int, "plan": filters.Text, "plan_id": filters.Int, "active": filters.Flag, "updated": filters.Time,
	"application": filters.Text, "context": filters.Text, "created": filters.Time, "owner": filters.Text,
	"current_step": filters.Int, "resolved": filters.Flag, "target": filters.Text, "claimed": filters.Bool,
}

// NextStep returns the step with which an incident continues if somebody escalates it now. On the last step of the plan
// it is a Conflict fault.
func NextStep(current, steps int) (int, error) {
	if current >= steps {
		return 0, fault.Newf(fault.Conflict,
			"step %d is the last one of the plan: use restart to begin the plan again", steps)
	}
	return current + 1, nil
}

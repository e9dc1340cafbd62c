package escalation

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/users"
)

// PlanID identifies one immutable version of a plan.
type PlanID int64

// Plan is one version of a named escalation plan.
type Plan struct {
	ID          PlanID
	Name        string
	Description string
	Creator     string
	CreatorID   users.ID
	CreatedAt   time.Time
	Active      bool
	Paused      bool
	Team        users.OwningTeam // that owns all versions; reads of the directory leave it out

	// What happens in a flood: see Aggregation.
	ThresholdWindow   time.Duration
	ThresholdCount    int
	AggregationWindow time.Duration
	AggregationReset  time.Duration

	Settings
	Tracking *Tracking
	Fallback *Target // tried when a recipient cannot be reached; nil = the application's, else the plan's creator
	Steps    []Step

	once int // number of steps without repeats and fallback; 0 = Steps has none of these. See AllRounds.
}

// Tracking is a destination that gets one message for every incident of the plan, before step 1.
type Tracking struct {
	Mode     users.Mode
	Key      string          // destination
	Template json.RawMessage // application -> {email_subject, email_text, email_html} or {body}
}

// Step is one stage of a plan. Its notifications start together.
type Step struct {
	Notifications []Notification
	When          *hours.Condition // nil = always
}

// Notification is the intent to page a target in a step.
type Notification struct {
	ID           int64
	Priority     users.Priority
	Target       *Target // nil when DynamicIndex is set
	DynamicIndex *int
	Template     string
	Wait         time.Duration // after each round is settled, before the next round or step
	Repeat       int           // rounds after the first
	Optional     bool
	// lastResort: the notification pages the fallback, because the plan ends without an acknowledgement. It has no
	// target.
	lastResort bool
}

// Target is the recipient of a notification: a role of a target, by name and public target number.
type Target struct {
	Role     string
	Name     string
	TargetID int64
}

// TargetRole is a role that plans can name with a target, and the kind of target that it fits: user, team or
// mailing-list.
type TargetRole struct{ Name, Kind string }

// TargetKinds returns the kinds of targets.
func TargetKinds() []string { return []string{"user", "team", "mailing-list"} }

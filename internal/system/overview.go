package system

import (
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// State says what a member does.
type State string

// The values of State.
const (
	Runs   State = "running"
	Drains State = "draining"
	Dead   State = "dead"
)

// Member is a message processor.
type Member struct {
	ProcessID string         `json:"process_id"`
	Host      string         `json:"host"`
	Gossip    operation.Text `json:"gossip_address"`
	Version   string         `json:"version"`
	StartedAt time.Time      `json:"started_at"`
	Age       float64        `json:"heartbeat_age_seconds"`
	State     State          `json:"state" enum:"running,draining,dead"`
	Buckets   int            `json:"buckets"`
	Modes     []string       `json:"modes" nullable:"true" doc:"The modes that the process has a vendor for; null = unknown."`
	Lacks     []string       `json:"lacks" doc:"Modes that other running processes serve and this one does not. The others send the messages of these modes from its buckets."`
	Skew      *float64       `json:"clock_skew_seconds" doc:"Seconds by which its clock is ahead of the clock of the database; negative = behind, null = unknown. If it is more than 2, correct the clock."`
}

// Bucket says who owns a bucket.
type Bucket struct {
	Owner operation.Text `json:"owner"`
	Epoch int64          `json:"epoch" doc:"Rises when the bucket gets another owner."`
}

// Cluster is the members and what they own.
type Cluster struct {
	Members      []Member `json:"members"`
	Buckets      []Bucket `json:"buckets" doc:"The 256 buckets, in their order."`
	Version      string   `json:"version" doc:"Of the process that answers."`
	Schema       int64    `json:"schema" doc:"The newest migration of the database."`
	SchemaWanted int64    `json:"schema_wanted" doc:"The newest migration of the release."`
}

// Handover records that a process took buckets from another one.
type Handover struct {
	At           time.Time      `json:"at"`
	Owner        string         `json:"owner" doc:"The process that took the buckets."`
	Host         string         `json:"host"`
	Previous     operation.Text `json:"previous" doc:"The process that had them before; null = none."`
	PreviousHost operation.Text `json:"previous_host"`
	TakenOver    bool           `json:"taken_over" doc:"The previous owner had stopped without a release."`
	Buckets      []int          `json:"buckets"`
}

// Queue is what waits to be sent in one mode, class and application.
type Queue struct {
	Mode        users.Mode `json:"mode"`
	Application string     `json:"application"`
	Class       string     `json:"class" enum:"urgent,routine,out of band"`
	Waiting     int64      `json:"waiting"`
	InFlight    int64      `json:"in_flight"`
	Oldest      float64    `json:"oldest_seconds" doc:"0 when none waits."`
}

// Limit says how much of a rate limit is used, and how far ahead its calls are planned.
type Limit struct {
	Key       string  `json:"key"`
	Ahead     float64 `json:"ahead_seconds" doc:"How far ahead its calls are planned; 0 = the next call starts at once."`
	Used      float64 `json:"used_last_minute" doc:"Calls planned in the last minute, approximately."`
	PerMinute float64 `json:"per_minute" doc:"How many calls a minute allows; 0 = not known yet."`
}

// Health says whether the recent calls of an account work.
type Health string

// The values of Health.
const (
	Works           Health = "works"
	SomeCallsFailed Health = "some_calls_failed"
	LastCallFailed  Health = "last_call_failed"
)

// Vendor counts the recent calls of an account of a vendor.
type Vendor struct {
	Vendor       string         `json:"vendor"`
	Account      string         `json:"account"`
	Mode         string         `json:"mode"`
	Health       Health         `json:"health" enum:"works,some_calls_failed,last_call_failed"`
	Calls        int64          `json:"calls"`
	Failed       int64          `json:"failed"`
	InDoubt      int64          `json:"in_doubt"`
	LastSentAt   *time.Time     `json:"last_sent_at"`
	LastFailedAt *time.Time     `json:"last_failed_at"`
	LastFailure  operation.Text `json:"last_failure"`
}

func (v Vendor) health() Health {
	switch {
	case v.Failed == 0:
		return Works
	case v.LastSentAt == nil || v.LastFailedAt != nil && v.LastFailedAt.After(*v.LastSentAt):
		return LastCallFailed
	}
	return SomeCallsFailed
}

// Pause is an account or a mode that is not used now.
type Pause struct {
	Key    string  `json:"key" doc:"Such as account:twilio/main or mode:sms."`
	Left   float64 `json:"left_seconds"`
	Reason string  `json:"reason"`
}

// Vendors are the accounts of vendors and what is paused.
type Vendors struct {
	Items        []Vendor `json:"items" doc:"Accounts with calls in the last hour."`
	Pauses       []Pause  `json:"pauses"`
	Applications []string `json:"paused_applications"`
}

// Unreached is a notification of an incident that reached nobody.
type Unreached struct {
	ID          int64        `json:"-"`
	IncidentID  incidents.ID `json:"incident_id"`
	At          time.Time    `json:"at"`
	Text        string       `json:"text"`
	Application string       `json:"application"`
	Plan        string       `json:"plan"`
}

// FailingContact is a contact that no message can reach.
type FailingContact struct {
	User        string         `json:"user"`
	Mode        users.Mode     `json:"mode"`
	Destination operation.Text `json:"destination" doc:"null for callers who are no administrators."`
	Reason      string         `json:"reason" doc:"Why no message can reach it, and what to do."`
}

// Setting is a key of the configuration. Nothing in it is secret.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value" doc:"Of a secret only: set, not set."`
	Source string `json:"source" doc:"A line of the file or an environment variable; empty = the default."`
}

// Rules of a Loss.
const (
	LossReach = "reach" // an application changed incidents of another one
	LossOpen  = "open"  // a person or service token opened incidents of an application that is not theirs
	// LossContacts is an account that may only read, or a token that was used and may only read.
	LossContacts = "contacts"
)

// Loss is somebody whom an upgrade takes something away.
type Loss struct {
	Rule   string
	Who    string
	Object string // the application; "" = none
	Times  int64
	LastAt time.Time // zero = unknown
}

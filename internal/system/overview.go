// Package system has what operators see of vendors, limits and unreached people, and what they may change of the
// running system. Storage reads and executes it, and the API shows it.
package system

import "time"

// VendorCalls counts the recent calls of an account of a vendor.
type VendorCalls struct {
	Vendor, Account, Mode    string
	Calls, Failed, InDoubt   int64
	LastSentAt, LastFailedAt time.Time // zero = none
	LastFailure              string
}

// Health says whether the recent calls of an account work.
type Health string

// The values of Health.
const (
	Works           Health = "works"
	SomeCallsFailed Health = "some_calls_failed"
	LastCallFailed  Health = "last_call_failed"
)

// Health returns the health of the account.
func (v VendorCalls) Health() Health {
	switch {
	case v.Failed == 0:
		return Works
	case v.LastFailedAt.After(v.LastSentAt):
		return LastCallFailed
	}
	return SomeCallsFailed
}

// Pause is an account ("account:twilio/main") or a mode ("mode:sms") that is not used now.
type Pause struct {
	Key    string
	Left   time.Duration
	Reason string
}

// LimitUse says how much of a rate limit is used, and how far ahead its calls are planned.
type LimitUse struct {
	Key             string
	Ahead           time.Duration // 0 = the next call starts at once
	Used, PerMinute float64       // calls of the last minute, and how many a minute allows
}

// Handover records that a process took buckets from another one.
type Handover struct {
	At                     time.Time
	Owner, Host            string
	Previous, PreviousHost string // "" = the buckets had no owner before
	TakenOver              bool   // the previous owner had stopped without a release
	Buckets                []int
}

// Unreached is a notification of an incident that reached nobody.
type Unreached struct {
	ID                      int64
	IncidentID              int64
	At                      time.Time
	Text, Application, Plan string
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

// Package overview has what operators see of vendors, limits and unreached people. Storage reads it and the API shows it.
package overview

import "time"

// VendorCalls counts the recent calls of an account of a vendor.
type VendorCalls struct {
	Vendor, Account, Mode    string
	Calls, Failed, InDoubt   int64
	LastSentAt, LastFailedAt time.Time // zero = none
	LastFailure              string
}

// Pause is an account ("account:twilio/main") or a mode ("mode:sms") that is not used now.
type Pause struct {
	Key    string
	Left   time.Duration
	Reason string
}

// LimitUse is how far ahead the calls of a rate limit are planned.
type LimitUse struct {
	Key   string
	Ahead time.Duration // 0 = the next call starts at once
}

// Unreached is a notification of an incident that reached nobody.
type Unreached struct {
	ID                      int64
	IncidentID              int64
	At                      time.Time
	Text, Application, Plan string
}

package auth

import "time"

// Attempt is an attempt to log in with a password.
type Attempt struct {
	Address string // of the client; the /64 network for IPv6
	Account string // in canonical form
	Known   bool   // the person logged in from the address before
}

// AttemptLimits slow down wrong passwords. After the free attempts, the wait doubles with each attempt, up to Longest.
// Nobody can lock a person out at an address from which the person logged in before: only attempts from that address
// count there.
type AttemptLimits struct {
	FreeOfPair       int // from an unknown address for an account
	FreeOfKnown      int // from a known address for an account
	FreeOfAccount    int // from all unknown addresses together for an account
	AddressPerMinute int // from an unknown address for all accounts
	Longest          time.Duration
}

// KeepAttempts is how long after the last one attempts are forgotten.
const KeepAttempts = 15 * time.Minute

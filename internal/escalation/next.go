// Package escalation decides what happens to an incident next, and makes it happen. Next is a pure function of the
// plan, the progress so far and the instant: the engine, the simulator and the tests all call it. Runner applies its
// decisions to the incidents of the buckets this process owns. WHO is decided here; HOW (contact, rate, vendor) is
// decided in delivery.
package escalation

import "time"

// Progress is where an incident stands in its plan, as stored and as observed.
type Progress struct {
	Step          int       `json:"-"` // current step from 1; 0 = not started
	StepAt        time.Time `json:"-"` // when the current step was due
	Notifications []Rounds  `json:"n"` // of the current step, by position
	Reopen        int       `json:"r"` // reopen count the rounds were counted for
}

// Rounds is how often one notification of the current step was made, and what became of the last round.
type Rounds struct {
	Made    int       `json:"made"`
	At      time.Time `json:"at"`                // when the last round was made
	Skipped bool      `json:"skipped,omitempty"` // optional and resolved to nobody: holds nothing up
	// Observed from the messages of the last round, never stored:
	Unsettled int       `json:"-"` // messages that neither left nor failed for good
	SettledAt time.Time `json:"-"` // when the last of them settled
}

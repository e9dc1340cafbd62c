package escalation

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
)

// Progress is where an incident is in its plan, as stored and as observed.
type Progress struct {
	Step          int       `json:"-"`           // current step from 1; 0 = not started; a column of its own
	StepAt        time.Time `json:"-"`           // when the current step began; a column of its own
	Notifications []Rounds  `json:"n,omitempty"` // of the current step, by position
	Reopen        int       `json:"r,omitempty"` // reopen count the rounds were counted for
	Tracked       bool      `json:"t,omitempty"` // the tracking message was made
	Delayed       bool      `json:"d,omitempty"` // the timeline says that step 1 is delayed
	Paused        bool      `json:"p,omitempty"` // the timeline says that its plan or application is paused

	// Observed, never stored:
	OpenedAt  time.Time `json:"-"` // when the incident was opened; the zero time = no delay applies
	Reopened  int       `json:"-"` // the incident's present reopen count
	Unsettled int       `json:"-"` // messages of any step that are not settled
	Past      []Past    `json:"-"` // every message of the incident; read only if Reopened > Reopen
}

// Rounds is how often one notification of the current step was made, and the state of its last round.
type Rounds struct {
	Made    int       `json:"m"`
	At      time.Time `json:"a"`           // when the last round was made
	Waiting bool      `json:"w,omitempty"` // the next round waits until somebody is on call
	Skipped bool      `json:"s,omitempty"` // reached nobody: delays nothing and is not repeated
	Late    bool      `json:"l,omitempty"` // the timeline says that its wait began before all messages were sent

	// Observed from the messages of the last round, never stored:
	Unsettled int       `json:"-"` // messages that were neither sent nor failed for good
	SettledAt time.Time `json:"-"` // when the last of them settled; zero = unknown
	Lost      bool      `json:"-"` // every message failed for good, not because of an outage
}

// Fate is the outcome of a message.
type Fate string

// The outcomes of a message.
const (
	PastOnItsWay  Fate = "on its way"
	PastLeft      Fate = "left"
	PastFailed    Fate = "failed"
	PastCancelled Fate = "cancelled"
)

// Past is an existing message: the latest one of its round, recipient and purpose.
type Past struct {
	Step      int
	Position  int
	Repeat    int
	Recipient messages.Recipient
	Purpose   messages.Purpose
	Fate      Fate
}

func (p Progress) clone() Progress {
	p.Notifications = slices.Clone(p.Notifications)
	return p
}

// EncodeProgress returns the stored part of p as JSON.
func EncodeProgress(p Progress) (json.RawMessage, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode progress: %w", err)
	}
	return raw, nil
}

// DecodeProgress reads the output of EncodeProgress. Empty input is progress that has not started. The result is valid
// for Next whatever raw holds. On an error it is empty, and the current step begins again; nobody is paged twice,
// because a message exists once per decision.
func DecodeProgress(raw json.RawMessage) (Progress, error) {
	if len(raw) == 0 {
		return Progress{}, nil
	}
	var p Progress
	if err := json.Unmarshal(raw, &p); err != nil {
		return Progress{}, fmt.Errorf("decode progress: %w", err)
	}
	for i := range p.Notifications {
		p.Notifications[i].Made = min(max(p.Notifications[i].Made, 0), MaxRepeat+1)
	}
	return p, nil
}

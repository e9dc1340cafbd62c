package heartbeats

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Signal is what a program says by a call.
type Signal string

// The signals. Success is a ping.
const (
	Success Signal = "success"
	Start   Signal = "start" // a run begins
	Fail    Signal = "fail"
	Log     Signal = "log" // only a text
)

// MaxText is how many bytes of a text are kept, MaxRuns how many runs of a heartbeat. A start beyond MaxRuns runs at
// once removes the oldest of them. MaxRunName is the longest name of a run, in bytes.
const (
	MaxText    = 10_000
	MaxRuns    = 30
	MaxRunName = 100
)

// Ping is a call with the token of an integration, which must have the type.
type Ping struct {
	Token, Type, Name string

	Signal   Signal
	ExitCode *int // nil = the program did not say it
	Run      string
	Text     string
}

// Plain reports whether a call is a ping without anything else.
func (p Ping) Plain() bool { return p.Signal == Success && p.Run == "" && p.Text == "" }

// Failure says why a call of Fail opens an incident.
func (p Ping) Failure() string {
	if p.ExitCode != nil {
		return fmt.Sprintf("the program ended with exit code %d", *p.ExitCode)
	}
	return "the program said that it failed"
}

// As returns the call with the signal of a word of its address: start, fail, log, or an exit code from 0 to 255. It
// reports false for any other word.
func (p Ping) As(word string) (Ping, bool) {
	switch Signal(word) {
	case Start, Fail, Log:
		p.Signal = Signal(word)
		return p, true
	}
	code, err := strconv.ParseUint(word, 10, 8)
	if err != nil {
		return p, false
	}
	exit := int(code)
	p.Signal, p.ExitCode = Fail, &exit
	if exit == 0 {
		p.Signal = Success
	}
	return p, true
}

// Cut returns the beginning of a text, in whole characters.
func Cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// Text is what a program sent with a call.
type Text struct {
	At     time.Time // zero = there is none
	Signal Signal
	Body   string
}

// Outcome is what became of a run.
type Outcome string

// The outcomes.
const (
	Running   Outcome = "running"
	Succeeded Outcome = "succeeded"
	Failed    Outcome = "failed"
	Lost      Outcome = "lost" // it has not ended in time, or the next run of that name began before it ended
)

// Run is the time from a start to its end.
type Run struct {
	Name      string // ?rid=; "" = none
	StartedAt time.Time
	EndedAt   time.Time // zero = it has not ended
	Outcome   Outcome
	ExitCode  *int // nil = unknown
}

// Overdue returns until when runs began that have not ended in time, if one has not at r.
func (h Heartbeat) Overdue(r Reception) time.Time { return r.LastAt.Add(-h.Every - h.Grace) }

// Missing returns the heartbeat with the reason for a miss: a run that has not ended, if that began before the last
// ping.
func (h Heartbeat) Missing(r Reception) Heartbeat {
	h.Failure = ""
	if !h.StartedAt.IsZero() && !h.StartedAt.After(h.Overdue(r)) && (h.LastPingAt.IsZero() || h.StartedAt.Before(h.LastPingAt)) {
		h.Failure = fmt.Sprintf("the run that began at %s has not ended", moment(h.StartedAt))
	}
	return h
}

// waitsSince returns from when the heartbeat waits for a ping: its last one, or the start of an older run. Zero = it
// waits for none.
func (h Heartbeat) waitsSince() time.Time {
	from := slices.DeleteFunc([]time.Time{h.LastPingAt, h.StartedAt}, time.Time.IsZero)
	if len(from) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(from, time.Time.Compare)
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

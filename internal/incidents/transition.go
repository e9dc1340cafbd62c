package incidents

import (
	"cmp"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// State is what an incident waits for. Only an escalating incident pages people.
type State string

// The states. All except StateResolved and StateClosed are open.
const (
	StateEscalating   State = "escalating"
	StateExhausted    State = "exhausted"    // the plan has ended and nobody acknowledged; pages that were begun are still sent
	StateAcknowledged State = "acknowledged" // by a person, or by the source
	StateSnoozed      State = "snoozed"      // escalation starts again at a given instant
	StateSilenced     State = "silenced"     // a silence matches; escalation starts when the silence ends
	StateMerged       State = "merged"       // another incident stands for it
	StateResolved     State = "resolved"
	StateClosed       State = "closed" // there was no news for so long that nobody waits for a resolve
)

// States are all states.
var States = []State{StateEscalating, StateExhausted, StateAcknowledged, StateSnoozed, StateSilenced, StateMerged,
	StateResolved, StateClosed}

// Status is the stored condition of an incident, from which its state follows. Active excludes all other fields.
type Status struct {
	Active   bool // escalating
	Owned    bool // a person or the source acknowledged it
	Snoozed  bool
	Silenced bool
	Merged   bool
	Resolved bool
	Closed   bool
}

// State returns the state. A silence, merge or owner remains stored below a state that comes first.
func (s Status) State() State {
	switch {
	case s.Resolved:
		return StateResolved
	case s.Closed:
		return StateClosed
	case s.Merged:
		return StateMerged
	case s.Active:
		return StateEscalating
	case s.Snoozed:
		return StateSnoozed
	case s.Owned:
		return StateAcknowledged
	case s.Silenced:
		return StateSilenced
	}
	return StateExhausted
}

// Event is something that may change the state of an incident.
type Event string

// The events. A person, a program, a source or the clock causes them.
const (
	Acknowledge             Event = "acknowledge"
	AcknowledgeAtSource     Event = "acknowledge at source"
	AcknowledgementTimedOut Event = "acknowledgement timed out" // it was not resolved in time
	Reopen                  Event = "reopen"                    // the acknowledgement is taken back, or escalation starts again
	Reassign                Event = "reassign"                  // another person becomes the owner
	PageAlso                Event = "page also"                 // somebody adds people to page
	Escalate                Event = "escalate"                  // the next step begins now
	Restart                 Event = "restart"                   // the plan begins again
	Stop                    Event = "stop"                      // a client ends escalation without an owner
	PlanExhausted           Event = "plan exhausted"
	News                    Event = "news"          // a new alert, or a repeated one after the plan's pause
	LateDelivery            Event = "late delivery" // a firing delivery after the resolve, without a further resolve
	Snooze                  Event = "snooze"
	SnoozeEnded             Event = "snooze ended"
	SilenceBegan            Event = "silence began"
	SilenceEnded            Event = "silence ended"          // the source still reports the incident
	SilenceLapsed           Event = "silence ended, no news" // the source no longer reports the incident
	Merge                   Event = "merge"
	Unmerge                 Event = "unmerge"
	Resolve                 Event = "resolve"
	UndoResolve             Event = "undo resolve"
	Close                   Event = "close"
)

// Events are all events.
var Events = []Event{Acknowledge, AcknowledgeAtSource, AcknowledgementTimedOut, Reopen, Reassign, PageAlso, Escalate,
	Restart, Stop, PlanExhausted,
	News, LateDelivery, Snooze, SnoozeEnded, SilenceBegan, SilenceEnded, SilenceLapsed, Merge, Unmerge, Resolve, UndoResolve, Close}

// row has the state to which an event leads from each of States; "" = the state refuses the event. A state that leads
// to itself is unchanged, but its owner, snooze or silence may change.
type row [8]State

// Short names for the table.
const (
	escalating   = StateEscalating
	exhausted    = StateExhausted
	acknowledged = StateAcknowledged
	snoozed      = StateSnoozed
	silenced     = StateSilenced
	merged       = StateMerged
	resolved     = StateResolved
	closed       = StateClosed
)

// transitions is the table of all changes.
var transitions = map[Event]row{
	//                       escalating, exhausted, acknowledged, snoozed, silenced, merged, resolved, closed
	Acknowledge: {acknowledged, acknowledged, acknowledged, acknowledged, acknowledged, merged, resolved,
		closed},
	AcknowledgeAtSource: {acknowledged, acknowledged, acknowledged, snoozed, acknowledged, merged, resolved,
		closed},
	AcknowledgementTimedOut: {"", "", escalating, "", "", "", "", ""},
	Reopen:                  {escalating, escalating, escalating, escalating, silenced, merged, resolved, escalating},
	Reassign:                {"", "", acknowledged, "", "", "", "", ""},
	PageAlso:                {escalating, exhausted, acknowledged, "", "", "", "", ""},
	Escalate:                {escalating, escalating, escalating, escalating, "", "", "", ""},
	Restart:                 {escalating, escalating, escalating, escalating, "", "", "", ""},
	Stop:                    {exhausted, exhausted, acknowledged, snoozed, silenced, merged, resolved, closed},
	PlanExhausted:           {exhausted, "", "", "", "", "", "", ""},
	News:                    {escalating, escalating, acknowledged, snoozed, silenced, merged, "", ""},
	LateDelivery:            {escalating, escalating, acknowledged, snoozed, silenced, merged, escalating, closed},
	Snooze:                  {snoozed, snoozed, snoozed, snoozed, "", "", "", ""},
	SnoozeEnded:             {"", "", "", escalating, "", "", "", ""},
	SilenceBegan:            {silenced, silenced, acknowledged, snoozed, silenced, merged, resolved, closed},
	SilenceEnded:            {escalating, exhausted, acknowledged, snoozed, escalating, merged, resolved, closed},
	SilenceLapsed:           {escalating, exhausted, acknowledged, snoozed, exhausted, merged, resolved, closed},
	Merge:                   {merged, merged, merged, merged, merged, "", "", ""},
	Unmerge:                 {"", "", "", "", "", escalating, "", ""},
	Resolve:                 {resolved, resolved, resolved, resolved, resolved, resolved, resolved, resolved},
	UndoResolve:             {escalating, exhausted, acknowledged, snoozed, silenced, merged, exhausted, closed},
	Close:                   {closed, closed, closed, "", closed, closed, "", closed},
}

// kinds are the kinds of the timeline entries of events; EntryReopened if there is none.
var kinds = map[Event]EntryKind{
	Acknowledge: EntryAcknowledged, AcknowledgeAtSource: EntryAcknowledged, Reassign: EntryAcknowledged, PageAlso: EntryOperator, Escalate: EntryOperator,
	Stop: EntryOperator, PlanExhausted: EntryExhausted, Snooze: EntrySnoozed, SilenceBegan: EntrySilenced, SilenceLapsed: EntrySilenced,
	Merge: EntryMerged, Resolve: EntryResolved, Close: EntryClosed,
}

// refusals are the texts of open states in which an event means nothing. The texts of other refusals depend on the
// state.
var refusals = map[Event]string{
	AcknowledgementTimedOut: "the incident is not acknowledged",
	Reassign:                "nobody has acknowledged the incident: acknowledge it first",
	PlanExhausted:           "the incident does not escalate",
	SnoozeEnded:             "the incident is not snoozed",
	Unmerge:                 "the incident is not merged into another one",
}

// Transition is what an event does to an incident.
type Transition struct {
	Before, After Status
	Kind          EntryKind // of the timeline entry
}

// Changes reports whether the status differs. A new owner or another end of a snooze does not count.
func (t Transition) Changes() bool { return t.Before != t.After }

// Starts reports whether escalation starts again: the reopen count increases.
func (t Transition) Starts() bool { return t.After.Active && !t.Before.Active }

// Due reports whether the processors must act at once: they start escalation, or cancel pages.
func (t Transition) Due() bool {
	before, after := t.Before.State(), t.After.State()
	return after == escalating || before != after && (before == escalating || before == exhausted)
}

// After returns what an event does in a status, or a Conflict fault that says what to do first. It is pure.
//
// An event that would start escalation leads to StateSilenced while a silence matches. An incident that loses its
// resolve has the state that its owner, merge or silence gives it, and does not escalate.
func (s Status) After(e Event) (Transition, error) {
	from := s.State()
	target := transitions[e][slices.Index(States, from)]
	after := s
	switch e {
	case Acknowledge:
		after.Owned = true
	case AcknowledgeAtSource:
		after.Owned = s.Owned || target == acknowledged
	case Reopen:
		after.Owned = false
	case PageAlso, Escalate, Restart: // somebody asks for pages now: a silence refuses that
		if s.Silenced {
			target = ""
		}
	case SilenceBegan:
		after.Silenced = true
	case SilenceEnded, SilenceLapsed:
		after.Silenced = false
	case Unmerge:
		after.Merged = false
		if target != "" && s.Owned {
			target = acknowledged
		}
	}
	if target == "" {
		return Transition{}, s.refusal(e)
	}
	if target != from {
		after = after.enter(target)
	}
	return Transition{Before: s, After: after, Kind: cmp.Or(kinds[e], EntryReopened)}, nil
}

// enter returns the status after a change to another state.
func (s Status) enter(target State) Status {
	s.Active, s.Snoozed, s.Closed, s.Resolved = false, false, false, false
	switch target {
	case escalating:
		s.Owned, s.Merged = false, false
		s.Active = !s.Silenced
	case snoozed:
		s.Snoozed = true
	case merged:
		s.Merged = true
	case resolved:
		s.Resolved = true
	case closed:
		s.Closed = true
	}
	return s
}

// refusal returns the Conflict fault of an event that the status does not allow. Its text says what to do first.
func (s Status) refusal(e Event) error {
	text := "the incident is " + string(s.State()) + ": end that first"
	switch {
	case s.Resolved, s.Closed:
		text = "the incident is " + string(s.State()) + ": reopen it first"
	case s.Merged:
		text = "the incident is merged into another one: change that one, or undo the merge first"
	case refusals[e] != "":
		text = refusals[e]
	case s.Silenced:
		text = "the incident is silenced: end the silence first"
	}
	return fault.New(fault.Conflict, text)
}

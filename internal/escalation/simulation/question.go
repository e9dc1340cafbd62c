package simulation

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
)

// Names resolves names that people typed. A name that does not exist is a NotFound or Invalid fault.
type Names interface {
	// PlanNumber takes a number (any version) or a name (its active version).
	PlanNumber(ctx context.Context, nameOrNumber string) (escalation.PlanID, error)
	ApplicationNumber(ctx context.Context, name string) (int64, error)
	// TargetNumber returns the public number of the active target that a role and a name mean.
	TargetNumber(ctx context.Context, role, name string) (int64, error)
}

// Clock reads the time by which pages are decided: the database's.
type Clock interface {
	Clock(ctx context.Context) (time.Time, error)
}

// TypedQuestion is a question as people type it: in an address, on a command line or in a form.
type TypedQuestion struct {
	Plan        string
	Draft       *escalation.Plan // simulated instead of Plan; nil = none
	Application string           // "" = none
	At          string           // see oncall.ParseInstant; "" = now
	Assume      string           // no-ack or ack-after=DURATION; "" = no-ack
	// Targets are the targets that the incident names, "role:name", by dynamic index.
	Targets []string
	// Zone is the time zone of clock times in At.
	Zone *time.Location
}

// maxTargets bounds the number of targets in a question.
const maxTargets = 100

// Ask parses a question and simulates it.
func (s *Simulator) Ask(ctx context.Context, a TypedQuestion) (Simulation, error) {
	now, err := s.deps.Clock.Clock(ctx)
	if err != nil {
		return Simulation{}, err
	}
	q, err := s.read(ctx, a, now)
	if err != nil {
		return Simulation{}, err
	}
	return s.Simulate(ctx, q)
}

func (s *Simulator) read(ctx context.Context, a TypedQuestion, now time.Time) (Question, error) {
	q := Question{Dynamic: map[int]escalation.Target{}}
	var err error
	if q.At, err = oncall.ParseInstant(a.At, a.Zone, now); err != nil {
		return q, err
	}
	if q.AcknowledgedAfter, err = assumption(a.Assume); err != nil {
		return q, err
	}
	if q.Draft = a.Draft; q.Draft == nil {
		if q.Plan, err = s.deps.Names.PlanNumber(ctx, a.Plan); err != nil {
			return q, err
		}
	}
	if name := strings.TrimSpace(a.Application); name != "" {
		if q.Application, err = s.deps.Names.ApplicationNumber(ctx, name); err != nil {
			return q, err
		}
	}
	if len(a.Targets) > maxTargets {
		return q, fault.Invalidf("target", "there are %d targets; an incident brings at most %d", len(a.Targets),
			maxTargets)
	}
	for i, text := range a.Targets {
		role, name, ok := strings.Cut(strings.TrimSpace(text), ":")
		if !ok || role == "" || name == "" {
			return q, fault.Invalidf("target",
				"%.100q is no target: say its role and its name, such as user:ann or oncall-primary:db", text)
		}
		t := escalation.Target{Role: strings.ToLower(role), Name: name}
		if t.TargetID, err = s.deps.Names.TargetNumber(ctx, role, name); err != nil {
			return q, err
		}
		q.Dynamic[i] = t
	}
	return q, nil
}

// assumption parses the assumption about an acknowledgement: the time after which somebody acknowledges; 0 = nobody
// does.
func assumption(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || text == "no-ack" {
		return 0, nil
	}
	if after, ok := strings.CutPrefix(text, "ack-after="); ok {
		if d, err := time.ParseDuration(after); err == nil && d > 0 {
			return d, nil
		}
	}
	return 0, fault.Invalidf("assume", "%.60q cannot be assumed: say no-ack, or ack-after= and a duration such as 5m",
		text)
}

package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// maxSimulated is how many pages a simulation predicts. Then it ends with EndCut.
const maxSimulated = 1000

// maxDecisions bounds how often a simulation decides.
const maxDecisions = 10 * maxSimulated

// simulatedKeep is how long a simulation caches what it read: longer than it can take.
const simulatedKeep = time.Hour

// Rules reads people's rules of reprioritisation, by user and application. The answer leaves out people without rules.
type Rules interface {
	Rules(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey][]messages.Reprioritisation, error)
	// Quiet returns the quiet-time limits of a person at an instant; false if there are none.
	Quiet(ctx context.Context, id users.ID, at time.Time) (floods.QuietLimits, bool, error)
	// DefaultModes returns the modes of priorities in this installation.
	DefaultModes(ctx context.Context) (map[users.Priority]users.Mode, error)
}

// Vendors reads the modes that the processors have a vendor for.
type Vendors interface {
	// Served returns known = false if no processor runs, or one does not report its modes.
	Served(ctx context.Context) (modes []users.Mode, known bool, err error)
}

// Populated reads how far calendars are populated.
type Populated interface {
	// NotPopulated reports whether a schedule of an on-call role of the team covers the instant and is not populated to
	// it.
	NotPopulated(ctx context.Context, team escalation.Target, role string, at time.Time) (bool, error)
}

// Waiting reads incidents that wait for their next step.
type Waiting interface {
	// Ahead returns incidents as they would be decided now. Incidents that do not exist are left out.
	Ahead(ctx context.Context, ids []incidents.ID) ([]escalation.Due, error)
}

// SimulatorDeps are the simulator's collaborators. All are required but Vendors and Populated, whose checks are then
// skipped, and Waiting, which only Next needs.
type SimulatorDeps struct {
	Reader  escalation.Reader
	Rules   Rules
	Names   Names
	Clock   Clock
	Vendors Vendors
	Waiting Waiting
	// Populated returns a reader of how far calendars are populated, for one simulation.
	Populated func() Populated
	// Resolver returns a resolver for one simulation. It may cache what it reads as long as it is used, so that a
	// simulation sees one state. It must be able to answer for any instant.
	Resolver func() *oncall.Resolver
}

// Simulator predicts what the engine would do with an incident. It decides with the engine's own code and resolver, at
// future instants. It writes and sends nothing. It is safe for concurrent use.
type Simulator struct{ deps SimulatorDeps }

// NewSimulator returns a simulator.
func NewSimulator(d SimulatorDeps) (*Simulator, error) {
	if d.Reader == nil || d.Rules == nil || d.Names == nil || d.Clock == nil || d.Resolver == nil {
		return nil, errors.New("simulator: reader, rules, names, clock and resolver are required")
	}
	return &Simulator{deps: d}, nil
}

// Question is the input of a simulation.
type Question struct {
	Plan escalation.PlanID
	// Draft is a plan that is not stored. It is simulated instead of Plan; nil = none.
	Draft *escalation.Plan
	// Application opens the incident; 0 = an application that may use every mode and sets nothing for its people.
	Application int64
	// Dynamic are the targets that the incident names, by dynamic index.
	Dynamic map[int]escalation.Target
	// At is when the incident is opened.
	At time.Time
	// AcknowledgedAfter is how long after At somebody acknowledges; 0 = nobody does.
	AcknowledgedAfter time.Duration
}

// End says why a simulation ended.
type End string

// The reasons why a simulation ends.
const (
	EndExhausted    End = "exhausted"
	EndAcknowledged End = "acknowledged"
	EndCut          End = "cut" // a limit was reached before the plan ended
)

// Simulation is what would happen to an incident if every vendor accepted every page at once and nothing else happened.
type Simulation struct {
	Question    Question
	Plan        escalation.Plan
	Application escalation.Application
	Pages       []SimulatedPage
	// Timeline is the incident's timeline as it would be.
	Timeline []incidents.Entry
	End      End
	EndedAt  time.Time
	// Notes say what the simulation assumes, and what is unusual about the plan.
	Notes []string
}

// SimulatedPage is one message that would be made.
type SimulatedPage struct {
	messages.New
	// At is when the page is sent. It is At of the decision, and later for a follow-up.
	At time.Time
	// Wanted is the mode that the person prefers; Mode is the mode that is used.
	Wanted users.Mode
	// Rule says why this person is paged, ModeRule why in this mode.
	Rule     string
	ModeRule string
	// HeldUntil is when the digest that holds the page is sent; zero = the page is sent at once.
	HeldUntil time.Time
}

// anyApplication is used if the question names no application.
func anyApplication(priorities map[users.Priority]users.Mode) escalation.Application {
	app := escalation.Application{Name: "any application", Modes: users.AppModes{Supported: map[users.Mode]bool{},
		Priorities: priorities}}
	for _, m := range users.Modes {
		app.Modes.Supported[m] = true
	}
	return app
}

// Simulate answers q. A plan or application that does not exist is a NotFound fault.
func (s *Simulator) Simulate(ctx context.Context, q Question) (Simulation, error) {
	run, err := s.prepare(ctx, q)
	if err != nil {
		return Simulation{}, err
	}
	if err := run.run(ctx); err != nil {
		return Simulation{}, err
	}
	slices.SortStableFunc(run.Pages, func(a, b SimulatedPage) int { return a.At.Compare(b.At) })
	run.addNotes()
	return run.Simulation, nil
}

// prepare reads what the simulation of q needs.
func (s *Simulator) prepare(ctx context.Context, q Question) (*simulation, error) {
	priorities, err := s.deps.Rules.DefaultModes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the default modes: %w", err)
	}
	run := &simulation{
		limits: s.deps.Rules, rules: oncall.NewRecent(simulatedKeep, s.deps.Rules.Rules),
		Simulation: Simulation{Question: q, Application: anyApplication(priorities)},
	}
	run.begin()
	if err := s.load(ctx, run); err != nil {
		return nil, err
	}
	if err := s.vendors(ctx, run); err != nil {
		return nil, err
	}
	if s.deps.Populated != nil {
		run.populated = s.deps.Populated()
	}
	run.responders = oncall.NewRecent(simulatedKeep, s.deps.Reader.Responders)
	run.decider = escalation.NewDecider(s.deps.Resolver(), run.responders, func(incidents.ID) bool { return false })
	return run, nil
}

// begin makes the memory of one incident.
func (s *simulation) begin() {
	s.floods, s.days = map[escalation.AggregationKey]*floods.Flood{}, map[users.ID]*floods.DayCount{}
	s.counts, s.latest = map[users.ID]map[users.Mode]*messages.Window{}, map[int]escalation.RoundFact{}
	s.beyond = map[string]bool{}
}

// load reads the plan and the application of the question.
func (s *Simulator) load(ctx context.Context, run *simulation) error {
	q := run.Question
	var ok bool
	if q.Draft != nil {
		run.Plan = *q.Draft
	} else {
		plans, err := s.deps.Reader.Plans(ctx, []escalation.PlanID{q.Plan})
		if err != nil {
			return fmt.Errorf("read the plan: %w", err)
		}
		if run.Plan, ok = plans[q.Plan]; !ok {
			return fault.New(fault.NotFound, "no such plan")
		}
	}
	if q.Application == 0 {
		return nil
	}
	apps, err := s.deps.Reader.Applications(ctx, []int64{q.Application})
	if err != nil {
		return fmt.Errorf("read the application: %w", err)
	}
	if run.Application, ok = apps[q.Application]; !ok {
		return fault.New(fault.NotFound, "no such application")
	}
	return nil
}

// vendors removes modes without a vendor from the application's modes, as delivery does.
func (s *Simulator) vendors(ctx context.Context, run *simulation) error {
	if s.deps.Vendors == nil {
		return nil
	}
	served, known, err := s.deps.Vendors.Served(ctx)
	if err != nil {
		return fmt.Errorf("read the modes that processors have a vendor for: %w", err)
	}
	if !known {
		run.say("It is not known which modes have a vendor: no processor runs, or one is of an earlier release. The simulation takes every mode as served.")
		return nil
	}
	run.Application.Modes.Unserved = map[users.Mode]bool{}
	for _, m := range users.Modes {
		if m != users.Drop && !slices.Contains(served, m) {
			run.Application.Modes.Unserved[m] = true
		}
	}
	return nil
}

func (s *simulation) say(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// addNotes adds the notes about what the simulation assumes.
func (s *simulation) addNotes() {
	say := s.say
	if s.Question.Application == 0 {
		say("No application is named: the simulation takes one that may use every mode and sets nothing for its people.")
	}
	if !s.Plan.Active {
		say("Version %d of plan %s is not the active one; new incidents use another, or none.", s.Plan.ID, s.Plan.Name)
	}
	if s.Plan.Paused {
		say("Plan %s is paused now: nobody is paged until it goes on. The simulation takes it as going on.",
			s.Plan.Name)
	}
	if _, ok := s.Plan.Aggregation(); ok {
		say("Pages of other incidents may be held together with these; the simulation knows of this incident only.")
	}
	if s.quiet {
		say("Calls and texts that people got today because of other incidents are not counted: more pages may be held.")
	}
	if slices.ContainsFunc(s.Plan.Steps, func(step escalation.Step) bool {
		return slices.ContainsFunc(step.Notifications, func(n escalation.Notification) bool {
			t, ok := n.TargetIn(s.Question.Dynamic)
			return ok && t.Role == oncall.RoleRoundRobin
		})
	}) {
		say("Whose turn it is in a round-robin team depends on the number of the incident. The simulation takes the first member first.")
	}
	if ns := s.resolved(); len(ns) > 0 {
		say("A resolve after all these pages notifies %s.", escalation.Names(ns))
	}
	if s.End == EndCut {
		say("The plan goes on for longer than is foreseen: cut after %s.",
			humanize.Count(len(s.Pages), "page", "pages"))
	}
}

// resolved returns the notices of a resolve after all pages.
func (s *simulation) resolved() []escalation.Notice {
	var past []escalation.PastMessage
	for _, p := range s.Pages {
		if p.HeldUntil.IsZero() {
			past = append(past, escalation.PastMessage{Recipient: p.Recipient, Target: p.Target, Mode: p.Mode,
				Purpose: p.Purpose, State: messages.Sent, At: p.At})
		}
	}
	return escalation.Resolved(past, s.Plan.Settings, "")
}

package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// simulation runs one incident: it decides, treats the messages as sent at once, and decides again when the engine
// would.
type simulation struct {
	Simulation
	decider    *escalation.Decider
	responders *oncall.Recent[users.ResponderKey, users.Responder]
	rules      *oncall.Recent[users.ResponderKey, []messages.Reprioritisation]

	populated Populated       // nil = whether calendars are populated is not checked
	beyond    map[string]bool // on-call roles of teams that have a note already
	floods    map[escalation.AggregationKey]*floods.Flood
	counts    map[users.ID]map[users.Mode]*messages.Window
	limits    Rules
	quiet     bool                          // a quiet-time limit held a page
	days      map[users.ID]*floods.DayCount // calls and texts of this simulation
	latest    map[int]escalation.RoundFact  // of the current step, by position: the last round that made messages
}

// lastYear is the last year whose instants JSON can hold. Plans may wait for decades between pages.
const lastYear = 9999

// run simulates the incident until its plan ends, somebody acknowledges, or a limit is reached.
func (s *simulation) run(ctx context.Context) error {
	at := s.Question.At
	due := escalation.Due{
		PlanID: s.Plan.ID, ApplicationID: s.Application.ID, CreatedAt: at, DueAt: at, ReadAt: at, Active: true, Dynamic: s.Question.Dynamic,
	}
	f := s.facts()
	for range maxDecisions {
		if err := ctx.Err(); err != nil {
			return tooSlow(err)
		}
		if end := s.Question.AcknowledgedAfter; end > 0 && !due.ReadAt.Before(at.Add(end)) {
			s.acknowledged(at.Add(end))
			return nil
		}
		w, err := s.decider.Decide(ctx, due, f)
		if err != nil {
			return tooSlow(fmt.Errorf("simulate: %w", err))
		}
		if err := s.noteUnpopulated(ctx, due.Progress, w); err != nil {
			return tooSlow(err)
		}
		next, err := s.carryOut(ctx, w)
		if err != nil {
			return err
		}
		s.EndedAt = due.ReadAt
		if !w.Active {
			s.End = EndExhausted
			return nil
		}
		if len(s.Pages) >= maxSimulated || next.Year() > lastYear {
			break
		}
		if due.Progress, err = s.stored(w.Progress); err != nil {
			return err
		}
		due.DueAt, due.ReadAt = next, next
	}
	s.End = EndCut
	return nil
}

// facts returns the plan and application for decisions.
func (s *simulation) facts() escalation.Facts {
	return escalation.Facts{Plans: map[escalation.PlanID]escalation.Plan{s.Plan.ID: s.Plan},
		Applications: map[int64]escalation.Application{s.Application.ID: s.Application}}
}

// onCallRole is the prefix of target roles that calendars resolve.
const onCallRole = "oncall-"

// noteUnpopulated adds a note if a calendar is not populated to the instant of a decision, once for each role of a
// team.
func (s *simulation) noteUnpopulated(ctx context.Context, before escalation.Progress, w escalation.ExplainedChange) error {
	if s.populated == nil {
		return nil
	}
	var asked []*escalation.Target
	plan := s.Plan.AllRounds(s.Application)
	for step := max(before.Step, 1); step <= min(w.Progress.Step, len(plan.Steps)); step++ {
		for i, n := range plan.Steps[step-1].Notifications {
			again := step == before.Step && step == w.Progress.Step && i < len(w.Progress.Notifications) &&
				w.Progress.Notifications[i].At.Equal(w.At)
			if t, ok := n.TargetIn(s.Question.Dynamic); ok && (step > before.Step || again) {
				asked = append(asked, &t)
			}
		}
	}
	if slices.ContainsFunc(w.Messages, func(m messages.New) bool { return m.Purpose == messages.Fallback }) {
		asked = append(asked, s.Plan.Fallback, s.Application.Fallback)
	}
	for _, t := range asked {
		if t == nil || s.beyond[t.String()] {
			continue
		}
		role, onCall := strings.CutPrefix(t.Role, onCallRole)
		if t.Role == oncall.RoleNextOnCall {
			role, onCall = oncall.RolePrimary, true
		}
		if !onCall {
			continue
		}
		missing, err := s.populated.NotPopulated(ctx, *t, role, w.At)
		if err != nil {
			return fmt.Errorf("read how far the calendar of %s reaches: %w", t.Name, err)
		}
		if missing {
			s.beyond[t.String()] = true
			s.say("The calendar of team %s has no shifts for the role %s at %s yet: its schedule is not populated so far. Who is paged then can still change.",
				t.Name, role, w.At.UTC().Format(time.DateTime+" UTC"))
		}
	}
	return nil
}

// tooSlow makes a timeout an Unavailable fault: a retry may help.
func tooSlow(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Unavailable, err, "the simulation took too long, try again")
	}
	return err
}

// acknowledged ends the simulation because somebody acknowledges. Follow-ups whose time has not come are not sent.
func (s *simulation) acknowledged(at time.Time) {
	s.End, s.EndedAt = EndAcknowledged, at
	s.Pages = slices.DeleteFunc(s.Pages, func(p SimulatedPage) bool { return p.After > 0 && !p.At.Before(at) })
	s.Timeline = append(s.Timeline, incidents.Entry{At: at, Kind: incidents.EntryAcknowledged,
		Text: "somebody acknowledges: nobody is paged any more"})
}

// stored returns the progress as the engine would read it when it decides the incident again: every message is sent.
func (s *simulation) stored(p escalation.Progress) (escalation.Progress, error) {
	raw, err := escalation.EncodeProgress(p)
	if err != nil {
		return escalation.Progress{}, err
	}
	read, err := escalation.DecodeProgress(raw)
	if err != nil {
		return escalation.Progress{}, err
	}
	read.Step, read.StepAt = p.Step, p.StepAt
	facts := make([]escalation.RoundFact, 0, len(s.latest))
	for _, f := range s.latest {
		facts = append(facts, f)
	}
	escalation.Observe(&read, facts)
	return read, nil
}

// carryOut records the messages and lines of a decision. It returns when the incident is decided again: a sent message
// makes the incident due at the end of its wait.
func (s *simulation) carryOut(ctx context.Context, w escalation.ExplainedChange) (time.Time, error) {
	next := w.DueAt
	var err error
	var held, ruled []incidents.Entry
	heldPages := map[escalation.PageKey]bool{}
	for position, f := range s.latest {
		if f.Step != w.Progress.Step {
			delete(s.latest, position)
		}
	}
	for i, m := range w.Messages {
		if s.Application.Modes.Unserved[m.Mode] { // the tracking message; a person has another mode, or somebody else is paged
			w.Entries = append(w.Entries, escalation.Entryf(w.At, incidents.EntryDelivery,
				"%s cannot be notified: no processor has a vendor for %s", m.Target, m.Mode))
			continue
		}
		p := SimulatedPage{New: m, At: w.At, Wanted: w.Reasons[i].Wanted, Rule: w.Reasons[i].Rule,
			ModeRule: w.Reasons[i].ModeRule}
		followUp := m.Purpose.Kind() == messages.FollowUp
		if followUp && heldPages[escalation.PageOf(m)] {
			continue // the page is in a digest
		}
		var why string // of a quiet-time limit
		if s.hold(w.Aggregation, &p) {
			heldPages[escalation.PageOf(m)] = true
			held = append(held, escalation.HeldEntry(m.Target, *w.Aggregation, w.At))
		} else if why, err = s.holdQuiet(ctx, &p); err != nil {
			return next, err
		} else if why != "" {
			held = append(held, floods.QuietEntry(m, why, p.HeldUntil, w.At))
			if followUp {
				continue // it is left out
			}
			heldPages[escalation.PageOf(m)] = true
		} else if p.Mode != users.Drop {
			changed, err := s.reprioritise(ctx, &p)
			if err != nil {
				return next, err
			}
			if changed {
				ruled = append(ruled, escalation.RuledEntry(m.Target, p.Mode, m.Mode, w.At))
			}
		}
		p.At = w.At.Add(m.After)
		s.Pages = append(s.Pages, p)
		if followUp {
			continue // it does not delay its step
		}
		if m.Step == w.Progress.Step && m.Step > 0 {
			s.latest[m.Position] = escalation.RoundFact{Step: m.Step, Position: m.Position, Repeat: m.Repeat,
				SettledAt: w.At}
		}
		if end := w.At.Add(m.Wait); end.Before(next) {
			next = end
		}
	}
	for _, entries := range [][]incidents.Entry{w.Entries, held, ruled} {
		s.Timeline = append(s.Timeline, entries...)
	}
	return next, nil
}

// hold reports whether the page is held for a digest, and until when.
func (s *simulation) hold(a *escalation.Aggregation, p *SimulatedPage) bool {
	k, ok := floods.Of(p.New)
	if a == nil || !ok {
		return false
	}
	f := s.floods[k]
	if f == nil {
		f = &floods.Flood{}
		s.floods[k] = f
	}
	if !f.Release.IsZero() && !p.At.Before(f.Release) {
		f.Release = time.Time{} // the held pages have been sent
	}
	if !f.Hold(*a, p.At) {
		return false
	}
	if f.Release.IsZero() {
		f.Release = p.At.Add(a.Every)
	}
	p.Held, p.HeldUntil = p.At, f.Release
	return true
}

// holdQuiet returns why a quiet-time limit holds the page; "" if it is sent.
func (s *simulation) holdQuiet(ctx context.Context, p *SimulatedPage) (string, error) {
	user, ok := p.Recipient.User()
	if !ok {
		return "", nil
	}
	q, ok, err := s.limits.Quiet(ctx, user, p.At)
	if err != nil || !ok {
		return "", err
	}
	if s.days[user] == nil {
		s.days[user] = &floods.DayCount{}
	}
	until, why := q.Hold(p.New, s.days[user], p.At)
	if !until.IsZero() {
		p.Held, p.HeldUntil = p.At, until
		s.quiet = true
	}
	return why, nil
}

// reprioritise applies the recipient's own rules. It reports whether they changed the mode.
func (s *simulation) reprioritise(ctx context.Context, p *SimulatedPage) (bool, error) {
	user, ok := p.Recipient.User()
	if !ok {
		return false, nil
	}
	rules, err := s.rulesOf(ctx, user)
	if err != nil {
		return false, err
	}
	if s.counts[user] == nil {
		s.counts[user] = map[users.Mode]*messages.Window{}
	}
	wanted := p.Mode
	for i := range rules {
		if s.Application.Modes.Unserved[rules[i].To] {
			rules = slices.Clone(rules)
			rules[i].Usable = false
		}
	}
	p.Mode = messages.Reprioritise(wanted, rules, s.counts[user], p.At)
	if p.Mode != wanted {
		p.ModeRule = "own rule, because there are too many by " + string(wanted)
	}
	return p.Mode != wanted, nil
}

// rulesOf returns a person's rules. Without an application, the person's contacts decide which modes may be used.
func (s *simulation) rulesOf(ctx context.Context, user users.ID) ([]messages.Reprioritisation, error) {
	key := users.ResponderKey{User: user, Application: s.Application.ID}
	found, err := s.rules.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	rules := found[key]
	if s.Application.ID != 0 || len(rules) == 0 {
		return rules, nil
	}
	people, err := s.responders.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read contacts: %w", err)
	}
	rules = slices.Clone(rules)
	for i, r := range rules {
		rules[i].Usable = r.To == users.Drop || users.CanUse(people[key], s.Application.Modes, r.To)
	}
	return rules, nil
}

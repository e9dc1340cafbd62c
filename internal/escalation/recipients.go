package escalation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// MaxLookups is how often a failing look-up (a calendar that does not answer) is tried before the fallback is
	// paged.
	MaxLookups = 3
	// lookupTimeout is how long a look-up may take. After three timeouts within timeoutWindow it is shortTimeout, so
	// that a calendar that hangs does not delay other incidents.
	lookupTimeout = time.Second
	shortTimeout  = 20 * time.Millisecond
	timeoutWindow = 10 * time.Second
)

// page is one person to page in one round.
type page struct {
	round     Round
	responder users.Responder
	choice    users.Choice
	priority  users.Priority
	rule      string // why this person is paged
	followUps []users.PlannedFollowUp
}

// makeRound makes the messages of a round of the plan; see makePages.
func (r *Decider) makeRound(ctx context.Context, b *changeBuilder, round Round) (made int, reached bool, err error) {
	n := b.plan.Steps[round.Step-1].Notifications[round.Position]
	if n.lastResort {
		return r.makeFallback(ctx, b, round, n, nil, "nobody acknowledged in any step")
	}
	return r.makePages(ctx, b, round, n)
}

// waits reports whether a round must wait until somebody is on call. A round that is made again does not wait.
func (r *Decider) waits(ctx context.Context, b *changeBuilder, round Round) (bool, error) {
	t, ok := b.plan.Steps[round.Step-1].Notifications[round.Position].TargetIn(b.due.Dynamic)
	if !ok || round.Again || !b.plan.mayWait(t) {
		return false, nil
	}
	// The fixed order of a team does not fill a gap in its calendar, so that the page waits for the next shift.
	q := query(t, b.due.ID, 0)
	q.OnlyShifts = true
	answer, reason, err := r.resolve(ctx, b, q)
	return reason != "" && reason == answer.Rule, err
}

// wait takes a round back that begins when somebody is on call. before is the progress before the decision.
func (b *changeBuilder) wait(round Round, before Progress) {
	b.waiting = true
	b.Progress.Unsettled--
	state := &b.Progress.Notifications[round.Position]
	*state = Rounds{}
	if before.Step == round.Step && round.Position < len(before.Notifications) {
		*state = before.Notifications[round.Position]
	}
	if state.Waiting {
		return
	}
	state.Waiting = true
	t, _ := b.plan.Steps[round.Step-1].Notifications[round.Position].TargetIn(b.due.Dynamic)
	b.add(incidents.EntryHeld, nil, "%s: %s; the page waits until somebody is", b.plan.StepName(round.Step),
		t.vacancy())
}

// makePages makes messages for the people of a notification's target, and for a fallback in place of each who cannot be
// paged. made counts the messages. reached is false if nobody can be paged: then the plan does not wait for the
// notification.
func (r *Decider) makePages(ctx context.Context, b *changeBuilder, round Round, n Notification) (made int, reached bool, err error) {
	pages, lost, err := r.recipients(ctx, b, round, n)
	if err != nil {
		return 0, false, err
	}
	for _, p := range pages {
		reached = true
		to := messages.ToUser(p.responder.ID)
		if slices.Contains(round.Served, to) {
			continue
		}
		b.page(n, p, messages.Primary, nil)
		b.pages = append(b.pages, p)
		made++
	}
	for _, reason := range lost {
		if n.Optional {
			b.add(incidents.EntrySkipped, nil, "%s: %s; it is optional and left out", b.plan.StepName(round.Step),
				reason)
			continue
		}
		m, ok, err := r.makeFallback(ctx, b, round, n, pages, reason)
		if err != nil {
			return 0, false, err
		}
		made += m
		reached = reached || ok
	}
	return made, reached, nil
}

// recipients resolves a notification to people and chooses a mode for each. lost lists the people who cannot be
// reached, and why.
func (r *Decider) recipients(ctx context.Context, b *changeBuilder, round Round, n Notification) (pages []page, lost []string, err error) {
	t, ok := n.TargetIn(b.due.Dynamic)
	if !ok {
		return nil, []string{fmt.Sprintf("nobody can be paged: the incident names no target number %d",
			dynamicIndex(n))}, nil
	}
	answer, reason, err := r.resolve(ctx, b, query(t, b.due.ID, earlierRounds(b.plan, round, t, b.due.Dynamic)))
	if err != nil {
		return nil, nil, err
	}
	if reason != "" {
		return nil, []string{fmt.Sprintf("%s cannot be paged: %s", t, reason)}, nil
	}
	people, gone, err := r.read(ctx, answer.Users, b.app.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, who := range gone {
		lost = append(lost, who+" cannot be paged: not active any more")
	}
	for _, person := range people {
		choice, ok := users.Choose(person, n.Priority, b.app.Modes)
		if !ok {
			lost = append(lost, fmt.Sprintf("%s cannot be paged in any mode: %s", person.Name, choice.Missing))
			continue
		}
		pages = append(pages, newPage(round, person, choice, n.Priority, b.app.Modes, answer.Rule))
	}
	return pages, lost, nil
}

func dynamicIndex(n Notification) int {
	if n.DynamicIndex == nil {
		return 0
	}
	return *n.DynamicIndex
}

// resolve asks who is behind a target. reason says why nobody is paged. An error means
// that a retry may help.
func (r *Decider) resolve(ctx context.Context, b *changeBuilder, q oncall.Query) (answer oncall.Answer, reason string, err error) {
	answer, err = r.lookUp(ctx, q, b.due.ReadAt)
	switch {
	case err == nil && len(answer.Users) == 0: // the rule says so
		return answer, answer.Rule, nil
	case err == nil:
		return answer, "", nil
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Invalid), r.gaveUp(b.due.ID):
		return answer, clean(err.Error()), nil
	}
	return answer, "", fmt.Errorf("look up %s: %w", Target{Role: q.Role, Name: q.Name, TargetID: q.TargetID}, err)
}

// lookUp asks the resolver, within a time limit.
func (r *Decider) lookUp(ctx context.Context, q oncall.Query, at time.Time) (oncall.Answer, error) {
	limited, cancel := context.WithTimeout(ctx, r.timeouts.limit(time.Now()))
	defer cancel()
	answer, err := r.resolver.Resolve(limited, q, at)
	if limited.Err() != nil && ctx.Err() == nil {
		r.timeouts.add(time.Now())
	}
	return answer, err
}

// timeouts records when the latest look-ups exceeded their limit. It is safe for concurrent use.
type timeouts struct {
	mu   sync.Mutex
	last [3]time.Time
}

func (t *timeouts) add(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	copy(t.last[:], t.last[1:])
	t.last[len(t.last)-1] = now
}

// limit returns how long the next look-up may take.
func (t *timeouts) limit(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.last[0]) < timeoutWindow {
		return shortTimeout
	}
	return lookupTimeout
}

// read returns the responders in the order of ids, and the names of the inactive ones. An id may come from a cache, so
// its user may be deactivated or deleted.
func (r *Decider) read(ctx context.Context, ids []users.ID, app int64) (active []users.Responder, gone []string, err error) {
	keys := make([]users.ResponderKey, len(ids))
	for i, id := range ids {
		keys[i] = users.ResponderKey{User: id, Application: app}
	}
	found, err := r.responders.Get(ctx, keys...)
	if err != nil {
		return nil, nil, fmt.Errorf("read contacts: %w", err)
	}
	active = make([]users.Responder, 0, len(ids))
	for _, k := range keys {
		switch p, ok := found[k]; {
		case ok && p.Active:
			active = append(active, p)
		case ok:
			gone = append(gone, p.Name)
		default:
			gone = append(gone, fmt.Sprintf("user number %d", k.User))
		}
	}
	return active, gone, nil
}

// page adds the message for one person, and the follow-ups, to the change.
func (b *changeBuilder) page(n Notification, p page, purpose messages.Purpose, changes []messages.Change) {
	if p.choice.Changed() {
		changes = append(changes, modeChange(p.choice))
	}
	m := b.message(n, p, purpose, changes)
	b.Reasons = append(b.Reasons, Reason{Rule: p.rule, Wanted: p.choice.Wanted, ModeRule: p.choice.Rule})
	b.Messages = append(b.Messages, m)
	b.addFollowUps(m, p.rule, p.followUps)
}

// message returns the message for one person.
func (b *changeBuilder) message(n Notification, p page, purpose messages.Purpose, changes []messages.Change) messages.New {
	return messages.New{
		IncidentID: b.ID, ApplicationID: b.app.ID, PlanID: int64(b.plan.ID), Reopen: b.Progress.Reopen,
		Step: p.round.Step, Position: p.round.Position, Repeat: p.round.Repeat,
		Recipient: messages.ToUser(p.responder.ID), Purpose: purpose, Target: p.responder.Name, Priority: n.Priority,
		Class: messages.ClassOf(n.Priority), Mode: p.choice.Mode, Template: n.Template, Wait: n.Wait, Changes: changes,
	}
}

func modeChange(c users.Choice) messages.Change {
	return messages.ModeFailure(c.Wanted, c.Mode)
}

// makeFallback pages a fallback. ok reports whether somebody is paged, now or already in this round.
func (r *Decider) makeFallback(ctx context.Context, b *changeBuilder, round Round, n Notification, already []page, reason string) (made int, ok bool, err error) {
	var tried []string
	for _, c := range fallbackChain(b.plan, b.app) {
		people, why, err := r.candidate(ctx, b, c)
		if err != nil {
			return 0, false, err
		}
		pages := usable(people, round, n.Priority, b.app.Modes)
		if len(pages) == 0 {
			tried = append(tried, fmt.Sprintf("%s: %s", c.name, why))
			continue
		}
		fresh := slices.DeleteFunc(slices.Clone(pages), func(p page) bool { return b.pagedAlready(p, already) })
		if len(fresh) == 0 {
			b.add(incidents.EntryFallback, nil, "%s: %s; %s is paged already (%s)", b.plan.StepName(round.Step),
				reason, names(pages), c.name)
			return 0, true, nil
		}
		old := "dynamic target"
		if t, ok := n.TargetIn(b.due.Dynamic); ok {
			old = t.Role + "|" + t.Name
		} else if n.DynamicIndex == nil {
			old = "nobody"
		}
		for i := range fresh {
			fresh[i].rule = c.name
			p := fresh[i]
			b.page(n, p, messages.Fallback, []messages.Change{{
				Type: "target-change", Old: old, New: p.responder.Name, Description: reason,
			}})
		}
		b.add(incidents.EntryFallback, pageDetails(fresh), "%s: %s; paging %s instead (%s)%s",
			b.plan.StepName(round.Step), reason,
			byMode(fresh), c.name, afterAll(tried))
		return len(fresh), true, nil
	}
	b.Nobody++
	b.add(incidents.EntryFallback, nil, "%s: %s, and no fallback can be paged either (%s): this notification reaches NOBODY",
		b.plan.StepName(round.Step), reason, strings.Join(tried, "; "))
	return 0, false, nil
}

// pagedAlready reports whether the same person has a page of the same round: in this change, or from before the
// incident was reopened.
func (b *changeBuilder) pagedAlready(p page, already []page) bool {
	to := messages.ToUser(p.responder.ID)
	if slices.Contains(p.round.Served, to) {
		return true
	}
	if slices.ContainsFunc(already, func(a page) bool { return a.responder.ID == p.responder.ID }) {
		return true
	}
	return slices.ContainsFunc(b.Messages, func(m messages.New) bool {
		return m.Recipient == to && m.Step == p.round.Step && m.Position == p.round.Position &&
			m.Repeat == p.round.Repeat
	})
}

// fallback is a recipient to page when the intended one cannot be paged.
type fallback struct {
	target *Target  // nil: the user
	user   users.ID // the plan's creator
	name   string   // as the timeline shows it
}

// fallbackChain returns the fallbacks in order: the plan's, the application's, and last the plan's creator.
func fallbackChain(plan Plan, app Application) []fallback {
	var out []fallback
	if plan.Fallback != nil {
		out = append(out, fallback{target: plan.Fallback, name: fmt.Sprintf("fallback of plan %s, %s", plan.Name,
			plan.Fallback)})
	}
	if app.Fallback != nil {
		out = append(out, fallback{target: app.Fallback, name: fmt.Sprintf("fallback of application %s, %s", app.Name,
			app.Fallback)})
	}
	if plan.CreatorID != 0 {
		out = append(out, fallback{user: plan.CreatorID, name: "creator of plan " + plan.Name})
	}
	return out
}

// candidate returns the people behind a fallback, or why there are none.
func (r *Decider) candidate(ctx context.Context, b *changeBuilder, f fallback) ([]users.Responder, string, error) {
	ids := []users.ID{f.user}
	if f.target != nil {
		answer, reason, err := r.resolve(ctx, b, query(*f.target, b.due.ID, 0))
		if err != nil || reason != "" {
			return nil, reason, err
		}
		ids = answer.Users
	}
	people, _, err := r.read(ctx, ids, b.app.ID)
	if err != nil {
		return nil, "", err
	}
	if len(people) == 0 {
		return nil, "not active", nil
	}
	return people, "no contact that the application may use", nil
}

// usable returns pages for those of the people who can be reached.
func usable(people []users.Responder, round Round, p users.Priority, app users.AppModes) []page {
	var out []page
	for _, person := range people {
		if choice, ok := users.Choose(person, p, app); ok {
			out = append(out, newPage(round, person, choice, p, app, ""))
		}
	}
	return out
}

// Prefetch reads at once the people whom Decide will page for a batch of due incidents. It is an optimisation: Decide
// repeats a read that failed, and returns its error.
func (r *Decider) Prefetch(ctx context.Context, batch []Due, f Facts) {
	type asked struct {
		query oncall.Query
		app   int64
	}
	seen := map[asked]bool{}
	var queries []oncall.Query
	var asks []asked
	for _, d := range batch {
		plan, ok := f.Plans[d.PlanID]
		if !ok || d.PlanPaused || d.ApplicationPaused {
			continue
		}
		plan, d.Progress.OpenedAt = plan.AllRounds(f.Applications[d.ApplicationID]), d.CreatedAt
		for _, round := range Next(plan, d.Progress, d.ReadAt).Rounds {
			t, ok := plan.Steps[round.Step-1].Notifications[round.Position].TargetIn(d.Dynamic)
			if !ok {
				continue
			}
			a := asked{query(t, d.ID, earlierRounds(plan, round, t, d.Dynamic)), d.ApplicationID}
			if !seen[a] {
				seen[a] = true
				queries, asks = append(queries, a.query), append(asks, a)
			}
		}
	}
	if len(queries) == 0 || r.resolver.Prefetch(ctx, queries) != nil {
		return
	}
	var keys []users.ResponderKey
	for _, a := range asks {
		answer, err := r.lookUp(ctx, a.query, batch[0].ReadAt)
		if err != nil {
			continue
		}
		for _, id := range answer.Users {
			keys = append(keys, users.ResponderKey{User: id, Application: a.app})
		}
	}
	if len(keys) > 0 {
		_, _ = r.responders.Get(ctx, keys...)
	}
}

// Contact returns the mode and destination by which a person gets messages of a priority from an application; "" if
// there is none.
func (r *Decider) Contact(ctx context.Context, id users.ID, p users.Priority, app Application) (users.Mode, string, error) {
	people, _, err := r.read(ctx, []users.ID{id}, app.ID)
	if err != nil || len(people) == 0 {
		return "", "", err
	}
	choice, ok := users.Choose(people[0], p, app.Modes)
	if !ok {
		return "", "", nil
	}
	return choice.Mode, people[0].Contacts[choice.Mode], nil
}

package escalation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// maxLookups is how often a look-up that fails (a calendar that does not answer) is tried before the fallback is paged.
	maxLookups = 3
	// lookupPatience is how long a look-up may take, hurriedPatience how long after a few have taken too long within
	// hangMemory: escalating the others must not wait for a calendar that hangs.
	lookupPatience  = time.Second
	hurriedPatience = 20 * time.Millisecond
	hangMemory      = 10 * time.Second
)

// page is one person to be told in one round.
type page struct {
	round     Round
	responder users.Responder
	choice    users.Choice
	priority  users.Priority
	rule      string // why this person
}

// makeRound makes the messages of a round: for everybody the target means, or for the fallback. made counts the
// messages; reached is false when there was nobody to reach, so that the notification must not be waited for.
func (r *decider) makeRound(ctx context.Context, w *draft, round Round) (made int, reached bool, err error) {
	n := w.plan.Steps[round.Step-1].Notifications[round.Position]
	pages, lost, err := r.whom(ctx, w, round, n)
	if err != nil {
		return 0, false, err
	}
	for _, p := range pages {
		reached = true
		to := messages.ToUser(p.responder.ID)
		if slices.Contains(round.Served, to) {
			continue
		}
		w.page(n, p, messages.Primary, nil)
		w.pages = append(w.pages, p)
		made++
	}
	for _, reason := range lost {
		if n.Optional {
			w.add(incidents.EntrySkipped, nil, "step %d: %s; it is optional and left out", round.Step, reason)
			continue
		}
		m, ok, err := r.makeFallback(ctx, w, round, n, pages, reason)
		if err != nil {
			return 0, false, err
		}
		made += m
		reached = reached || ok
	}
	return made, reached, nil
}

// whom finds the people a notification means and how each is told. lost says, in words, who cannot be told and why.
func (r *decider) whom(ctx context.Context, w *draft, round Round, n Notification) (pages []page, lost []string, err error) {
	t, ok := targetOf(n, w.due.Dynamic)
	if !ok {
		return nil, []string{fmt.Sprintf("nobody can be paged: the incident names no target number %d", dynamicIndex(n))}, nil
	}
	answer, reason, err := r.resolve(ctx, w, t)
	if err != nil {
		return nil, nil, err
	}
	if reason != "" {
		return nil, []string{fmt.Sprintf("%s cannot be paged: %s", t, reason)}, nil
	}
	people, gone, err := r.read(ctx, answer.Users, w.app.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, who := range gone {
		lost = append(lost, who+" cannot be paged: not active any more")
	}
	for _, person := range people {
		choice, ok := users.Choose(person, n.Priority, w.app.Modes)
		if !ok {
			lost = append(lost, fmt.Sprintf("%s cannot be paged in any mode: %s", person.Name, choice.Missing))
			continue
		}
		pages = append(pages, page{round: round, responder: person, choice: choice, priority: n.Priority, rule: answer.Rule})
	}
	return pages, lost, nil
}

func dynamicIndex(n Notification) int {
	if n.DynamicIndex == nil {
		return 0
	}
	return *n.DynamicIndex
}

// resolve asks who is meant. A reason says in words that nobody is; an error that it is worth asking again.
func (r *decider) resolve(ctx context.Context, w *draft, t Target) (answer oncall.Answer, reason string, err error) {
	answer, err = r.lookUp(ctx, oncall.Query{Role: t.Role, TargetID: t.TargetID, Name: t.Name}, w.due.ReadAt)
	switch {
	case err == nil && len(answer.Users) == 0:
		return answer, answer.Rule, nil
	case err == nil:
		return answer, "", nil
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Invalid), r.givenUp(w.due.ID):
		return answer, clean(err.Error()), nil
	}
	return answer, "", fmt.Errorf("look up %s: %w", t, err)
}

// lookUp asks the resolver, but not for long.
func (r *decider) lookUp(ctx context.Context, q oncall.Query, at time.Time) (oncall.Answer, error) {
	limited, cancel := context.WithTimeout(ctx, r.hangs.patience(time.Now()))
	defer cancel()
	answer, err := r.resolver.Resolve(limited, q, at)
	if limited.Err() != nil && ctx.Err() == nil {
		r.hangs.add(time.Now())
	}
	return answer, err
}

// hangs are the latest look-ups that took too long. It is safe for concurrent use.
type hangs struct {
	mu   sync.Mutex
	last [3]time.Time
}

func (h *hangs) add(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	copy(h.last[:], h.last[1:])
	h.last[len(h.last)-1] = now
}

// patience is how long the next look-up may take.
func (h *hangs) patience(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.last[0]) < hangMemory {
		return hurriedPatience
	}
	return lookupPatience
}

// read returns the responders in the order of ids, and names those that are not active (any more): whoever told us of them
// may have known them a moment ago.
func (r *decider) read(ctx context.Context, ids []users.ID, app int64) (active []users.Responder, gone []string, err error) {
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

// page adds the message for one person to the change.
func (w *draft) page(n Notification, p page, purpose messages.Purpose, changes []messages.Change) {
	if p.choice.Changed() {
		changes = append(changes, modeChange(p.choice))
	}
	w.made = append(w.made, p)
	w.Messages = append(w.Messages, messages.New{
		IncidentID: w.ID, ApplicationID: w.app.ID, PlanID: int64(w.plan.ID), Reopen: w.Progress.Reopen,
		Step: p.round.Step, Position: p.round.Position, Repeat: p.round.Repeat,
		Recipient: messages.ToUser(p.responder.ID), Purpose: purpose, Target: p.responder.Name, Priority: n.Priority,
		Class: messages.ClassOf(n.Priority), Mode: p.choice.Mode, Template: n.Template, Wait: n.Wait, Changes: changes,
	})
}

func modeChange(c users.Choice) messages.Change {
	return messages.ModeFailure(c.Wanted, c.Mode)
}

// makeFallback pages somebody else instead. ok tells that somebody is paged, now or already in this round.
func (r *decider) makeFallback(ctx context.Context, w *draft, round Round, n Notification, already []page, reason string) (made int, ok bool, err error) {
	var tried []string
	for _, c := range fallbackChain(w.plan, w.app) {
		people, why, err := r.candidate(ctx, w, c)
		if err != nil {
			return 0, false, err
		}
		pages := usable(people, round, n.Priority, w.app.Modes)
		if len(pages) == 0 {
			tried = append(tried, fmt.Sprintf("%s: %s", c.words, why))
			continue
		}
		fresh := slices.DeleteFunc(slices.Clone(pages), func(p page) bool { return w.pagedAlready(p, already) })
		if len(fresh) == 0 {
			w.add(incidents.EntryFallback, nil, "step %d: %s; %s is paged already (%s)", round.Step, reason, names(pages), c.words)
			return 0, true, nil
		}
		old := "dynamic target"
		if t, ok := targetOf(n, w.due.Dynamic); ok {
			old = t.Role + "|" + t.Name
		} else if n.DynamicIndex == nil {
			old = "nobody"
		}
		for i := range fresh {
			fresh[i].rule = c.words
			p := fresh[i]
			w.page(n, p, messages.Fallback, []messages.Change{{
				Type: "target-change", Old: old, New: p.responder.Name, Description: reason,
			}})
		}
		w.add(incidents.EntryFallback, pageDetails(fresh), "step %d: %s; paging %s instead (%s)%s", round.Step, reason,
			byMode(fresh), c.words, afterAll(tried))
		return len(fresh), true, nil
	}
	w.Nobody++
	w.add(incidents.EntryFallback, nil, "step %d: %s, and no fallback can be paged either (%s): this notification reaches NOBODY",
		round.Step, reason, strings.Join(tried, "; "))
	return 0, false, nil
}

// pagedAlready reports whether the change holds a page of the same round for the same person, or had one before the
// incident was reopened.
func (w *draft) pagedAlready(p page, already []page) bool {
	to := messages.ToUser(p.responder.ID)
	if slices.Contains(p.round.Served, to) {
		return true
	}
	if slices.ContainsFunc(already, func(a page) bool { return a.responder.ID == p.responder.ID }) {
		return true
	}
	return slices.ContainsFunc(w.Messages, func(m messages.New) bool {
		return m.Recipient == to && m.Step == p.round.Step && m.Position == p.round.Position && m.Repeat == p.round.Repeat
	})
}

// fallback is somebody to page when the one who was meant cannot be.
type fallback struct {
	target *Target  // nil: the user
	user   users.ID // the plan's creator
	words  string
}

// fallbackChain returns whom to try, in order: the plan's fallback, the application's, and last the plan's creator.
func fallbackChain(plan Plan, app Application) []fallback {
	var out []fallback
	if plan.Fallback != nil {
		out = append(out, fallback{target: plan.Fallback, words: fmt.Sprintf("fallback of plan %s, %s", plan.Name, plan.Fallback)})
	}
	if app.Fallback != nil {
		out = append(out, fallback{target: app.Fallback, words: fmt.Sprintf("fallback of application %s, %s", app.Name, app.Fallback)})
	}
	if plan.CreatorID != 0 {
		out = append(out, fallback{user: plan.CreatorID, words: "creator of plan " + plan.Name})
	}
	return out
}

// candidate returns the people behind a fallback, or why there are none.
func (r *decider) candidate(ctx context.Context, w *draft, f fallback) ([]users.Responder, string, error) {
	ids := []users.ID{f.user}
	if f.target != nil {
		answer, reason, err := r.resolve(ctx, w, *f.target)
		if err != nil || reason != "" {
			return nil, reason, err
		}
		ids = answer.Users
	}
	people, _, err := r.read(ctx, ids, w.app.ID)
	if err != nil {
		return nil, "", err
	}
	if len(people) == 0 {
		return nil, "not active", nil
	}
	return people, "no contact that the application may use", nil
}

// usable returns pages for those people who can be reached.
func usable(people []users.Responder, round Round, p users.Priority, app users.AppModes) []page {
	var out []page
	for _, person := range people {
		if choice, ok := users.Choose(person, p, app); ok {
			out = append(out, page{round: round, responder: person, choice: choice, priority: p})
		}
	}
	return out
}

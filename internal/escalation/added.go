package escalation

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// MaxAdded is how many added pages an incident may have.
const MaxAdded = 1000

// AddedKind is the reason of an added page.
type AddedKind string

// The kinds.
const (
	ForResponders AddedKind = "responders" // a person added responders to a running incident
	ForNewOwner   AddedKind = "owner"      // an acknowledged incident got another owner
)

// Addition is a request for an added page: a page that a person asks for, in addition to those of the plan.
type Addition struct {
	Kind     AddedKind
	Targets  []Target
	Priority users.Priority
	Template string // "" = that of the current step
}

// Check returns an Invalid fault that names the wrong field.
func (a Addition) Check() error {
	switch {
	case len(a.Targets) == 0:
		return fault.Invalidf("targets", "name at least one target")
	case len(a.Targets) > incidents.MaxAddedTargets:
		return fault.Invalidf("targets", "a request names at most %s",
			humanize.Count(incidents.MaxAddedTargets, "target", "targets"))
	}
	return nil
}

// Added is an added page whose messages do not exist yet, with the state of its incident.
type Added struct {
	Addition
	ID            int64
	Number        int // of the requests of the incident, from 1
	IncidentID    incidents.ID
	Lease         buckets.Lease
	PlanID        PlanID
	ApplicationID int64
	Actor         string
	// Stopped: the escalation had been stopped when the page was asked for. Then an acknowledgement does not stop the
	// page.
	Stopped bool

	// When it was read:
	ReadAt time.Time
	Step   int // current one; 0 = not started
	Reopen int
	Open   bool // nobody stopped the escalation
	Over   bool // the incident needs nobody any more
}

// AddedChange is the decision about an added page.
type AddedChange struct {
	Added       Added
	Messages    []messages.New
	Entries     []incidents.Entry
	Nobody      int    // number of targets that reached nobody, not even a fallback
	Application string // name
}

// Add decides who gets an added page. Its targets are resolved like those of the plan, and a target that reaches nobody
// is replaced by a fallback (promise P8). attempts is how often this decision failed before. An error means that a
// retry may help.
func (r *Decider) Add(ctx context.Context, a Added, plan Plan, app Application, attempts int) (AddedChange, error) {
	c := AddedChange{Added: a, Application: app.Name}
	b := &changeBuilder{plan: plan, app: app, due: Due{ID: a.IncidentID, ReadAt: a.ReadAt},
		ExplainedChange: ExplainedChange{Change: Change{ID: a.IncidentID}}}
	b.Progress.Reopen = a.Reopen
	switch {
	case a.Over:
		b.add(incidents.EntryCancelled, nil, "%s: nobody is paged, because the incident is over", a.asked())
	case !a.Open && !a.Stopped:
		b.add(incidents.EntryCancelled, nil, "%s: nobody is paged, because somebody stopped the escalation meanwhile",
			a.asked())
	default:
		if err := r.addTargets(ctx, b, a, attempts); err != nil {
			return c, err
		}
	}
	c.Messages, c.Entries, c.Nobody = b.Messages, b.Entries, b.Nobody
	return c, nil
}

func (r *Decider) addTargets(ctx context.Context, b *changeBuilder, a Added, attempts int) error {
	var paged []messages.Recipient
	for k, t := range a.Targets {
		round := Round{Step: max(a.Step, 1), Position: a.position(k), Served: paged}
		n := Notification{Priority: a.Priority, Template: a.Template, Target: &t}
		if n.Template == "" {
			n.Template = templateOf(b.plan, round.Step)
		}
		_, _, err := r.makePages(ctx, b, round, n)
		if err != nil && attempts >= MaxLookups {
			_, _, err = r.makeFallback(ctx, b, round, n, nil, clean(err.Error()))
		}
		if err != nil {
			return err
		}
		for _, m := range b.Messages {
			paged = append(paged, m.Recipient)
		}
	}
	if a.Stopped { // nobody would stop the follow-ups, because the incident is acknowledged already
		b.Messages = slices.DeleteFunc(b.Messages,
			func(m messages.New) bool { return m.Purpose.Kind() == messages.FollowUp })
	}
	for i := range b.Messages {
		m := &b.Messages[i]
		if m.Purpose == messages.Primary {
			m.Changes = append(m.Changes, messages.Change{Type: "target-change", New: m.Target, Description: a.why()})
		}
		if a.Stopped {
			m.Purpose = messages.Direct
		}
	}
	for k, t := range a.Targets {
		for i := range b.pages {
			p := &b.pages[i]
			if p.round.Position == a.position(k) && strings.EqualFold(t.Role, "user") { // the resolver calls that "named in the plan"
				p.rule = "named by " + a.Actor
			}
			if a.Stopped {
				p.followUps = nil
			}
		}
	}
	fallbacks := b.Entries
	b.Entries = nil
	if len(b.pages) > 0 {
		b.add(incidents.EntryAdded, pageDetails(b.pages), "%s: %s", a.asked(), sentence(b.pages))
	} else {
		b.add(incidents.EntryAdded, nil, "%s", a.asked())
	}
	b.Entries = append(b.Entries, fallbacks...)
	return nil
}

// why says to the recipients why they get the page.
func (a Added) why() string {
	if a.Kind == ForNewOwner {
		return a.Actor + " made you the owner of the incident"
	}
	return a.Actor + " added you to the incident"
}

// position returns the position of the messages for a target. It is negative, so that it differs from those of the plan
// (promise P3).
func (a Added) position(target int) int { return -a.Number*incidents.MaxAddedTargets - target }

// templateOf returns the template of the first notification of a step; "" = none.
func templateOf(plan Plan, step int) string {
	if step < 1 || step > len(plan.Steps) || len(plan.Steps[step-1].Notifications) == 0 {
		return ""
	}
	return plan.Steps[step-1].Notifications[0].Template
}

// asked says who asked for the page, and for whom.
func (a Added) asked() string {
	who, _ := grouped(a.Targets, Target.String)
	if a.Kind == ForNewOwner {
		return "paging the new owner " + list(who)
	}
	return a.Actor + " paged also " + list(who)
}

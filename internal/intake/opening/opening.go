package opening

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Incidents opens incidents. Open returns when the incident is durable.
type Incidents interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Plans finds active plans by name. The result may be a second old. It returns a NotFound fault if there is none.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Applications finds applications, with the variables that they declared. Describe tells who owns one.
type Applications interface {
	ByName(ctx context.Context, name string) (auth.Application, error)
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Load limits the pending messages of an application, and counts accepted incidents.
type Load interface {
	// Overloaded returns how long the application must wait before it opens another incident; 0 = it need not wait.
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	// Accepted counts n accepted incidents of an application.
	Accepted(applicationID int64, n int)
}

// Rates limits how many incidents an application, or an opener of the application iris, opens on a plan version. A
// Throttled fault refuses one.
type Rates interface {
	CheckOpener(ctx context.Context, app auth.Application, opener string, plan int64) error
}

// MaxKey is the maximum length of a dedup key, in characters. Storage hashes those that have more bytes than an index
// takes.
const MaxKey = 255

// CheckKey returns an Invalid fault if a dedup key is too long.
func CheckKey(key string) error {
	if utf8.RuneCountInString(key) > MaxKey {
		return fault.Invalidf("dedup_key", "dedup_key must not be longer than %d characters", MaxKey)
	}
	return nil
}

// Opener opens incidents. It is safe for concurrent use.
type Opener struct {
	Incidents    Incidents
	Plans        Plans
	Applications Applications
	Lookups      escalation.Lookups
	Load         Load
	Rates        Rates `optional:"true"` // nil = any number of incidents
	// Refused counts an incident that Load refuses; nil = they are not counted.
	Refused func() `optional:"true"`
}

// Caller is who asks for an incident. Application is the application of the request; it has no id if there is none.
type Caller struct {
	Actor       auth.Actor
	Application auth.Application
}

// Request names what an incident is opened for.
type Request struct {
	Plan        string
	Application string // "" = that of the caller
	// Targets are those for the dynamic targets of the plan, in the order of their indexes.
	Targets []incidents.Target
}

// With returns the request with a further target.
func (r Request) With(role, name string) Request {
	r.Targets = append(slices.Clip(r.Targets), incidents.Target{Role: role, Name: name})
	return r
}

// Destination is a request whose names were found.
type Destination struct {
	Application auth.Application
	Plan        escalation.PlanID
	Targets     []incidents.DynamicTarget
}

// Find checks the plan, then the application, then the dynamic targets. A plan that does not exist is a NotFound fault.
// The other faults name the field: application or dynamic_targets.
func (o Opener) Find(ctx context.Context, by Caller, r Request) (d Destination, err error) {
	plan, err := o.Plans.Recent(ctx, r.Plan)
	if err != nil {
		return d, err
	}
	d.Plan = plan.ID
	if d.Application, err = o.application(ctx, by, r.Application); err != nil {
		return d, err
	}
	d.Targets, err = o.dynamicTargets(ctx, plan.Plan, r.Targets)
	return d, err
}

// application returns the application in whose name the incident is opened: the caller, unless the request names one.
func (o Opener) application(ctx context.Context, by Caller, name string) (auth.Application, error) {
	if name == "" {
		return by.Application, nil
	}
	if by.Application.Recent { // storing checks the version of one application only
		return auth.Application{}, fault.New(fault.Stale, "the caller was not read for this request")
	}
	app, err := o.Applications.ByName(ctx, name)
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return auth.Application{}, err
	}
	may, err := o.mayName(ctx, by.Actor, app)
	switch {
	case err != nil:
		return auth.Application{}, err
	case may && unknown:
		return auth.Application{}, fault.Invalidf("application", "Invalid application")
	case may:
		return app, nil
	case by.Actor.Session:
		return auth.Application{}, auth.ErrNotItsApplication
	}
	return auth.Application{}, &fault.Error{Kind: fault.Forbidden, Field: "application",
		Message: "This application " + by.Application.Name + " does not allow creating incidents as other applications"}
}

// mayName reports whether the actor may open incidents of an application, which has no id if it does not exist. Owners
// are read only for people and service tokens that may not name every application.
func (o Opener) mayName(ctx context.Context, actor auth.Actor, app auth.Application) (bool, error) {
	if actor.MayOpenAs(app.ID) || app.ID == 0 || !actor.Session && actor.UserID == 0 {
		return actor.MayOpenAs(app.ID), nil
	}
	found, err := o.Applications.Describe(ctx, app.Name)
	if err != nil {
		return false, err
	}
	return actor.Owning(found.ID, found.OwnerIDs, found.Team).MayOpenAs(app.ID), nil
}

// dynamicTargets finds the targets that the request gives for the dynamic targets of the plan.
func (o Opener) dynamicTargets(ctx context.Context, plan escalation.Plan, given []incidents.Target) ([]incidents.DynamicTarget, error) {
	want := plan.DynamicTargets()
	if want == 0 {
		return nil, nil
	}
	if len(given) != want {
		return nil, fault.Invalidf("dynamic_targets", "Invalid number of dynamic targets")
	}
	found, unknown, err := escalation.FindTargets(ctx, o.Lookups, given)
	if unknown != nil {
		return nil, &fault.Error{Kind: fault.Invalid, Field: "dynamic_targets", Message: "Invalid incident",
			Detail: "invalid role " + unknown.Role + " for target " + unknown.Name}
	}
	return found, err
}

// Open opens the incident that n describes at the destination, which overrides the plan, application, opener, targets
// and actor of n. If an incident of the application, opener, plan and dedup key is open, Open returns it (Known) and
// opens none. An application that has too many messages waiting, or opened too many incidents, gets a Throttled fault.
func (o Opener) Open(ctx context.Context, by Caller, d Destination, n incidents.New) (incidents.Opened, error) {
	app := d.Application
	if wait, err := o.Load.Overloaded(ctx, app); err != nil {
		return incidents.Opened{}, err
	} else if wait > 0 {
		if o.Refused != nil && !app.Recent { // a request of a recent application is handled again
			o.Refused()
		}
		return incidents.Opened{}, &fault.Error{Kind: fault.Throttled, RetryAfter: wait,
			Message: "Application " + app.Name +
				" has too many messages waiting", Detail: "nothing was stored; send it again later"}
	}
	n.Opener = by.Actor.Opener(app.Name)
	if o.Rates != nil {
		if err := o.Rates.CheckOpener(ctx, app, n.Opener, int64(d.Plan)); err != nil {
			return incidents.Opened{}, err
		}
	}
	n.PlanID, n.ApplicationID, n.Version = int64(d.Plan), app.ID, app.ToCheck()
	n.DynamicTargets, n.Actor = d.Targets, by.Actor.String()
	opened, err := o.Incidents.Open(ctx, n)
	if err == nil && !opened.Known {
		o.Load.Accepted(app.ID, 1)
	}
	return opened, err
}

package pages

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (a subscriptions) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/calendar-subscriptions", routing.Read, a.listOfTeam),
		routing.Post("/v1/teams/{team}/calendar-subscriptions", routing.Write, a.addToTeam),
		routing.Get("/v1/users/{user}/calendar-subscriptions", routing.Self, a.listOfPerson),
		routing.Post("/v1/users/{user}/calendar-subscriptions", routing.Write, a.addToPerson),
		routing.Put("/v1/calendar-subscriptions/{id}", routing.Write, a.change),
		routing.Delete("/v1/calendar-subscriptions/{id}", routing.Write, a.remove),
		routing.Post("/v1/calendar-subscriptions/{id}/refresh", routing.Write, a.refresh),
	}
}

func instantOrNull(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return requests.OrNull(t.Unix())
}

// subscriptionObject returns a subscription on the wire. It never has the URL.
func subscriptionObject(s editing.CalendarSubscription) map[string]any {
	state := "current"
	switch {
	case s.Failures > 0:
		state = "failing"
	case s.ReadAt.IsZero():
		state = "waiting"
	}
	return map[string]any{"id": s.ID, "kind": s.Kind, "team": requests.OrNull(s.Team),
		"user": requests.OrNull(s.UserName), "role": requests.OrNull(s.Role),
		"name": s.Name, "host": s.Host, "whole_days": s.WholeDays, "state": state, "problem": requests.OrNull(s.Problem), "failures": s.Failures,
		"events": s.Events, "left_out": routing.OrEmpty(s.LeftOut), "read_at": instantOrNull(s.ReadAt), "next_read_at": s.NextAt.Unix(),
		"created_by": s.CreatedBy, "created_at": s.CreatedAt.Unix()}
}

func answerSubscriptions(w http.ResponseWriter, list []editing.CalendarSubscription, err error) error {
	if err != nil {
		return err
	}
	return listing.Answer(w, list, func(s editing.CalendarSubscription) any { return subscriptionObject(s) }, "")
}

// listOfTeam answers with the subscriptions of a team.
func (a subscriptions) listOfTeam(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	list, err := a.Subscribed.OfTeam(r.Context(), t.ID)
	return answerSubscriptions(w, list, err)
}

// listOfPerson answers with the subscriptions of a person. It is for callers who may change the person's settings.
func (a subscriptions) listOfPerson(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	list, err := a.Subscribed.OfPerson(r.Context(), u.ID)
	return answerSubscriptions(w, list, err)
}

// owner finds the person of the path. It refuses callers who may not change the person's settings.
func (a subscriptions) owner(r *http.Request) (oncall.Person, error) {
	u, err := a.Person(r)
	if err != nil {
		return u, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no user %.100q",
			routing.Param(r, "user")))
	}
	return u, wire.Actor(r.Context()).MayEditPerson(u.User, nil, a.Openings)
}

// addToTeam subscribes a team to a calendar of shifts or holidays. Administrators of the team may.
func (a subscriptions) addToTeam(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "url", "name", "kind", "role")
	if err != nil {
		return err
	}
	kind, err := b.Required("kind")
	if err != nil {
		return err
	}
	s := editing.CalendarSubscription{Kind: editing.SubscriptionKind(kind), TeamID: t.ID, Team: t.Name}
	known, err := a.Subscribed.OfTeam(r.Context(), t.ID)
	if err != nil {
		return err
	}
	switch s.Kind {
	case editing.KindShifts:
		if s.Role, err = a.role(r.Context(), b); err != nil {
			return err
		}
	case editing.KindHolidays:
		if b.Given("role") {
			return fault.Invalidf("role", "holidays have no role: leave it out")
		}
		if err := holidays(a).ownHolidays(r.Context(), t); err != nil {
			return err
		}
	default:
		return fault.Invalidf("kind", "the calendar of a team has shifts or holidays")
	}
	return a.add(w, r, s, b, known)
}

// role returns the stored spelling of the role that the body names.
func (a subscriptions) role(ctx context.Context, b jsonbody.Object) (string, error) {
	name, err := b.Required("role")
	if err != nil {
		return "", err
	}
	role, ok, err := a.RoleName(ctx, name)
	if err == nil && !ok {
		err = fault.Invalidf("role", "there is no role %q", name)
	}
	return role, err
}

// addToPerson subscribes a person to a calendar of the times in which they cannot be on call.
func (a subscriptions) addToPerson(w http.ResponseWriter, r *http.Request) error {
	u, err := a.owner(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "url", "name", "whole_days")
	if err != nil {
		return err
	}
	known, err := a.Subscribed.OfPerson(r.Context(), u.ID)
	if err != nil {
		return err
	}
	return a.add(w, r, editing.CalendarSubscription{Kind: editing.KindUnavailability, User: u.ID, UserName: u.Name,
		WholeDays: true}, b, known)
}

func (a subscriptions) add(w http.ResponseWriter, r *http.Request, s editing.CalendarSubscription, b jsonbody.Object, known []editing.CalendarSubscription) error {
	if len(known) >= editing.MaxSubscriptions {
		return fault.Newf(fault.Conflict,
			"there are already %d subscriptions, and no more are allowed: remove one first", len(known))
	}
	if _, err := b.Required("url"); err != nil {
		return err
	}
	return a.save(w, r, s, b, http.StatusCreated)
}

// save applies the fields of the body and stores the subscription.
func (a subscriptions) save(w http.ResponseWriter, r *http.Request, s editing.CalendarSubscription, b jsonbody.Object, status int) error {
	url, err := b.Text("url")
	name := jsonbody.Next(&err, b.Text, "name")
	if err != nil {
		return err
	}
	if url != "" || s.ID == 0 {
		if url, s.Host, err = editing.CalendarURL(url, a.PrivateCalendars); err != nil {
			return err
		}
	}
	if days, given, err := b.Flag("whole_days"); err != nil {
		return err
	} else if given {
		s.WholeDays = days
	}
	if s.Name, err = editing.CalendarTitle(cmp.Or(name, s.Name), s.Host); err != nil {
		return err
	}
	id, err := a.Subscriptions.Save(r.Context(), s, url, requests.By(r, nil))
	if err != nil {
		return err
	}
	s, err = a.Subscriptions.ByID(r.Context(), id)
	return routing.Reply(w, status, subscriptionObject(s), err)
}

// editable finds the subscription of the path. It refuses callers who may not change it: they must administer the team,
// or may edit the person.
func (a subscriptions) editable(r *http.Request) (editing.CalendarSubscription, error) {
	id, err := requests.ShiftID(r, "id")
	if err != nil {
		return editing.CalendarSubscription{}, err
	}
	s, err := a.Subscriptions.ByID(r.Context(), id)
	if err != nil {
		return s, err
	}
	actor := wire.Actor(r.Context())
	if s.TeamID != 0 {
		return s, cmp.Or(actor.MayUseOncall(true), actor.MayAdministerTeam(s.TeamID, s.Team))
	}
	return s, actor.MayEditPerson(users.User{ID: s.User, Name: s.UserName}, nil, a.Openings)
}

// change changes the fields that the body has. The calendar is read again.
func (a subscriptions) change(w http.ResponseWriter, r *http.Request) error {
	s, err := a.editable(r)
	if err != nil {
		return err
	}
	fields := []string{"url", "name"}
	if s.Kind == editing.KindUnavailability {
		fields = append(fields, "whole_days")
	}
	b, err := jsonbody.ReadKnown(w, r, fields...)
	if err != nil {
		return err
	}
	return a.save(w, r, s, b, http.StatusOK)
}

// remove ends a subscription and removes what came from it: future shifts that nobody changed by hand, holidays, or
// unavailability.
func (a subscriptions) remove(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	s, err := a.editable(r)
	if err != nil {
		return err
	}
	by := requests.By(r, nil)
	switch s.Kind {
	case editing.KindShifts:
		now, err := a.People.Clock(ctx)
		if err != nil {
			return err
		}
		if _, err := a.Imports.TakeOver(ctx, editing.ExternalCalendar{TeamID: s.TeamID, Role: s.Role, Since: now, Subscription: s.ID, Ended: true}, by, false); err != nil {
			return err
		}
	case editing.KindHolidays:
		team := oncall.Profile{ID: s.TeamID, TeamSettings: oncall.TeamSettings{Name: s.Team}}
		if err := a.Holidays.DropHolidays(ctx, team, by); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	case editing.KindUnavailability: // removed with the subscription
	}
	return routing.Done(w, http.StatusNoContent, a.Subscriptions.Drop(ctx, s, by))
}

// refresh makes a processor read the calendar within seconds.
func (a subscriptions) refresh(w http.ResponseWriter, r *http.Request) error {
	s, err := a.editable(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusAccepted, a.Subscriptions.Refresh(r.Context(), s.ID))
}

package planning

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
)

// Imports stores shifts from iCalendar texts.
type Imports interface {
	TakeOver(ctx context.Context, c editing.ExternalCalendar, by oncall.By, rehearse bool) (editing.CalendarImport,
		error)
}

// Subscriptions stores subscriptions of external calendars.
type Subscriptions interface {
	ByID(ctx context.Context, id int64) (editing.CalendarSubscription, error)
	// Save adds a subscription without an id, and changes one with an id. An empty URL stays as it is.
	Save(ctx context.Context, c editing.CalendarSubscription, url string, by oncall.By) (int64, error)
	Drop(ctx context.Context, c editing.CalendarSubscription, by oncall.By) error
	// Refresh makes a calendar due now.
	Refresh(ctx context.Context, id int64) error
}

// SubscriptionLists lists the subscriptions of teams and people.
type SubscriptionLists interface {
	OfTeam(ctx context.Context, team int64) ([]editing.CalendarSubscription, error)
	OfPerson(ctx context.Context, person users.ID) ([]editing.CalendarSubscription, error)
}

// Subscription is a calendar of another program that is read from a URL every hour, or the holidays of a country. The
// URL is never shown.
type Subscription struct {
	ID         int64                    `json:"id"`
	Kind       editing.SubscriptionKind `json:"kind" enum:"shifts,holidays,unavailability"`
	Team       operation.Text           `json:"team"`
	User       operation.Text           `json:"user"`
	Role       operation.Text           `json:"role" doc:"The role of the shifts; null = the calendar has no shifts."`
	Name       string                   `json:"name"`
	Host       string                   `json:"host" doc:"The host of the URL; empty for the holidays of a country."`
	Country    operation.Text           `json:"country" doc:"The code of the country whose holidays these are; null = the calendar has a URL."`
	WholeDays  bool                     `json:"whole_days" doc:"Only all-day events make the person unavailable."`
	State      string                   `json:"state" enum:"waiting,current,failing"`
	Problem    operation.Text           `json:"problem" doc:"Why the last reading failed. The results of the last successful reading stay in use."`
	Failures   int                      `json:"failures" doc:"Failed readings since the last success."`
	Events     int                      `json:"events" doc:"Shifts, days or times that the last reading used."`
	LeftOut    []string                 `json:"left_out" doc:"Events that it did not use, and why; at most 20."`
	ReadAt     *time.Time               `json:"read_at" nullable:"true"`
	NextReadAt time.Time                `json:"next_read_at"`
	CreatedBy  string                   `json:"created_by"`
	CreatedAt  time.Time                `json:"created_at"`
}

func subscriptionOf(s editing.CalendarSubscription) Subscription {
	out := Subscription{ID: s.ID, Kind: s.Kind, Team: operation.Text(s.Team), User: operation.Text(s.UserName),
		Role: operation.Text(s.Role), Name: s.Name, Host: s.Host, Country: operation.Text(s.Country), WholeDays: s.WholeDays, State: "current",
		Problem: operation.Text(s.Problem), Failures: s.Failures, Events: s.Events,
		LeftOut: append([]string{}, s.LeftOut...), NextReadAt: s.NextAt.UTC(), CreatedBy: s.CreatedBy,
		CreatedAt: s.CreatedAt.UTC()}
	switch {
	case s.Failures > 0:
		out.State = "failing"
	case s.ReadAt.IsZero():
		out.State = "waiting"
	}
	if !s.ReadAt.IsZero() {
		at := s.ReadAt.UTC()
		out.ReadAt = &at
	}
	return out
}

// CalendarOfTeam subscribes a team.
type CalendarOfTeam struct {
	users.OneTeam
	Body struct {
		URL     operation.Text           `json:"url" required:"false" doc:"The address of the calendar; not allowed with a country."`
		Name    operation.Text           `json:"name" required:"false"`
		Kind    editing.SubscriptionKind `json:"kind" doc:"shifts or holidays."`
		Role    operation.Text           `json:"role" required:"false" doc:"The role of the shifts. Required for shifts, not allowed for holidays."`
		Country operation.Text           `json:"country" required:"false" doc:"For holidays: the code of a country of /v1/holiday-countries, instead of a URL."`
	} `json:"body"`
}

// CalendarOfPerson subscribes a person.
type CalendarOfPerson struct {
	users.OnePerson
	Body struct {
		URL       string         `json:"url"`
		Name      operation.Text `json:"name" required:"false"`
		WholeDays *bool          `json:"whole_days,omitempty" doc:"Default: true."`
	} `json:"body"`
}

// OneSubscription names a subscription.
type OneSubscription struct {
	ID int64 `path:"id" json:"id"`
}

// SubscriptionEdit changes a subscription. What is left out stays.
type SubscriptionEdit struct {
	OneSubscription
	Body struct {
		URL       operation.Text `json:"url" required:"false"`
		Country   operation.Text `json:"country" required:"false" doc:"Of the holidays of a country only."`
		Name      operation.Text `json:"name" required:"false"`
		WholeDays *bool          `json:"whole_days,omitempty" doc:"Of a person only."`
	} `json:"body"`
}

// The operations on subscriptions.
var (
	TeamCalendars = operation.Define[users.OneTeam, operation.Page[Subscription]](operation.Doc{
		Name: "calendar-subscription.of-team", Method: http.MethodGet,
		Path: "/v1/teams/{team}/calendar-subscriptions", Needs: operation.Reader,
		Summary: "Calendars to which a team subscribes"})
	SubscribeTeam = operation.Define[CalendarOfTeam, Subscription](operation.Doc{
		Name: "calendar-subscription.add-to-team", Method: http.MethodPost,
		Path: "/v1/teams/{team}/calendar-subscriptions", Needs: operation.Member, Rule: operation.OfTeam,
		Audit:   []audit.Action{audit.CalendarSubscribed},
		Summary: "Subscribe a team to a calendar of shifts or holidays, or to the holidays of a country", Errors: []int{404, 409}})
	PersonCalendars = operation.Define[users.OnePerson, operation.Page[Subscription]](operation.Doc{
		Name: "calendar-subscription.of-person", Method: http.MethodGet,
		Path: "/v1/users/{user}/calendar-subscriptions", Needs: operation.Reader, Rule: operation.OfPerson,
		Summary: "Calendars of times in which a person cannot be on call"})
	SubscribePerson = operation.Define[CalendarOfPerson, Subscription](operation.Doc{
		Name: "calendar-subscription.add-to-person", Method: http.MethodPost,
		Path: "/v1/users/{user}/calendar-subscriptions", Needs: operation.Member, Rule: operation.OfPerson,
		Audit:   []audit.Action{audit.CalendarSubscribed},
		Summary: "Subscribe a person to a calendar of times in which they cannot be on call", Errors: []int{404, 409}})
	ChangeSubscription = operation.Define[SubscriptionEdit, Subscription](operation.Doc{
		Name: "calendar-subscription.change", Method: http.MethodPut, Path: "/v1/calendar-subscriptions/{id}",
		Needs: operation.Member, Rule: operation.OfPersonInTeam,
		Audit:   []audit.Action{audit.CalendarSubscriptionChanged},
		Summary: "Change a subscription; members that are left out stay", Note: "The calendar is read again."})
	Unsubscribe = operation.Define[OneSubscription, operation.None](operation.Doc{
		Name: "calendar-subscription.remove", Method: http.MethodDelete, Path: "/v1/calendar-subscriptions/{id}",
		Needs: operation.Member, Rule: operation.OfPersonInTeam,
		Audit:   []audit.Action{audit.CalendarUnsubscribed, audit.CalendarImported, audit.HolidaysDeleted},
		Summary: "End a subscription and remove what came from it",
		Note:    "Shifts that have begun, or were changed by hand, stay."})
	RefreshSubscription = operation.Define[OneSubscription, operation.None](operation.Doc{
		Name: "calendar-subscription.refresh", Method: http.MethodPost,
		Path: "/v1/calendar-subscriptions/{id}/refresh", Needs: operation.Member, Rule: operation.OfPersonInTeam,
		Status: http.StatusAccepted, Summary: "Read the calendar again within seconds", Errors: []int{404}})
)

func pageOfSubscriptions(found []editing.CalendarSubscription, err error) (operation.Page[Subscription], error) {
	var rows []Subscription
	for _, s := range found {
		rows = append(rows, subscriptionOf(s))
	}
	return whole(rows), err
}

func (p *Planning) teamCalendars(ctx context.Context, _ operation.Actor, of users.OneTeam) (out operation.Page[Subscription], err error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return out, err
	}
	return pageOfSubscriptions(p.deps.Subscribed.OfTeam(ctx, t.ID))
}

func (p *Planning) personCalendars(ctx context.Context, by operation.Actor, of users.OnePerson) (out operation.Page[Subscription], err error) {
	u, err := p.ownPerson(ctx, by, of.User)
	if err != nil {
		return out, err
	}
	return pageOfSubscriptions(p.deps.Subscribed.OfPerson(ctx, u.ID))
}

// ownPerson finds a person whom the caller may edit. Other callers do not learn whether the person exists.
func (p *Planning) ownPerson(ctx context.Context, by operation.Actor, name string) (oncall.Person, error) {
	u, err := p.deps.People.ByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return u, err
	}
	if err != nil {
		err = fault.Newf(fault.NotFound, "there is no user %.100q", name)
	}
	if refused := mayEdit(by, u.ID); refused != nil {
		return u, refused
	}
	return u, err
}

func (p *Planning) subscribeTeam(ctx context.Context, by operation.Actor, c CalendarOfTeam) (Subscription, error) {
	t, err := p.Own(ctx, by, c.Team)
	if err != nil {
		return Subscription{}, err
	}
	s := editing.CalendarSubscription{Kind: c.Body.Kind, TeamID: t.ID, Team: t.Name}
	switch s.Kind {
	case editing.KindShifts:
		role, err := p.deps.Finder.Role(ctx, string(c.Body.Role))
		if err != nil {
			return Subscription{}, fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", c.Body.Role))
		}
		s.Role = role.Name
	case editing.KindHolidays:
		if c.Body.Role != "" {
			return Subscription{}, fault.Invalidf("role", "holidays have no role: leave it out")
		}
		if err := p.notSubscribed(ctx, t); err != nil {
			return Subscription{}, err
		}
		s.Country = string(c.Body.Country)
	default:
		return Subscription{}, fault.Invalidf("kind", "kind must be shifts or holidays for the calendar of a team")
	}
	if s.Country != string(c.Body.Country) {
		return Subscription{}, fault.Invalidf("country", "a country has holidays only: leave it out, or choose the kind holidays")
	}
	known, err := p.deps.Subscribed.OfTeam(ctx, t.ID)
	if err != nil {
		return Subscription{}, err
	}
	return p.subscribe(ctx, by, s, string(c.Body.URL), string(c.Body.Name), len(known))
}

func (p *Planning) subscribePerson(ctx context.Context, by operation.Actor, c CalendarOfPerson) (Subscription, error) {
	u, err := p.ownPerson(ctx, by, c.User)
	if err != nil {
		return Subscription{}, err
	}
	known, err := p.deps.Subscribed.OfPerson(ctx, u.ID)
	if err != nil {
		return Subscription{}, err
	}
	return p.subscribe(ctx, by, editing.CalendarSubscription{Kind: editing.KindUnavailability, User: u.ID,
		UserName: u.Name, WholeDays: c.Body.WholeDays == nil || *c.Body.WholeDays}, c.Body.URL, string(c.Body.Name), len(known))
}

func (p *Planning) subscribe(ctx context.Context, by operation.Actor, s editing.CalendarSubscription, url, name string, known int) (Subscription, error) {
	if known >= editing.MaxSubscriptions {
		return Subscription{}, fault.Newf(fault.Conflict,
			"there are already %d subscriptions, and no more are allowed: remove one first", known)
	}
	return p.save(ctx, by, s, url, name)
}

// save stores a subscription. An empty url or name stays.
func (p *Planning) save(ctx context.Context, by operation.Actor, s editing.CalendarSubscription, url, name string) (Subscription, error) {
	var err error
	switch {
	case s.Country != "":
		country, err := editing.CountryNamed(s.Country)
		if err != nil {
			return Subscription{}, err
		}
		if url != "" {
			return Subscription{}, fault.Invalidf("url", "the holidays of a country have no address: leave it out, or leave out the country")
		}
		s.Name = cmp.Or(s.Name, country.Title())
	case url != "" || s.ID == 0:
		if url, s.Host, err = editing.CalendarURL(url, p.deps.PrivateCalendars); err != nil {
			return Subscription{}, err
		}
	}
	if s.Name, err = editing.CalendarTitle(cmp.Or(name, s.Name), s.Host); err != nil {
		return Subscription{}, err
	}
	id, err := p.deps.Subscriptions.Save(ctx, s, url, Author(by, nil))
	if err != nil {
		return Subscription{}, err
	}
	s, err = p.deps.Subscriptions.ByID(ctx, id)
	return subscriptionOf(s), err
}

// editable finds a subscription that the caller may change.
func (p *Planning) editable(ctx context.Context, by operation.Actor, id int64) (editing.CalendarSubscription, error) {
	s, err := p.deps.Subscriptions.ByID(ctx, id)
	switch {
	case err != nil:
		return s, err
	case s.TeamID != 0:
		return s, p.mayAdminister(ctx, by, s.TeamID, s.Team)
	}
	return s, mayEdit(by, s.User)
}

func (p *Planning) changeSubscription(ctx context.Context, by operation.Actor, e SubscriptionEdit) (Subscription, error) {
	s, err := p.editable(ctx, by, e.ID)
	if err != nil {
		return Subscription{}, err
	}
	if e.Body.WholeDays != nil {
		if s.Kind != editing.KindUnavailability {
			return Subscription{}, fault.Invalidf("whole_days", "whole_days is for the calendar of a person only: leave it out")
		}
		s.WholeDays = *e.Body.WholeDays
	}
	name := string(e.Body.Name)
	if country := string(e.Body.Country); country != "" && country != s.Country {
		if s.Country == "" {
			return Subscription{}, fault.Invalidf("country", "this calendar has an address: leave the country out, or add another subscription")
		}
		if before, err := editing.CountryNamed(s.Country); err == nil && s.Name == before.Title() {
			s.Name = ""
		}
		s.Country = country
	}
	return p.save(ctx, by, s, string(e.Body.URL), name)
}

// unsubscribe also removes what came from the calendar: future shifts that nobody changed by hand, holidays, or
// unavailability.
func (p *Planning) unsubscribe(ctx context.Context, by operation.Actor, one OneSubscription) (none operation.None, err error) {
	s, err := p.editable(ctx, by, one.ID)
	if err != nil {
		return none, err
	}
	who := Author(by, nil)
	switch s.Kind {
	case editing.KindShifts:
		now, err := p.deps.People.Clock(ctx)
		if err != nil {
			return none, err
		}
		if _, err := p.deps.Imports.TakeOver(ctx, editing.ExternalCalendar{TeamID: s.TeamID, Role: s.Role, Since: now, Subscription: s.ID, Ended: true}, who, false); err != nil {
			return none, err
		}
	case editing.KindHolidays:
		team := oncall.Profile{ID: s.TeamID, TeamSettings: oncall.TeamSettings{Name: s.Team}}
		if err := p.deps.Holidays.DropHolidays(ctx, team, who); err != nil && !fault.Is(err, fault.NotFound) {
			return none, err
		}
	case editing.KindUnavailability: // removed with the subscription
	}
	return none, p.deps.Subscriptions.Drop(ctx, s, who)
}

// refreshSubscription makes a processor read the calendar within seconds.
func (p *Planning) refreshSubscription(ctx context.Context, by operation.Actor, one OneSubscription) (none operation.None, err error) {
	s, err := p.editable(ctx, by, one.ID)
	if err != nil {
		return none, err
	}
	return none, p.deps.Subscriptions.Refresh(ctx, s.ID)
}

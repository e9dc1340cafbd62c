package updates

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
)

// Bounds.
const (
	MaxText = 2000 // characters of an update

	// MostOfPerson and MostOfObject are how many subscriptions a person has, and how many an incident, application or
	// team has.
	MostOfPerson = 100
	MostOfObject = 1000

	// MostPerHour is how many updates an incident can have in an hour.
	MostPerHour = 20

	shownSubscribers = 100 // of an audience

	lifetime = 24 * time.Hour // of a message that is not sent
	maxTitle = 100            // characters of the title of an incident in a subject
)

// State is what an update says about the incident. It does not change the state of the incident.
type State string

// The states.
const (
	Investigating State = "investigating"
	Identified    State = "identified"
	Monitoring    State = "monitoring"
	Resolved      State = "resolved"
)

// States are all states, in the order in which incidents have them.
var States = []State{Investigating, Identified, Monitoring, Resolved}

// Modes are the modes by which people get updates.
var Modes = []users.Mode{users.Email, users.Slack, users.Webhook}

// Update is an update that was sent.
type Update struct {
	ID         int64        `json:"id"`
	Incident   incidents.ID `json:"incident"`
	State      State        `json:"state" enum:"investigating,identified,monitoring,resolved"`
	Text       string       `json:"text"`
	Author     string       `json:"author"`
	Recipients int          `json:"recipients" doc:"How many people got it."`
	CreatedAt  time.Time    `json:"created_at"`

	Again bool `json:"-"` // the update existed already, and nothing was sent
}

// Made reports whether the operation made the update.
func (u Update) Made() bool { return !u.Again }

// Location is the address of the updates of the incident.
func (u Update) Location() string { return operation.Path(List.Path, u.Incident) }

// Posting sends an update.
type Posting struct {
	incidents.One
	Body Draft `json:"body"`
}

// Draft is an update that is not sent.
type Draft struct {
	State State  `json:"state" enum:"investigating,identified,monitoring,resolved" doc:"What the update says about the incident. It does not change the state of the incident."`
	Text  string `json:"text" doc:"At most 2000 characters. In e-mails it is Markdown."`
}

// Check implements operation.Checker.
func (p Posting) Check() error {
	var wrong fault.Wrong
	wrong.If(!slices.Contains(States, p.Body.State), "state", "state must be one of investigating, identified, monitoring and resolved")
	wrong.If(strings.TrimSpace(p.Body.Text) == "", "text", "text must not be empty")
	wrong.If(utf8.RuneCountInString(p.Body.Text) > MaxText, "text", "text has more than %d characters", MaxText)
	return wrong.Err()
}

// Subject is what a person subscribes to: exactly one of these.
type Subject struct {
	Incident    incidents.ID   `json:"incident,omitempty" minimum:"1" doc:"The number of an incident."`
	Application operation.Text `json:"application" required:"false" doc:"The name of an application: all its incidents."`
	Team        operation.Text `json:"team" required:"false" doc:"The name of a team: incidents that page it, and those of its plans and applications."`
}

// Wish is a subscription that is not stored.
type Wish struct {
	Subject
	Mode users.Mode `json:"mode" enum:"email,slack,webhook" doc:"How updates come. The person needs a contact for it."`
}

// Check implements operation.Checker.
func (w Wish) Check() error {
	var wrong fault.Wrong
	given := 0
	for _, is := range []bool{w.Incident != 0, w.Application != "", w.Team != ""} {
		if is {
			given++
		}
	}
	wrong.If(given != 1, "incident", "give exactly one of incident, application and team")
	wrong.If(!slices.Contains(Modes, w.Mode), "mode", "mode must be email, slack or webhook: updates never call and send no texts")
	return wrong.Err()
}

// UpdateSubscription says that a person gets updates.
type UpdateSubscription struct {
	ID     int64  `json:"id"`
	Person string `json:"person"`
	Subject
	Mode      users.Mode `json:"mode" enum:"email,slack,webhook"`
	CreatedAt time.Time  `json:"created_at"`

	UserID users.ID `json:"-"`
}

// Location is the address of the subscriptions of the person.
func (UpdateSubscription) Location() string { return Subscriptions.Path }

// One names a subscription.
type One struct {
	ID int64 `path:"id" json:"id"`
}

// Filter selects one's own subscriptions.
type Filter struct {
	operation.Paging
	Incident incidents.ID `query:"incident" json:"incident,omitempty" doc:"Only the subscription to this incident itself."`
}

// Subscriber is a person who gets the updates of an incident.
type Subscriber struct {
	Person  string     `json:"person"`
	Mode    users.Mode `json:"mode" enum:"email,slack,webhook"`
	Through string     `json:"through" enum:"incident,application,team" doc:"What the person subscribed to. The narrowest subscription decides about the mode."`
}

// ByMode is how many people get an update by a mode.
type ByMode struct {
	Mode   users.Mode `json:"mode" enum:"email,slack,webhook"`
	People int        `json:"people"`
}

// Audience is who would get an update of an incident now.
type Audience struct {
	People      int          `json:"people" doc:"How many people."`
	Modes       []ByMode     `json:"modes" doc:"How many people by each mode that somebody has."`
	Subscribers []Subscriber `json:"subscribers" doc:"At most 100 of the people, by name."`
}

// The operations on updates and subscriptions.
var (
	Post = operation.Define[Posting, Update](operation.Doc{Name: "update.post", Method: http.MethodPost,
		Path: "/v1/incidents/{id}/updates", Status: http.StatusOK, Needs: operation.Member, Rule: operation.Confined,
		Audit: []audit.Action{audit.UpdatePosted}, Summary: "Tell the subscribers of an incident something",
		Errors: []int{http.StatusConflict},
		Note:   "The update and its messages are durable before the answer. An update that equals the last one of the incident is not sent again (200). 409: the incident is merged into another one. 429: the incident had 20 updates in an hour, or too many messages of the application wait."})
	List = operation.Define[incidents.Part, operation.Page[Update]](operation.Doc{Name: "update.list",
		Method: http.MethodGet, Path: "/v1/incidents/{id}/updates", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "The updates of an incident, newest first"})
	Subscribers = operation.Define[incidents.One, Audience](operation.Doc{Name: "update.subscribers",
		Method: http.MethodGet, Path: "/v1/incidents/{id}/subscribers", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "Who would get an update of an incident now, and by which modes"})
	Subscribe = operation.Define[Wish, UpdateSubscription](operation.Doc{Name: "update-subscription.add",
		Method: http.MethodPost, Path: "/v1/update-subscriptions", Needs: operation.Reader, Rule: operation.Themselves,
		Audit: []audit.Action{audit.UpdatesSubscribed}, Summary: "Get updates about an incident, or about those of an application or team",
		Errors: []int{http.StatusConflict},
		Note:   "A second subscription to the same replaces the mode of the first."})
	Subscriptions = operation.Define[Filter, operation.Page[UpdateSubscription]](operation.Doc{Name: "update-subscription.list",
		Method: http.MethodGet, Path: "/v1/update-subscriptions", Needs: operation.Reader, Rule: operation.Themselves,
		Summary: "One's own subscriptions to updates, newest first"})
	Unsubscribe = operation.Define[One, operation.None](operation.Doc{Name: "update-subscription.remove",
		Method: http.MethodDelete, Path: "/v1/update-subscriptions/{id}", Needs: operation.Reader,
		Rule: operation.TheirOwn, Audit: []audit.Action{audit.UpdatesUnsubscribed}, Summary: "Get no more updates"})
)

// Outgoing is an update about to be stored. The notification has its text, and no recipients.
type Outgoing struct {
	Update
	Notification messages.Notification
}

// Store keeps updates and subscriptions. Each method is one transaction. An incident or subscription that does not exist
// is a NotFound fault, a name that does not exist an Invalid fault.
type Store interface {
	// PostUpdate stores an update and a message to each subscriber who is active, and returns the buckets of the messages. If the
	// last update of the incident has the same author, state and text, it returns that one. An incident that is merged into
	// another one is a Conflict fault. More than MostPerHour updates in an hour are ErrTooMany.
	PostUpdate(ctx context.Context, o Outgoing) (Update, buckets.Set, error)
	// Updates returns at most limit updates, newest first, with numbers below before; 0 = from the newest.
	Updates(ctx context.Context, id incidents.ID, before int64, limit int) ([]Update, error)
	// Subscribers returns everybody who would get an update, in the order of names.
	Subscribers(ctx context.Context, id incidents.ID) ([]Subscriber, error)
	// Subscribe returns the number of the subscription. Too many of them are a Conflict fault.
	Subscribe(ctx context.Context, person users.User, w Wish) (int64, error)
	// Subscriptions returns at most limit subscriptions of a person, newest first, with numbers below before; 0 = from the
	// newest. about 0 = of any incident, application and team.
	Subscriptions(ctx context.Context, person users.ID, about incidents.ID, before int64, limit int) ([]UpdateSubscription, error)
	Subscription(ctx context.Context, id int64) (UpdateSubscription, error)
	Unsubscribe(ctx context.Context, s UpdateSubscription, by string) error
}

// Deps are what Updates works on.
type Deps struct {
	Store        Store
	Incident     func(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Applications auth.Applications
	Load         notifications.Load
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
	// PublicURL is the address of the installation, without a final slash.
	PublicURL string
}

// Updates are the operations on updates and subscriptions. They are safe for concurrent use.
type Updates struct {
	Post          operation.Op[Posting, Update]
	List          operation.Op[incidents.Part, operation.Page[Update]]
	Subscribers   operation.Op[incidents.One, Audience]
	Subscribe     operation.Op[Wish, UpdateSubscription]
	Subscriptions operation.Op[Filter, operation.Page[UpdateSubscription]]
	Unsubscribe   operation.Op[One, operation.None]

	deps Deps
}

// New returns the operations.
func New(d Deps) *Updates {
	u := &Updates{deps: d}
	u.Post, u.List, u.Subscribers = Post.By(u.post), List.By(u.list), Subscribers.By(u.subscribers)
	u.Subscribe, u.Subscriptions, u.Unsubscribe = Subscribe.By(u.subscribe), Subscriptions.By(u.subscriptions), Unsubscribe.By(u.unsubscribe)
	return u
}

// find reads an incident that the caller reaches.
func (u *Updates) find(ctx context.Context, by operation.Actor, id incidents.ID) (incidents.Incident, error) {
	found, err := u.deps.Incident(ctx, id)
	return found, by.Reached(found.Application, err)
}

func (u *Updates) post(ctx context.Context, by operation.Actor, p Posting) (out Update, err error) {
	i, err := u.find(ctx, by, p.ID)
	if err != nil {
		return out, err
	}
	app, err := u.deps.Applications.ByName(ctx, i.Application)
	if err != nil {
		return out, err
	}
	if wait := u.deps.Load.Notifications(ctx, app); wait > 0 {
		return out, &fault.Error{Kind: fault.Throttled, RetryAfter: wait, Message: "Application " + app.Name +
			" has too many messages waiting", Detail: "nothing was stored; send it again later"}
	}
	text := strings.TrimSpace(strings.ReplaceAll(p.Body.Text, "\r\n", "\n"))
	o := Outgoing{Update: Update{Incident: i.ID, State: p.Body.State, Text: text, Author: by.Name},
		Notification: messages.Notification{ApplicationID: i.ApplicationID, Lifetime: lifetime}}
	o.Notification.Subject, o.Notification.Body = u.message(i, o.Update)
	out, woken, err := u.deps.Store.PostUpdate(ctx, o)
	if err != nil {
		return out, err
	}
	if !out.Again {
		u.deps.Load.Accepted(app.ID, out.Recipients)
		u.deps.Wake(ctx, woken)
	}
	return out, nil
}

// message is the text for subscribers. The title of the incident is in the subject only: the body is Markdown in mails,
// and alerts may be hostile.
func (u *Updates) message(i incidents.Incident, up Update) (subject, body string) {
	title := humanize.Shorten(strings.Join(strings.Fields(i.Title()), " "), maxTitle)
	return fmt.Sprintf("Update, %s: %s (incident %d)", up.State, title, i.ID),
		fmt.Sprintf("%s\n\nState: %s\n\n%s/incidents/%d\n\nYou get updates because you subscribed. End it here: %s/subscriptions",
			up.Text, up.State, u.deps.PublicURL, i.ID, u.deps.PublicURL)
}

func (u *Updates) list(ctx context.Context, by operation.Actor, p incidents.Part) (out operation.Page[Update], err error) {
	before, err := p.Before()
	if err != nil {
		return out, err
	}
	if _, err := u.find(ctx, by, p.ID); err != nil {
		return out, err
	}
	found, err := u.deps.Store.Updates(ctx, p.ID, before, p.Size()+1)
	return operation.PageOf(p.Paging, found, func(one Update) int64 { return one.ID }), err
}

func (u *Updates) subscribers(ctx context.Context, by operation.Actor, one incidents.One) (out Audience, err error) {
	if _, err := u.find(ctx, by, one.ID); err != nil {
		return out, err
	}
	found, err := u.deps.Store.Subscribers(ctx, one.ID)
	if err != nil {
		return out, err
	}
	out = Audience{People: len(found), Modes: []ByMode{}, Subscribers: []Subscriber{}}
	for _, mode := range Modes {
		n := 0
		for _, s := range found {
			if s.Mode == mode {
				n++
			}
		}
		if n > 0 {
			out.Modes = append(out.Modes, ByMode{mode, n})
		}
	}
	out.Subscribers = append(out.Subscribers, found[:min(len(found), shownSubscribers)]...)
	return out, nil
}

func (u *Updates) subscribe(ctx context.Context, by operation.Actor, w Wish) (out UpdateSubscription, err error) {
	if err := tokens.RequirePerson(by); err != nil {
		return out, err
	}
	id, err := u.deps.Store.Subscribe(ctx, users.User{ID: users.ID(by.Person), Name: by.Name}, w)
	if err != nil {
		return out, err
	}
	return u.deps.Store.Subscription(ctx, id)
}

func (u *Updates) subscriptions(ctx context.Context, by operation.Actor, f Filter) (out operation.Page[UpdateSubscription], err error) {
	if err := tokens.RequirePerson(by); err != nil {
		return out, err
	}
	before, err := f.Before()
	if err != nil {
		return out, err
	}
	found, err := u.deps.Store.Subscriptions(ctx, users.ID(by.Person), f.Incident, before, f.Size()+1)
	return operation.PageOf(f.Paging, found, func(s UpdateSubscription) int64 { return s.ID }), err
}

func (u *Updates) unsubscribe(ctx context.Context, by operation.Actor, one One) (none operation.None, err error) {
	if err := tokens.RequirePerson(by); err != nil {
		return none, err
	}
	s, err := u.deps.Store.Subscription(ctx, one.ID)
	if err == nil && int64(s.UserID) != by.Person && by.Role != operation.Admin {
		err = ErrNoSubscription(one.ID)
	}
	if err != nil {
		return none, err
	}
	return none, u.deps.Store.Unsubscribe(ctx, s, by.Name)
}

// ErrTooMany is the error for an update of an incident that had MostPerHour updates in the last hour.
func ErrTooMany(id incidents.ID, wait time.Duration) error {
	return &fault.Error{Kind: fault.Throttled, RetryAfter: wait, Message: fmt.Sprintf("incident %d had %d updates in an hour, which is the limit",
		id, MostPerHour), Detail: "nothing was sent; send it again later"}
}

// ErrNoSubscription is the error for a subscription that does not exist, or belongs to somebody else.
func ErrNoSubscription(id int64) error {
	return fault.Newf(fault.NotFound, "there is no subscription %d", id)
}

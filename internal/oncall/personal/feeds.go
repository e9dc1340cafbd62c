package personal

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// KeyStore stores the keys of calendar feeds. A key that does not exist is a NotFound fault.
type KeyStore interface {
	Keys(ctx context.Context, requester users.ID) ([]oncall.IcalKey, error)
	Key(ctx context.Context, key string) (oncall.IcalKey, error)
	KeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) (oncall.IcalKey, error)
	// NewKey replaces the key of the requester for a calendar.
	NewKey(ctx context.Context, requester users.ID, of oncall.IcalSubject) (string, error)
	DropKey(ctx context.Context, key string) error
	// DropKeyFor is no error if there is no key.
	DropKeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) error
	DropKeys(ctx context.Context, requester users.ID) (int64, error)
}

// FeedKey opens a calendar feed without log-in.
type FeedKey struct {
	Key string `json:"key" doc:"The feed is at /api/v0/ical/KEY. Everybody who has the key can read the calendar."`
}

// OpenedFeed is what a key opens.
type OpenedFeed struct {
	Requester string    `json:"requester" doc:"The person who made the key."`
	Kind      string    `json:"kind" enum:"user,team"`
	Name      string    `json:"name" doc:"The person or the team whose calendar it is."`
	CreatedAt time.Time `json:"created_at"`
}

func openedFeed(k oncall.IcalKey) OpenedFeed {
	out := OpenedFeed{Requester: k.Requester, Kind: "user", Name: k.Name, CreatedAt: k.CreatedAt.UTC()}
	if k.TeamID != 0 {
		out.Kind = "team"
	}
	return out
}

// Feed is a calendar feed that a person made.
type Feed struct {
	FeedKey
	OpenedFeed
}

// OneFeed names a feed.
type OneFeed struct {
	Key string `path:"key" json:"key"`
}

// The operations on calendar feeds.
var (
	ListFeeds = operation.Define[users.OnePerson, operation.Page[Feed]](operation.Doc{Name: "calendar-feed.list",
		Method: http.MethodGet, Path: "/v1/users/{user}/calendar-feeds", Needs: operation.Reader,
		Rule: operation.Themselves, Secret: true, Summary: "The calendar feeds that a person made"})
	RemoveFeeds = operation.Define[users.OnePerson, operation.None](operation.Doc{Name: "calendar-feed.remove-all",
		Method: http.MethodDelete, Path: "/v1/users/{user}/calendar-feeds", Needs: operation.Reader,
		Rule: operation.Themselves, Audit: []audit.Action{audit.CalendarFeedKeyDeleted},
		Summary: "Close all calendar feeds that a person made"})
	GetFeed = operation.Define[OneFeed, OpenedFeed](operation.Doc{Name: "calendar-feed.get",
		Method: http.MethodGet, Path: "/v1/calendar-feeds/{key}", Needs: operation.Reader, Rule: operation.Themselves,
		Summary: "Which calendar a key opens"})
	RemoveFeed = operation.Define[OneFeed, operation.None](operation.Doc{Name: "calendar-feed.remove",
		Method: http.MethodDelete, Path: "/v1/calendar-feeds/{key}", Needs: operation.Reader, Rule: operation.Themselves,
		Audit: []audit.Action{audit.CalendarFeedKeyDeleted}, Summary: "Close a calendar feed"})
	PersonFeed = operation.Define[users.OnePerson, FeedKey](operation.Doc{Name: "calendar-feed.of-person",
		Method: http.MethodGet, Path: "/v1/users/{user}/calendar-feed", Needs: operation.Reader,
		Rule: operation.InPerson, Secret: true, Summary: "The feed of a person's own calendar"})
	NewPersonFeed = operation.Define[users.OnePerson, FeedKey](operation.Doc{Name: "calendar-feed.new-of-person",
		Method: http.MethodPost, Path: "/v1/users/{user}/calendar-feed", Needs: operation.Reader,
		Rule: operation.InPerson, Secret: true, Audit: []audit.Action{audit.CalendarFeedKeyCreated},
		Summary: "Make a feed of a person's own calendar", Note: "An earlier key for it no longer works."})
	DropPersonFeed = operation.Define[users.OnePerson, operation.None](operation.Doc{Name: "calendar-feed.remove-of-person",
		Method: http.MethodDelete, Path: "/v1/users/{user}/calendar-feed", Needs: operation.Reader,
		Rule: operation.InPerson, Audit: []audit.Action{audit.CalendarFeedKeyDeleted},
		Summary: "Close the feed of a person's own calendar"})
	TeamFeed = operation.Define[users.OneTeam, FeedKey](operation.Doc{Name: "calendar-feed.of-team",
		Method: http.MethodGet, Path: "/v1/teams/{team}/calendar-feed", Needs: operation.Reader,
		Rule: operation.InPerson, Secret: true, Summary: "The caller's feed of a team's calendar"})
	NewTeamFeed = operation.Define[users.OneTeam, FeedKey](operation.Doc{Name: "calendar-feed.new-of-team",
		Method: http.MethodPost, Path: "/v1/teams/{team}/calendar-feed", Needs: operation.Reader,
		Rule: operation.InPerson, Secret: true, Audit: []audit.Action{audit.CalendarFeedKeyCreated},
		Summary: "Make a feed of a team's calendar for the caller", Note: "An earlier key of the caller for it no longer works.",
		Errors: []int{http.StatusNotFound}})
	DropTeamFeed = operation.Define[users.OneTeam, operation.None](operation.Doc{Name: "calendar-feed.remove-of-team",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/calendar-feed", Needs: operation.Reader,
		Rule: operation.InPerson, Audit: []audit.Action{audit.CalendarFeedKeyDeleted},
		Summary: "Close the caller's feed of a team's calendar"})
)

// The verbs of refusals, as clients of Oncall know them.
const (
	view   = "view"
	update = "update"
	remove = "delete"
)

func notAllowed(by operation.Actor, verb, of string) error {
	return auth.Unauthorized(`Action not allowed: "` + by.Name + `" is not allowed to ` + verb + ` ical_key of "` + of + `"`)
}

// administers reports whether the caller may use the feeds of everybody.
func administers(by operation.Actor) bool { return by.Role == operation.Admin }

// requester returns the caller as a person.
func (p *Personal) requester(ctx context.Context, by operation.Actor) (oncall.Person, error) {
	if by.Program || by.Service != 0 || by.Name == "" {
		return oncall.Person{}, auth.ErrPersonNeeded
	}
	u, err := p.deps.Finder.People.ByName(ctx, by.Name)
	return u, fault.When(err, fault.NotFound, auth.ErrPersonNeeded)
}

// keyOf returns the function of an operation on the caller's key for one calendar. subject finds the calendar for a
// verb.
func keyOf[In, Out any](p *Personal, subject func(ctx context.Context, by operation.Actor, me oncall.Person, in In, verb string) (oncall.IcalSubject, error),
	verb string, do func(ctx context.Context, me users.ID, of oncall.IcalSubject) (Out, error),
) func(context.Context, operation.Actor, In) (Out, error) {
	return func(ctx context.Context, by operation.Actor, in In) (out Out, err error) {
		me, err := p.requester(ctx, by)
		if err != nil {
			return out, err
		}
		of, err := subject(ctx, by, me, in, verb)
		if err != nil {
			return out, err
		}
		return do(ctx, me.ID, of)
	}
}

// ofPerson allows the caller's own calendar only.
func (p *Personal) ofPerson(ctx context.Context, by operation.Actor, me oncall.Person, of users.OnePerson, verb string) (oncall.IcalSubject, error) {
	u, err := p.deps.Finder.People.ByName(ctx, of.User)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return oncall.IcalSubject{}, err
	}
	if err != nil || u.ID != me.ID {
		return oncall.IcalSubject{}, notAllowed(by, verb, of.User)
	}
	return oncall.IcalSubject{User: me.ID}, nil
}

func (p *Personal) ofTeam(ctx context.Context, _ operation.Actor, _ oncall.Person, of users.OneTeam, _ string) (oncall.IcalSubject, error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, of.Team)
	return oncall.IcalSubject{TeamID: t.ID}, err
}

func (p *Personal) keyFor(ctx context.Context, me users.ID, of oncall.IcalSubject) (FeedKey, error) {
	key, err := p.deps.Keys.KeyFor(ctx, me, of)
	return FeedKey{key.Key}, err
}

func (p *Personal) newKey(ctx context.Context, me users.ID, of oncall.IcalSubject) (FeedKey, error) {
	key, err := p.deps.Keys.NewKey(ctx, me, of)
	return FeedKey{key}, err
}

func (p *Personal) dropKey(ctx context.Context, me users.ID, of oncall.IcalSubject) (none operation.None, err error) {
	return none, p.deps.Keys.DropKeyFor(ctx, me, of)
}

// known finds a key for its requester and administrators.
func (p *Personal) known(ctx context.Context, by operation.Actor, one OneFeed) (oncall.IcalKey, error) {
	key, err := p.deps.Keys.Key(ctx, one.Key)
	switch {
	case err != nil:
		return key, err
	case by.Program || by.Service != 0:
		return key, auth.ErrPersonNeeded
	case !administers(by) && int64(key.RequesterID) != by.Person:
		return key, auth.Unauthorized(`Action not allowed: "` + by.Name + `" is not an admin of ical_key`)
	}
	return key, nil
}

func (p *Personal) feed(ctx context.Context, by operation.Actor, one OneFeed) (OpenedFeed, error) {
	key, err := p.known(ctx, by, one)
	return openedFeed(key), err
}

func (p *Personal) removeFeed(ctx context.Context, by operation.Actor, one OneFeed) (none operation.None, err error) {
	key, err := p.known(ctx, by, one)
	if err != nil {
		return none, err
	}
	return none, p.deps.Keys.DropKey(ctx, key.Key)
}

// maker finds a person for themselves and administrators. Other callers do not learn whether the person exists.
func (p *Personal) maker(ctx context.Context, by operation.Actor, of users.OnePerson, verb string) (oncall.Person, error) {
	u, err := p.deps.Finder.People.ByName(ctx, of.User)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return u, err
	}
	name := u.Name
	if err != nil {
		name = of.User
	}
	switch {
	case by.Program || by.Service != 0:
		return u, auth.ErrPersonNeeded
	case !administers(by) && (err != nil || by.Person == 0 || int64(u.ID) != by.Person):
		return u, notAllowed(by, verb, name)
	}
	return u, err
}

func (p *Personal) feeds(ctx context.Context, by operation.Actor, of users.OnePerson) (out operation.Page[Feed], err error) {
	u, err := p.maker(ctx, by, of, view)
	if err != nil {
		return out, err
	}
	keys, err := p.deps.Keys.Keys(ctx, u.ID)
	out.Items = make([]Feed, len(keys))
	for i, k := range keys {
		out.Items[i] = Feed{FeedKey{k.Key}, openedFeed(k)}
	}
	return out, err
}

func (p *Personal) removeFeeds(ctx context.Context, by operation.Actor, of users.OnePerson) (none operation.None, err error) {
	u, err := p.maker(ctx, by, of, remove)
	if err == nil {
		_, err = p.deps.Keys.DropKeys(ctx, u.ID)
	}
	return none, err
}

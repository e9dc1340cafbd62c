package personal

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/users"
)

// PinStore stores the pinned teams of people.
type PinStore interface {
	// Pinned lists the names of pinned teams.
	Pinned(ctx context.Context, id users.ID) ([]string, error)
	// Pin returns a Conflict fault if the team is pinned already.
	Pin(ctx context.Context, id users.ID, team int64) error
	// Unpin returns a NotFound fault if the team is not pinned.
	Unpin(ctx context.Context, id users.ID, team int64) error
}

// Deps are the parts that the operations work on. All are required.
type Deps struct {
	Finder  calendaring.Finder
	Pins    PinStore
	Notices NoticeStore
	Keys    KeyStore
	People  PeopleStore
	// Callers finds the people whose settings a caller may change.
	Callers users.Callers
	// Modes are the modes in which people may be notified of shifts.
	Modes []users.Mode
	// Region is the country of phone numbers without a country code.
	Region users.Region
}

// Personal are the operations. They are safe for concurrent use.
type Personal struct {
	Shifts operation.Op[ShiftFilter, operation.Page[NextShift]]

	Reminders      operation.Op[users.OnePerson, operation.Page[Reminder]]
	AddReminder    operation.Op[NewReminder, MadeReminder]
	ChangeReminder operation.Op[ReminderEdit, operation.None]
	RemoveReminder operation.Op[OneReminder, operation.None]

	Pins  operation.Op[users.OnePerson, operation.Page[PinnedTeam]]
	Pin   operation.Op[TeamPin, operation.None]
	Unpin operation.Op[TeamPin, operation.None]

	Feeds          operation.Op[users.OnePerson, operation.Page[Feed]]
	RemoveFeeds    operation.Op[users.OnePerson, operation.None]
	Feed           operation.Op[OneFeed, OpenedFeed]
	RemoveFeed     operation.Op[OneFeed, operation.None]
	PersonFeed     operation.Op[users.OnePerson, FeedKey]
	NewPersonFeed  operation.Op[users.OnePerson, FeedKey]
	DropPersonFeed operation.Op[users.OnePerson, operation.None]
	TeamFeed       operation.Op[users.OneTeam, FeedKey]
	NewTeamFeed    operation.Op[users.OneTeam, FeedKey]
	DropTeamFeed   operation.Op[users.OneTeam, operation.None]

	deps Deps
}

// New returns the operations on the parts.
func New(d Deps) *Personal {
	p := &Personal{deps: d}
	p.Shifts = ListShifts.By(p.shifts)
	p.Reminders, p.AddReminder = ListReminders.By(p.reminders), AddReminder.By(p.addReminder)
	p.ChangeReminder, p.RemoveReminder = ChangeReminder.By(p.changeReminder), RemoveReminder.By(p.removeReminder)
	p.Pins, p.Pin, p.Unpin = ListPins.By(p.pins), PinTeam.By(p.pin), UnpinTeam.By(p.unpin)
	p.Feeds, p.RemoveFeeds = ListFeeds.By(p.feeds), RemoveFeeds.By(p.removeFeeds)
	p.Feed, p.RemoveFeed = GetFeed.By(p.feed), RemoveFeed.By(p.removeFeed)
	p.PersonFeed, p.TeamFeed = PersonFeed.By(keyOf(p, p.ofPerson, view, p.keyFor)), TeamFeed.By(keyOf(p, p.ofTeam, view, p.keyFor))
	p.NewPersonFeed, p.NewTeamFeed = NewPersonFeed.By(keyOf(p, p.ofPerson, update, p.newKey)), NewTeamFeed.By(keyOf(p, p.ofTeam, update, p.newKey))
	p.DropPersonFeed, p.DropTeamFeed = DropPersonFeed.By(keyOf(p, p.ofPerson, remove, p.dropKey)), DropTeamFeed.By(keyOf(p, p.ofTeam, remove, p.dropKey))
	return p
}

// person finds a person. It checks no permission.
func (p *Personal) person(ctx context.Context, name string) (oncall.Person, error) {
	u, err := p.deps.Finder.People.ByName(ctx, name)
	return u, fault.When(err, fault.NotFound, noPerson(name))
}

func noPerson(name string) error { return fault.Newf(fault.NotFound, "there is no user %.100q", name) }

// owner finds a person. It refuses callers who may not change the settings of that person.
func (p *Personal) owner(ctx context.Context, name string) (users.User, error) {
	u, err := p.deps.Callers.Editable(ctx, name, false)
	return u, fault.When(err, fault.NotFound, noPerson(name))
}

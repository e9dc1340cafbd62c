package oncallapi

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Users stores people.
type Users interface {
	All(ctx context.Context) ([]oncall.Person, error)
	Create(ctx context.Context, name string, by oncall.By) error
	Update(ctx context.Context, u oncall.Person, c oncall.PersonChange) error
	Remove(ctx context.Context, u oncall.Person, entirely bool, by oncall.By) (gone bool, err error)
	Search(ctx context.Context, keyword string, team int64) (oncall.SearchResult, error)
}

// Pins stores the pinned teams of people.
type Pins interface {
	Pinned(ctx context.Context, id users.ID) ([]string, error)
	Pin(ctx context.Context, id users.ID, team int64) error
	Unpin(ctx context.Context, id users.ID, team int64) error
}

// NoticeTypes lists the types of reminders and notices.
type NoticeTypes interface {
	Types(ctx context.Context) ([]oncall.NoticeType, error)
}

// Notices stores the notice settings of people.
type Notices interface {
	ByUser(ctx context.Context, user users.ID) ([]oncall.NoticeSetting, error)
	ByID(ctx context.Context, id int64) (oncall.NoticeSetting, error)
	Create(ctx context.Context, s oncall.NoticeSetting) (int64, error)
	Update(ctx context.Context, id int64, p oncall.NoticePatch) error
	Delete(ctx context.Context, id int64) error
}

// Keys stores feed keys.
type Keys interface {
	Keys(ctx context.Context, requester users.ID) ([]oncall.IcalKey, error)
	Key(ctx context.Context, key string) (oncall.IcalKey, error)
	KeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) (oncall.IcalKey, error)
	NewKey(ctx context.Context, requester users.ID, of oncall.IcalSubject) (string, error)
}

// KeyRemovals removes feed keys.
type KeyRemovals interface {
	DropKey(ctx context.Context, key string) error
	DropKeyFor(ctx context.Context, requester users.ID, of oncall.IcalSubject) error
	DropKeys(ctx context.Context, requester users.ID) (int64, error)
}

// Feeds reads the shifts of calendar feeds.
type Feeds interface {
	Feed(ctx context.Context, by oncall.FeedQuery) ([]oncall.FeedShift, error)
}

// PeopleDeps are the parts that the routes work on. All are required.
type PeopleDeps struct {
	requests.Requests
	Users       Users
	Pins        Pins
	NoticeTypes NoticeTypes
	Notices     Notices
	Keys        Keys
	KeyRemovals KeyRemovals
	Feeds       Feeds
	// Modes are the modes in which people may be notified of shifts.
	Modes []users.Mode
	// Region is the country of phone numbers without a country code.
	Region users.Region `optional:"true"`
}

// Each type serves the routes of one resource.
type (
	people   struct{ PeopleDeps }
	pins     struct{ PeopleDeps }
	notices  struct{ PeopleDeps }
	feedKeys struct{ PeopleDeps }
	feeds    struct{ PeopleDeps }
)

// PeopleRoutes returns the routes of this package.
func PeopleRoutes(d PeopleDeps) []routing.Route {
	return slices.Concat(people{d}.routes(), pins{d}.routes(), notices{d}.routes(), feedKeys{d}.routes(), feeds{d}.routes())
}

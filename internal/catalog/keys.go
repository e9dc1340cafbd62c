package catalog

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// Key is a key of an application.
type Key struct {
	Key string `json:"key" doc:"The application signs its requests with it."`
}

// noteKey is about all operations with keys.
const noteKey = "In a browser it needs a recent log-in. A token needs the scope admin."

// The operations on the keys of applications.
var (
	KeyOfApplication = operation.Define[OneApplication, Key](operation.Doc{Name: "application.key",
		Method: http.MethodGet, Path: "/v1/applications/{app}/key", Secret: true,
		Needs: operation.Member, Rule: operation.OfApplicationByPeople, Audit: []audit.Action{audit.ApplicationKeyRead},
		Summary: "The key of an application", Note: "404: it has none. " + noteKey})
	SecondaryKeyOfApplication = operation.Define[OneApplication, Key](operation.Doc{Name: "application.secondary-key",
		Method: http.MethodGet, Path: "/v1/applications/{app}/secondary-key", Secret: true,
		Needs: operation.Member, Rule: operation.OfApplicationByPeople, Audit: []audit.Action{audit.ApplicationKeyRead},
		Summary: "The secondary key of an application, which is valid during a rotation", Note: "404: it has none. " + noteKey})
	AddSecondaryKey = operation.Define[OneApplication, Key](operation.Doc{Name: "application.add-secondary-key",
		Method: http.MethodPost, Path: "/v1/applications/{app}/secondary-key", Secret: true,
		Needs: operation.Member, Rule: operation.OfApplicationByPeople, Audit: []audit.Action{audit.ApplicationSecondaryKeyAdded},
		Summary: "Begin a rotation: make a secondary key; the key stays valid", Errors: []int{409},
		Note: "409: it has a secondary key. " + noteKey})
	RotateKey = operation.Define[OneApplication, operation.None](operation.Doc{Name: "application.rotate-key",
		Method: http.MethodPost, Path: "/v1/applications/{app}/key/rotate", Status: http.StatusNoContent,
		Needs: operation.Member, Rule: operation.OfApplicationByPeople,
		Audit:   []audit.Action{audit.ApplicationSecondaryKeyMadeThePrimaryOne},
		Summary: "End a rotation: the secondary key becomes the key, and the old key is refused", Errors: []int{409, 422},
		Note: "409: it has no secondary key. " + noteKey})
)

// ownedByPerson is Owned for operations that refuse the keys of applications.
func (a *Applications) ownedByPerson(ctx context.Context, by operation.Actor, name string) (applications.Application, error) {
	if by.Program {
		return applications.Application{}, fault.New(fault.Unauthenticated,
			"log in as an owner of the application or an admin")
	}
	return a.Owned(ctx, by, name)
}

// withKeys is ownedByPerson for operations on keys, which service tokens may not use either.
func (a *Applications) withKeys(ctx context.Context, by operation.Actor, name string) (applications.Application, error) {
	if by.Session && by.Person == 0 {
		return applications.Application{}, users.ErrServiceToken
	}
	return a.ownedByPerson(ctx, by, name)
}

func (a *Applications) key(ctx context.Context, by operation.Actor, one OneApplication) (Key, error) {
	return a.readKey(ctx, by, one, "key", func(primary, _ string) string { return primary })
}

func (a *Applications) secondaryKey(ctx context.Context, by operation.Actor, one OneApplication) (Key, error) {
	return a.readKey(ctx, by, one, "secondary key", func(_, secondary string) string { return secondary })
}

// readKey returns one of the two keys of an application: which chooses it, and kind is its name in errors.
func (a *Applications) readKey(ctx context.Context, by operation.Actor, one OneApplication, kind string,
	which func(primary, secondary string) string,
) (Key, error) {
	found, err := a.withKeys(ctx, by, one.Application)
	if err != nil {
		return Key{}, err
	}
	primary, secondary, err := a.deps.Store.Key(ctx, found.ID)
	key := which(primary, secondary)
	if err == nil && key == "" {
		err = fault.Newf(fault.NotFound, "the application %s has no %s", found.Name, kind)
	}
	return Key{key}, err
}

func (a *Applications) addSecondaryKey(ctx context.Context, by operation.Actor, one OneApplication) (Key, error) {
	found, err := a.withKeys(ctx, by, one.Application)
	if err != nil {
		return Key{}, err
	}
	key, err := a.deps.Store.AddSecondary(ctx, found.ID, by.Name)
	return Key{key}, err
}

func (a *Applications) rotateKey(ctx context.Context, by operation.Actor, one OneApplication) (none operation.None, err error) {
	found, err := a.withKeys(ctx, by, one.Application)
	if err != nil {
		return none, err
	}
	return none, a.deps.Store.Rekey(ctx, found.ID, by.Name)
}

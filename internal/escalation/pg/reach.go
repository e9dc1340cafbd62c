package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// Reach implements delivery.Directory over Directory: how one user can be reached for an application.
type Reach struct {
	directory *Directory
}

// NewReach returns the adapter over d.
func NewReach(d *postgres.DB) *Reach { return &Reach{NewDirectory(d)} }

// Reach returns a user and what the application allows; ok is false when either does not exist.
func (r *Reach) Reach(ctx context.Context, user users.ID, application int64) (users.Responder, users.AppModes, bool, error) {
	key := users.ResponderKey{User: user, Application: application}
	people, err := r.directory.Responders(ctx, []users.ResponderKey{key})
	if err != nil {
		return users.Responder{}, users.AppModes{}, false, err
	}
	apps, err := r.directory.Applications(ctx, []int64{application})
	if err != nil {
		return users.Responder{}, users.AppModes{}, false, err
	}
	person, known := people[key]
	app, served := apps[application]
	return person, app.Modes, known && served, nil
}

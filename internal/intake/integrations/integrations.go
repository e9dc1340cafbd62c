// Package integrations has the operations on integrations and their heartbeats, and what answers show of them. It
// decides who may read and change them.
package integrations

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// One names an integration.
type One struct {
	Integration string `path:"integration" json:"integration"`
}

// Store stores integrations. Methods that change one check that it is as it was read; otherwise they return a Stale
// fault. A name that does not exist is a NotFound fault.
type Store interface {
	ByName(ctx context.Context, name string) (intake.Integration, error)
}

// Applications finds applications and their owners. A name that does not exist is a NotFound fault.
type Applications interface {
	auth.Applications
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Deps are the parts that the operations work on. All are required.
type Deps struct {
	Store        Store
	Heartbeats   HeartbeatStore
	Applications Applications
	Chooser      receiving.Chooser
}

// editable finds an integration that the caller may change: administrators, and owners of its application.
func (d Deps) editable(ctx context.Context, by operation.Actor, name string) (intake.Integration, error) {
	found, err := d.Store.ByName(ctx, name)
	if err != nil {
		if fault.Is(err, fault.NotFound) && by.Person == 0 && by.Role != operation.Admin {
			err = operation.ErrOwnerOnly // as for one that exists
		}
		return found, err
	}
	_, err = d.application(ctx, by, found.Application)
	return found, err
}

// application finds an application that the caller may change. It refuses other callers in the same way for an
// application that does not exist.
func (d Deps) application(ctx context.Context, by operation.Actor, name string) (auth.Application, error) {
	found, err := d.Applications.Describe(ctx, name)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return auth.Application{}, err
	case !catalog.MayEdit(by, found.OwnerIDs, found.Team):
		return auth.Application{}, operation.ErrOwnerOnly
	case err != nil:
		return auth.Application{}, fault.Invalidf("application", "there is no application %.100q", name)
	}
	return d.Applications.ByName(ctx, name)
}

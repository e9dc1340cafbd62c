package personal

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// PeopleStore stores people with the fields of the on-call API.
type PeopleStore interface {
	// Create returns a Conflict fault if the name exists.
	Create(ctx context.Context, name string, by oncall.By) error
	// Update returns a Conflict fault if a new name exists.
	Update(ctx context.Context, id users.ID, c oncall.PersonChange) error
	// Remove deletes the row of the person if entirely is true and nothing refers to it. Otherwise it switches the
	// person off, and takes them out of all rotations.
	Remove(ctx context.Context, u users.User, entirely bool, by oncall.By) error
}

// AddPerson adds a person who has only a name, as clients of Oncall do: administrators, and applications that may use
// the on-call API.
func (p *Personal) AddPerson(ctx context.Context, by operation.Actor, name string) error {
	if err := by.Require(operation.Member); err != nil {
		return err
	}
	if err := auth.MayManageOncall(by); err != nil {
		return err
	}
	return p.deps.People.Create(ctx, name, planning.Author(by, nil))
}

// ChangePerson changes settings and contacts of a person, as clients of Oncall do: the person, and those who may change
// the settings of the person. Only callers of AddPerson change a name: other people could choose a name like that of
// somebody else.
func (p *Personal) ChangePerson(ctx context.Context, by operation.Actor, name string, c oncall.PersonChange) error {
	u, err := p.owner(ctx, name)
	if err != nil {
		return err
	}
	contacts := map[users.Mode]string{}
	for mode, given := range c.Contacts {
		if !slices.Contains(users.Modes, mode) || mode == users.Drop {
			return fault.Invalidf("contacts", "%q is no contact mode", mode)
		}
		if given == "" {
			contacts[mode] = ""
			continue
		}
		if contacts[mode], err = p.deps.Region.Contact(mode, given); err != nil {
			return fault.Invalidf("contacts", "%s", fault.Public(err))
		}
	}
	c.Contacts, c.Trusted = contacts, users.Vouches(by, u.ID)
	if c.Name != nil && *c.Name == u.Name {
		c.Name = nil
	}
	if c.Name != nil && auth.MayManageOncall(by) != nil {
		return auth.Unauthorized("Action not allowed: only administrators rename users")
	}
	return p.deps.People.Update(ctx, u.ID, c)
}

// RemovePerson removes a person from teams and switches the person off, as clients of Oncall do. Callers of AddPerson
// delete the person if nothing else refers to them.
func (p *Personal) RemovePerson(ctx context.Context, by operation.Actor, name string) error {
	if err := by.Require(operation.Member); err != nil {
		return err
	}
	u, err := p.owner(ctx, name)
	if err != nil {
		return err
	}
	return p.deps.People.Remove(ctx, u, auth.MayManageOncall(by) == nil, planning.Author(by, nil))
}

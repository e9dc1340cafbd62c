package pages

import (
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, p *users.People, own *users.Preferences) {
	mount.Mount(a, p.List)
	mount.Mount(a, p.Add)
	mount.Mount(a, p.Get)
	mount.Mount(a, p.Change)
	mount.Mount(a, p.Delete)
	mount.Mount(a, p.Reachability)
	mount.Mount(a, own.Rules)
	mount.Mount(a, own.ReplaceRules)
	mount.Mount(a, own.Quiet)
	mount.Mount(a, own.ReplaceQuiet)
	mount.Mount(a, own.Shown)
	mount.Mount(a, own.ReplaceShown)
	mount.Mount(a, own.Modes)
	mount.Mount(a, own.ChooseModes)
	mount.Mount(a, own.Reprioritisations)
	mount.Mount(a, own.Reprioritisation)
	mount.Mount(a, own.SetReprioritisation)
	mount.Mount(a, own.RemoveReprioritisation)
	mount.Mount(a, own.Categories)
	mount.Mount(a, own.ChooseCategories)
	mount.Mount(a, own.ClearCategories)
	mount.Mount(a, own.FixedTexts)
	mount.Mount(a, own.ReplaceFixedTexts)
	mount.Mount(a, own.Devices)
	mount.Mount(a, own.Priorities)
}

// MountContacts adds the operations on contacts, whose callers are those of the calendar APIs.
func MountContacts(a *mount.API, c *users.Contacts) {
	mount.Mount(a, c.List)
	mount.Mount(a, c.Visible)
	mount.Mount(a, c.Set)
	mount.Mount(a, c.Remove)
	mount.Mount(a, c.Test)
	mount.Mount(a, c.SendCode)
	mount.Mount(a, c.Verify)
}

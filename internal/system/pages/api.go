package pages

import (
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, s *system.System) {
	mount.Mount(a, s.Members)
	mount.Mount(a, s.Handovers)
	mount.Mount(a, s.Queues)
	mount.Mount(a, s.Limits)
	mount.Mount(a, s.Vendors)
	mount.Mount(a, s.Unreached)
	mount.Mount(a, s.Contacts)
	mount.Mount(a, s.Settings)
	mount.Mount(a, s.Drain)
	mount.Mount(a, s.Pause)
	mount.Mount(a, s.Resume)
	mount.Mount(a, s.Purge)
	mount.Mount(a, s.Resend)
	mount.Mount(a, s.Statistics)
}

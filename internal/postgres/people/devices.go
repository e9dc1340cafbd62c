package people

import (
	"context"

	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Devices stores the phones that push messages are sent to. It implements push.Devices. It is safe for concurrent use.
type Devices struct{ db *postgres.DB }

// NewDevices returns the adapter.
func NewDevices(d *postgres.DB) *Devices { return &Devices{d} }

// Tokens returns the registrations of an active person's active devices, oldest first. An unknown name has none.
func (s *Devices) Tokens(ctx context.Context, person string) (tokens []string, err error) {
	return postgres.Query(ctx, s.db, (*db.Queries).DeviceTokens, postgres.Storable(person))
}

// SwitchOff deactivates a device that the push service reports as unregistered. Registering it again activates it.
func (s *Devices) SwitchOff(ctx context.Context, token string) error {
	return postgres.Exec(ctx, s.db, (*db.Queries).SwitchOffDevice, postgres.Storable(token))
}

package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Devices stores the phones that push messages are sent to. It implements push.Devices. It is safe for concurrent use.
type Devices struct{ db *postgres.DB }

// NewDevices returns the adapter.
func NewDevices(d *postgres.DB) *Devices { return &Devices{d} }

// Tokens returns the registrations of an active person's active devices, oldest first. An unknown name has none.
func (s *Devices) Tokens(ctx context.Context, person string) (tokens []string, err error) {
	return postgres.Query(ctx, s.db, (*postgresdb.Queries).DeviceTokens, postgres.Storable(person))
}

// SwitchOff deactivates a device that the push service reports as unregistered. Registering it again activates it.
func (s *Devices) SwitchOff(ctx context.Context, token string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		owners, err := q.SwitchOffDevice(ctx, postgres.Storable(token))
		for _, name := range owners {
			if err == nil {
				err = auditlog.Write(ctx, q, audit.Entry{Action: audit.DeviceSwitchedOff, Object: "user " + name,
					Detail: "the push service does not know it"})
			}
		}
		return err
	})
}

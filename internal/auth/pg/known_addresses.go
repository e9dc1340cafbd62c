package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// KeepAddress is how long an address is stored after the last log-in from it.
	KeepAddress = 90 * 24 * time.Hour
	// maxKnownAddresses bounds the addresses of a person.
	maxKnownAddresses = 20
)

// KnownAddresses stores the network addresses from which people logged in, for all processes of iris-api. The database
// has keyed hashes: a reader of the table learns no address. It is safe for concurrent use.
type KnownAddresses struct {
	db   *postgres.DB
	keys *auth.Keys
}

// NewKnownAddresses returns the addresses of an installation.
func NewKnownAddresses(d *postgres.DB, keys *auth.Keys) *KnownAddresses {
	return &KnownAddresses{d, keys}
}

// Known reports whether the person with this name logged in from the address during the last 90 days. The name is
// compared as people.Users.Credentials does. An unknown name has no known address.
func (k *KnownAddresses) Known(ctx context.Context, name, address string) (known bool, err error) {
	return postgres.Query(ctx, k.db, (*postgresdb.Queries).IsKnownAddress, postgresdb.IsKnownAddressParams{
		Name: postgres.Storable(name), Address: k.keys.AddressHash(address), KeepUs: KeepAddress.Microseconds(),
	})
}

// Remember records a log-in. It keeps the 20 addresses of a person that were used last.
func (k *KnownAddresses) Remember(ctx context.Context, id users.ID, address string) error {
	return postgres.Exec(ctx, k.db, (*postgresdb.Queries).RememberAddress, postgresdb.RememberAddressParams{
		UserID: id, Address: k.keys.AddressHash(address), Others: maxKnownAddresses - 1,
	})
}

package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

func TestRegisteredPhonesArePushContacts(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	s, dir := pg.NewDevices(e.DB), pgescalation.NewDirectory(e.DB)
	ana := users.ID(e.ID(`select id from users where name = 'ana'`))
	app := e.ID(`select min(id) from applications`)
	contact := func() string {
		t.Helper()
		key := users.ResponderKey{User: ana, Application: app}
		found, err := dir.Responders(t.Context(), []users.ResponderKey{key})
		require.NoError(t, err)
		return found[key].Contacts[users.Push]
	}
	tokens := func(name string) []string {
		t.Helper()
		found, err := s.Tokens(t.Context(), name)
		require.NoError(t, err)
		return found
	}
	require.Empty(t, contact())
	e.Exec(`insert into devices (registration_id, user_id, platform) values ('phone', $1, 'iOS'), ('tablet', $1, 'Android')`, int64(ana))
	require.Equal(t, "devices:ana", contact())
	require.Equal(t, []string{"phone", "tablet"}, tokens("ANA"))
	require.Empty(t, tokens("nobody\x00\xff"))

	// A message in mode push goes to all devices.
	e.Exec(`insert into application_modes (application_id, mode) values ($1, 'push') on conflict do nothing`, app)
	id := e.Open(e.Plan("push", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour}))
	e.Pass()
	e.Exec(`update messages set mode = 'push', available_at = clock_timestamp() - interval '1 minute' where incident_id = $1`, id)
	bucket := int(id % buckets.Count)
	epoch := e.ID(`update bucket_leases set owner = 'pusher', epoch = epoch + 1 where bucket = $1 returning epoch`,
		bucket)
	e.Exec(`insert into members (process_id, host, version, data_shape) values ('pusher', 'h', 'v', 1)`)
	taken, err := pgdelivery.New(e.DB).Take(t.Context(), delivery.TakeRequest{
		ProcessID: "pusher", Leases: []buckets.Lease{{Bucket: bucket, Epoch: epoch}}, ClaimFor: 5 * time.Second,
		Takes: []delivery.Take{{Lane: rate.Lane{Mode: users.Push,
			Application: e.ID(`select application_id from incidents where id = $1`, id)}, Max: 5,
			Buckets: []int{bucket}}},
	})
	require.NoError(t, err)
	require.Len(t, taken, 1)
	require.Equal(t, "devices:ana", taken[0].Destination)

	require.NoError(t, s.SwitchOff(t.Context(), "phone"))
	require.Equal(t, []string{"tablet"}, tokens("ana"))
	require.Equal(t, "devices:ana", contact())
	require.NoError(t, s.SwitchOff(t.Context(), "tablet"))
	require.NoError(t, s.SwitchOff(t.Context(), "unknown"))
	require.Empty(t, contact(), "without a phone there is no contact")
	e.Exec(`insert into user_contacts (user_id, mode, destination) values ($1, 'push', 'own-token')`, int64(ana))
	e.Exec(`update devices set active = true`)
	require.Equal(t, "own-token", contact(), "what was set by hand goes first")
	e.Exec(`update users set active = false where id = $1`, int64(ana))
	require.Empty(t, tokens("ana"))
}

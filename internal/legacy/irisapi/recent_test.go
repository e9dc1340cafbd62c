package irisapi_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// readApplications counts the reads of applications.
type readApplications struct {
	*pg.Applications
	reads atomic.Int32
}

func (r *readApplications) ByName(ctx context.Context, name string) (auth.Application, error) {
	r.reads.Add(1)
	return r.Applications.ByName(ctx, name)
}

// TestChangesOfAnApplicationActOnTheNextRequest: the application of a request is cached, but storing the request checks
// its version.
func TestChangesOfAnApplicationActOnTheNextRequest(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	for name, request := range map[string]struct{ path, body string }{
		"incident":     {"/v0/incidents", `{"plan":"pager","context":{"host":"a","extra":1}}`},
		"notification": {"/v0/notifications", `{"target":"ann","role":"user","subject":"s","body":"b","mode":"email"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apps, pending := &readApplications{}, fixedPending{}
			f := newFixture(t, func(p *parts) {
				p.Authenticator = wire.NewAuthenticator(apps, p.People, nil, "", wire.NewErrors(zap.NewNop()))
				p.Load = load.New(pending, zap.NewNop())
			})
			apps.Applications = pg.NewApplications(f.db, keys)
			demoApp, err := apps.Applications.ByName(t.Context(), "demo")
			require.NoError(t, err)
			pending[demoApp.ID] = 100
			send := func(key string) (status int, reads int32) {
				apps.reads.Store(0)
				status = f.do(caller{app: "demo", key: key}, post, request.path, request.body).Code
				return status, apps.reads.Load()
			}
			sends := func(key string, wantStatus int, wantReads int32, why string) {
				t.Helper()
				status, reads := send(key)
				require.Equal(t, []int{wantStatus, int(wantReads)}, []int{status, int(reads)}, why)
			}
			ok, _ := send("demo-key")
			require.Less(t, ok, 300)
			sends("demo-key", ok, 0, "the application is cached")

			require.NoError(t, apps.ReplaceKeys(t.Context(), demoApp.ID, "another-key"))
			sends("demo-key", 401, 1, "the key was replaced")
			sends("another-key", ok, 1, "the cached application has the old key")
			sends("another-key", ok, 0, "the new key is cached")

			settings, err := apps.Settings(t.Context(), demoApp.ID)
			require.NoError(t, err)
			settings.Variables = []string{"extra"}
			require.NoError(t, apps.SetSettings(t.Context(), demoApp.ID, settings))
			sends("another-key", ok, 1, "the variables were changed")
			if name == "incident" {
				var kept string
				require.NoError(t, f.db.Pool().QueryRow(t.Context(),
					"select context::text from incident_contexts order by incident_id desc").Scan(&kept))
				require.JSONEq(t, `{"extra":1}`, kept)
			}
			sends("another-key", ok, 0, "the new variables are cached")

			f.exec("update applications set name = 'renamed' where name = 'demo'")
			sends("another-key", 401, 1, "no application has the name")
			f.exec("update applications set name = 'demo' where name = 'renamed'")
			sends("another-key", ok, 1, "the application has its name again")
			sends("another-key", ok, 0, "cached again")

			f.exec("update applications set pending_cap = 1 where name = 'demo'")
			sends("another-key", 429, 1, "the limit of waiting messages was lowered")
			f.exec("update applications set pending_cap = 1000 where name = 'demo'")
			sends("another-key", ok, 1, "the limit was raised: a refusal does not rely on the cache")

			var stored int
			require.NoError(t, f.db.Pool().QueryRow(t.Context(),
				"select (select count(*) from incidents) + (select count(*) from notification_requests)").Scan(&stored))
			require.Equal(t, 9, stored, "each accepted request once")
		})
	}
}

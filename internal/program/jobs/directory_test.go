package jobs

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/directories"
	"github.com/iris-oncall/iris/internal/users/directory"
	pgpeople "github.com/iris-oncall/iris/internal/users/pg"
)

// holderOf holds the given leases.
type holderOf []buckets.Lease

func (h holderOf) ProcessID() string       { return "me" }
func (h holderOf) Leases() []buckets.Lease { return h }

// workspace is a Slack workspace with people of these names.
func workspace(t *testing.T, names ...string) *pretend.Slack {
	t.Helper()
	var members []pretend.SlackMember
	for _, n := range names {
		members = append(members, pretend.SlackMember{ID: "U" + n, Name: n, RealName: "The " + n, Email: n +
			"@example.com", Phone: "079 123 45 67"})
	}
	s := pretend.NewSlack(pretend.SlackConfig{Members: members, PageSize: 2}, nil)
	require.NoError(t, s.Start())
	t.Cleanup(s.Close)
	return s
}

func slackSync(t *testing.T, db *postgres.DB, s *pretend.Slack, holder holderOf) (*DirectorySync, *observer.ObservedLogs) {
	t.Helper()
	c := config.Sync{From: directory.Slack, Every: time.Hour, PhoneRegion: "CH", MaxGonePercent: 10}
	syncer, err := directories.Syncer(c, config.LDAP{}, []config.Slack{{Token: "xoxb-1", APIURL: s.URL()}})
	require.NoError(t, err)
	core, logs := observer.New(zap.InfoLevel)
	return NewDirectorySync(syncer, c.From, c.Every, pgpeople.NewDirectorySync(db, SyncActor),
		Engine{Leases: holder, Log: zap.New(core), Registerer: prometheus.NewRegistry()}), logs
}

func TestOneProcessSyncsPeopleFromSlack(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string) {
		_, err := db.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	text := func(sql string) (out string) {
		require.NoError(t, db.Pool().QueryRow(t.Context(), sql).Scan(&out))
		return out
	}
	const people = `select coalesce(string_agg(name || case when active then '' else ' off' end, ',' order by name), '') from users`
	exec(`update bucket_leases set owner = 'me', epoch = 7; insert into users (name) values ('operator')`)
	mine := holderOf{{Bucket: 0, Epoch: 7}, {Bucket: 3, Epoch: 7}}

	d, _ := slackSync(t, db, workspace(t, "ann", "bob", "cy", "dee", "eve"), holderOf{{Bucket: 3, Epoch: 7}})
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, "operator", text(people), "another process's business")
	d, _ = slackSync(t, db, workspace(t, "ann"), holderOf{{Bucket: 0, Epoch: 6}})
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, "operator", text(people), "a lease that was lost fences the work")

	d, logs := slackSync(t, db, workspace(t, "ann", "bob", "cy", "dee", "eve"), mine)
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, "ann,bob,cy,dee,eve,operator", text(people))
	require.Equal(t, "call +41791234567,email ann@example.com,slack ann,sms +41791234567",
		text(`select string_agg(mode || ' ' || destination, ',' order by mode) from user_contacts join users on id = user_id where name = 'ann'`))
	require.Equal(t, 1, logs.FilterMessage("directory sync done").Len())
	require.InDelta(t, 5, testutil.ToFloat64(d.changes.WithLabelValues("person", "add")), 0)

	d, _ = slackSync(t, db, workspace(t, "ann", "bob"), mine)
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, "ann,bob,cy,dee,eve,operator", text(people), "not before an hour is over")
	exec(`update directory_syncs set tried_at = now() - interval '61 minutes'`)
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, "ann,bob,cy off,dee off,eve off,operator", text(people), "whom Slack never had is left alone")

	exec(`update directory_syncs set tried_at = now() - interval '61 minutes'; update users set active = true`)
	d, logs = slackSync(t, db, workspace(t), mine)
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, "ann,bob,cy,dee,eve,operator", text(people))
	require.Equal(t, 1, logs.FilterMessage("directory sync stopped, nothing was changed").Len())
	exec(`update directory_syncs set tried_at = now() - interval '6 minutes'`)
	require.NoError(t, d.pass(t.Context()))
	require.Equal(t, 1, logs.FilterMessage("directory sync stopped, nothing was changed").Len(), "told once")
	require.InDelta(t, 2, testutil.ToFloat64(d.runs.WithLabelValues("stopped")), 0, "and looked at again sooner")

	s := workspace(t, "ann")
	s.Behave(pretend.Behaviour{Do: pretend.Fail, To: "lookup"})
	exec(`update directory_syncs set tried_at = now() - interval '6 minutes'`)
	d, _ = slackSync(t, db, s, mine)
	require.Error(t, d.pass(t.Context()))
	require.Equal(t, "ann,bob,cy,dee,eve,operator", text(people))
	require.InDelta(t, 1, testutil.ToFloat64(d.runs.WithLabelValues("failed")), 0)
}

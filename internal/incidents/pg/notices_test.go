package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/pg"
)

// mailed returns a group of which ana was paged by e-mail, and her incident.
func mailed(t *testing.T) (group, incidents.ID) {
	t.Helper()
	g := newGroup(t)
	g.plan = g.Plan("day", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "medium", Wait: time.Minute},
		pgtest.Intent{Step: 1, Role: "user", Target: "bo", Priority: "high", Wait: time.Minute})
	id := g.fire(alerts("a")).ID
	g.after(time.Second)
	g.Settle(int64(id), "sent")
	g.Exec(`update messages set settled_at = clock_timestamp()`)
	require.Equal(t, []string{"1.0.0 primary ana email sent", "1.1.0 primary bo sms sent"}, g.Pages(int64(id)))
	return g, id
}

// person resolves an incident, or undoes that.
func (g group) person(id incidents.ID, resolved bool, who string) {
	g.T.Helper()
	c := g.change(id)
	c.Actor = who
	_, err := g.in.Resolve(g.Ctx(), c, resolved)
	require.NoError(g.T, err)
}

func (g group) notices(id incidents.ID) (out []string) {
	for _, m := range g.Pages(int64(id)) {
		if m[:1] == "0" {
			out = append(out, m)
		}
	}
	return out
}

func TestPeopleWhoWerePagedAreNotifiedOfTheResolveOnce(t *testing.T) {
	t.Parallel()
	for name, resolve := range map[string]func(group, incidents.ID){
		"by a person": func(g group, id incidents.ID) { g.person(id, true, "cy") },
		"by the source": func(g group, _ incidents.ID) {
			_, found, err := g.in.ResolveByKey(g.Ctx(), g.request(alerts("-a")...), "day",
				incidents.Change{Actor: "application shop"})
			require.NoError(g.T, err)
			require.True(g.T, found)
		},
		"because there was no delivery": func(g group, id incidents.ID) {
			sender := g.ID(`insert into integrations (name, type, application_id, rate_per_minute, created_by)
				values ('probe', 'generic', $1, 600, 'ana') returning id`, g.App)
			g.Exec(`update incidents set integration_id = $2, created_at = created_at - interval '1 hour', updated_at = now() - interval '1 hour',
				delivered_at = now() - interval '1 hour' where id = $1`, int64(id), sender)
			ended, _, err := pg.NewEndings(g.DB).ResolveUndelivered(g.Ctx(), time.Minute, sender)
			require.NoError(g.T, err)
			require.Len(g.T, ended, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, id := mailed(t)
			resolve(g, id)
			require.Equal(t, incidents.StateResolved, g.state(id))
			require.Equal(t, []string{"0.0.0 resolved-notice ana email pending"}, g.notices(id))
			require.Equal(t, "notice: notifying of the resolve: ana by email", g.lastLine(id))
			require.Equal(t, int64(1), g.ID(`select count(*) from messages where purpose = 'resolved-notice' and class = 1 and priority = 'low'
				and available_at > clock_timestamp() and expires_at > clock_timestamp() and user_id = $1`, g.People["ana"]))
			g.after(time.Minute)
			require.Equal(t, []string{"0.0.0 resolved-notice ana email pending"}, g.notices(id),
				"the engine does not cancel it with the pages")
			g.person(id, true, "cy")
			require.Len(t, g.notices(id), 1, "resolved already")
		})
	}
}

func TestNobodyIsNotifiedWhenAnIncidentIsClosed(t *testing.T) {
	t.Parallel()
	g, id := mailed(t)
	g.Exec(`update incidents set created_at = now() - interval '3 hours', updated_at = now() - interval '2 hours' where id = $1`, int64(id))
	_, _, err := pg.NewEndings(g.DB).CloseQuiet(g.Ctx(), time.Hour, 0, nil)
	require.NoError(t, err)
	require.Equal(t, incidents.StateClosed, g.state(id))
	require.Empty(t, g.notices(id))
}

func TestUndoingAResolveCancelsItsNotices(t *testing.T) {
	t.Parallel()
	g, id := mailed(t)
	g.person(id, true, "ana")
	require.Empty(t, g.notices(id), "who resolves it knows it")
	g.person(id, false, "ana")
	g.person(id, true, "cy")
	g.person(id, false, "cy")
	require.Equal(t, []string{"0.0.0 resolved-notice ana email cancelled"}, g.notices(id))
	require.Contains(t, g.Timeline(int64(id)), "cancelled: one notice was not sent: the incident has changed")

	g.person(id, true, "cy")
	require.Equal(t, []string{"0.0.0 resolved-notice ana email cancelled", "0.0.1 resolved-notice ana email pending"},
		g.notices(id))
	g.Exec(`update messages set state = 'sent', settled_at = clock_timestamp() where state = 'pending'`)
	g.person(id, false, "cy")
	g.person(id, true, "cy")
	require.Len(t, g.notices(id), 2, "she was notified already, and was not paged since")

	g.person(id, false, "cy")
	_, err := g.in.Reopen(g.Ctx(), g.change(id))
	require.NoError(t, err)
	g.after(time.Second)
	require.NotContains(t, g.Pages(int64(id)), "0.0.0 tracking ana email pending", "the engine repeats no notice")
	g.Exec(`update messages set state = 'sent', settled_at = clock_timestamp() + interval '1 second' where state = 'pending' or purpose = 'primary'`)
	g.person(id, true, "cy")
	require.Equal(t, "0.0.2 resolved-notice ana email pending/1", g.notices(id)[2], "paged again")
}

func TestAPlanChoosesTheModesOfNotices(t *testing.T) {
	t.Parallel()
	g, id := mailed(t)
	g.Exec(`update plans set settings = '{"resolved_notice": {"email": false, "sms": true}}' where id = $1`, g.plan)
	g.person(id, true, "cy")
	require.Equal(t, []string{"0.0.0 resolved-notice bo sms pending"}, g.notices(id))
}

func TestTheOwnerIsNotifiedOfNews(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.Exec(`update plans set settings = '{"notify_owner": "slack"}' where id = $1`, g.plan)
	id := g.fire(alerts("a")).ID
	g.fire(alerts("a", "b"))
	g.acknowledge(id)
	require.Empty(t, g.notices(id), "nobody owned it")
	g.after(time.Second)
	g.fire(alerts("a", "b"))
	require.Empty(t, g.notices(id), "the delivery has no news")

	g.fire(alerts("a", "b", "c"))
	require.Equal(t, []string{"0.0.0 owner-notice ana slack pending"}, g.notices(id))
	require.Equal(t, "notice: notifying the owner of the news: ana by slack", g.lastLine(id))
	require.Equal(t, "updated: news; nobody is paged again", g.Timeline(int64(id))[len(g.Timeline(int64(id)))-2])
	g.after(time.Minute)
	g.fire(alerts("a", "b", "c", "d"))
	require.Equal(t, []string{"0.0.0 owner-notice ana slack pending"}, g.notices(id),
		"the one that waits will have the latest news")
	g.Exec(`update messages set state = 'sent', settled_at = clock_timestamp() - interval '2 minutes' where state = 'pending'`)
	g.fire(alerts("a", "b", "c", "d", "e"))
	require.Equal(t, []string{"0.0.0 owner-notice ana slack sent", "0.0.1 owner-notice ana slack pending"},
		g.notices(id))
	require.Regexp(t, `notifying the owner of the news: ana by slack in (3 min|2 min \d+ s) \(at most every 5 min\)$`,
		g.lastLine(id))
	require.Equal(t, int64(1), g.ID(`select count(*) from messages where available_at between clock_timestamp() + interval '1 minute' and clock_timestamp() + interval '3 minutes'`))

	g.resolve("a", "b", "c", "d", "e")
	require.Equal(t, "0.0.1 owner-notice ana slack cancelled", g.notices(id)[1], "the incident is over")
}

func TestAHigherSeverityIsNews(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.Exec(`update plans set settings = '{"notify_owner": "email"}' where id = $1`, g.plan)
	id := g.fire(alerts("a")).ID
	g.acknowledge(id)
	n := g.request(alerts("a")...)
	_, err := g.in.Update(g.Ctx(), id, incidents.Delivery{Context: n.Context, Facts: n.DedupFacts, Alerts: n.Alerts,
		Late: g.late, Severity: "warning", Text: "the severity fell from critical to warning"})
	require.NoError(t, err)
	require.Equal(t, "updated: the severity fell from critical to warning; nobody is paged again", g.lastLine(id))
	require.Empty(t, g.notices(id), "a lower severity is no news")
	_, err = g.in.Update(g.Ctx(), id, incidents.Delivery{Context: n.Context, Facts: n.DedupFacts, Alerts: n.Alerts,
		Late: g.late, Severity: "critical", Rose: true,
		Text: "the severity rose from warning to critical"})
	require.NoError(t, err)
	require.Equal(t, []string{"0.0.0 owner-notice ana email pending"}, g.notices(id))
	g.snooze(id)
	g.fire(alerts("a", "b"))
	require.Equal(t, []string{"0.0.0 owner-notice ana email cancelled"}, g.notices(id), "a snooze is quiet")
}

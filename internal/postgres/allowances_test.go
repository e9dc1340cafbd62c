package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

func addRule(e *escalating, user, from, to string, count int) {
	e.t.Helper()
	e.exec(`insert into user_reprioritizations (user_id, source_mode, destination_mode, count, window_seconds) values ($1, $2, $3, $4, 60)`,
		e.people[user], from, to, count)
}

func TestPeopleWhoGetTooMuchAreToldAnotherWay(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	addRule(e, "ana", "sms", "slack", 2)
	addRule(e, "ana", "slack", "email", 1)
	addRule(e, "ana", "email", "sms", 1) // a circle
	plan := e.plan("many", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	var ids []int64
	for range 4 {
		ids = append(ids, e.open(plan))
	}
	e.pass()
	e.later(time.Second)
	ids = append(ids, e.open(plan))
	e.pass()
	modes := ""
	for _, id := range ids {
		modes += e.text(`select mode || case when mode_changed then '!' else '' end from messages where incident_id = $1`, id) + " "
	}
	require.Equal(t, "sms sms slack! email! email! ", modes)
	require.Contains(t, e.timeline(ids[2]), "limited: paging ana by slack instead of sms: too many by sms of late, by their own rule")
	require.Equal(t, "mode-change sms slack Changing mode due to reprioritization", e.text(`select format('%s %s %s %s', change_type, old, new, description)
		from message_changes c join messages m on m.id = c.message_id where m.incident_id = $1`, ids[2]))
	e.later(2 * time.Minute)
	after := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(after), "long after")

	// Who cannot be reached there, or in a mode that the application may not use, is told as before.
	e.exec(`delete from user_contacts where user_id = $1 and mode = 'slack'`, e.people["ana"])
	for range 3 {
		after = e.open(plan)
		e.pass()
	}
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(after))
}

func setQuota(e *escalating, hard, soft int) {
	e.t.Helper()
	plan := e.plan("breach", intent{step: 1, role: "user", target: "boss", priority: "high"})
	e.exec(`insert into plan_active (name_key, plan_id) values ('breach', $1)`, plan)
	e.exec(`insert into application_quotas (application_id, hard_threshold, soft_threshold, hard_seconds, soft_seconds, plan_key, target_id, wait_seconds)
		values ($1, $2, $3, 60, 60, 'breach', (select target_id from users where name = 'boss'), 3600)`, e.app, hard, soft)
}

func TestAQuotaTellsAndDrops(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	setQuota(e, 3, 2)
	plan := e.plan("spam", intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour})
	var ids []int64
	for range 5 {
		ids = append(ids, e.open(plan))
		e.pass()
	}
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(ids[2]))
	require.Equal(t, []string{"1.0.0 primary ana drop pending"}, e.pages(ids[3]))
	require.Contains(t, e.timeline(ids[3]), "limited: the page to ana by sms is DROPPED: application shop exceeds its hard quota of 3 messages within 1 min", "P8")
	require.Equal(t, "sms drop Dropping due to hard quota violation.", e.text(`select format('%s %s %s', old, new, description)
		from message_changes c join messages m on m.id = c.message_id where m.incident_id = $1`, ids[3]))

	require.Equal(t, "boss email iris Application shop exceeding message quota t", e.text(`select format('%s %s %s %s %s', m.target, m.mode, a.name, r.subject, r.bare)
		from messages m join notification_requests r on r.id = m.request_id join applications a on a.id = m.application_id`), "once in half an hour")
	require.Equal(t, `iris breach {"quota_breach":{"application":"shop","duration":60,"limit":3}}`, e.text(`select format('%s %s %s', a.name, p.name, c.context)
		from incidents i join applications a on a.id = i.application_id join plans p on p.id = i.plan_id join incident_contexts c on c.incident_id = i.id
		where a.name = 'iris'`), "one incident, as long as nobody has claimed it")

	e.later(2 * time.Minute)
	after := e.open(plan)
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.pages(after), "it goes on as soon as the quota allows")

	// Claimed, but too soon for another one; then not.
	breach := e.id(`select max(i.id) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`)
	e.acknowledge(breach)
	for range 3 {
		e.open(plan)
		e.pass()
	}
	require.Equal(t, int64(1), e.id(`select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`))
	e.later(2 * time.Hour)
	for range 4 {
		e.open(plan)
		e.pass()
	}
	require.Equal(t, int64(2), e.id(`select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`))

	// Nobody claims the second one: it stands in the way of a third, and says so, now and then.
	breach = e.id(`select max(i.id) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`)
	require.NotContains(t, strings.Join(e.timeline(breach), "\n"), "again")
	e.later(2 * time.Hour)
	for range 5 {
		e.open(plan)
		e.pass()
	}
	require.Equal(t, int64(2), e.id(`select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`))
	require.Equal(t, 1, strings.Count(strings.Join(e.timeline(breach), "\n"), "limited: application shop exceeds its hard quota again"))
	e.later(2 * time.Hour)
	for range 4 {
		e.open(plan)
		e.pass()
	}
	require.Equal(t, 2, strings.Count(strings.Join(e.timeline(breach), "\n"), "limited: application shop exceeds its hard quota again"))
}

// The quota is the cluster's and exact, whoever makes the messages, and the most urgent are the last to be dropped.
func TestAQuotaCountsWhatEverybodyMakes(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	setQuota(e, 4, 100)
	notifications := postgres.NewNotifications(e.db)
	for range 3 {
		_, err := notifications.Create(e.ctx(), messages.Notification{ApplicationID: e.app, Subject: "s", Body: "b", Lifetime: time.Hour,
			Recipients: []messages.NotificationRecipient{{Recipient: messages.ToUser(users.ID(e.people["ana"])), UserID: users.ID(e.people["ana"]), Target: "ana", Mode: users.Email}}})
		require.NoError(t, err)
	}
	plan := e.plan("mixed", intent{step: 1, role: "user", target: "ana", priority: "low", wait: time.Hour},
		intent{step: 1, role: "user", target: "bo", priority: "urgent", wait: time.Hour})
	id := e.open(plan)
	e.now = time.Now().UTC()
	e.pass()
	require.Equal(t, []string{"1.0.0 primary ana drop pending", "1.1.0 primary bo call pending"}, e.pages(id))
	_, err := notifications.Create(e.ctx(), messages.Notification{ApplicationID: e.app, Subject: "s", Body: "b", Lifetime: time.Hour,
		Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral("x@example.com"), Target: "x@example.com", Literal: "x@example.com", Mode: users.Email}}})
	require.NoError(t, err)
	require.Equal(t, "drop", e.text(`select mode from messages where literal = 'x@example.com'`))
	require.Equal(t, messages.QuotaDropText, e.text(`select c.description from message_changes c join messages m on m.id = c.message_id where m.literal = 'x@example.com'`))
}

func TestAStandardQuotaBearsOnThoseWithoutTheirOwn(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	store := postgres.NewNotifications(e.db).WithQuota(&postgres.StandardQuota{Quota: messages.Quota{HardLimit: 1, HardWithin: time.Minute}, Target: "Boss"})
	iris := e.id(`select id from applications where name = 'iris'`)
	for _, app := range []int64{e.app, iris} {
		for range 2 {
			_, err := store.Create(e.ctx(), messages.Notification{ApplicationID: app, Subject: "s", Lifetime: time.Hour,
				Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral("x"), Target: "x", Literal: "x", Mode: users.Email}}})
			require.NoError(t, err)
		}
	}
	require.Equal(t, "shop drop, shop email, iris email, iris email", e.text(`select string_agg(a.name || ' ' || m.mode, ', ' order by a.name desc, m.mode)
		from messages m join applications a on a.id = m.application_id`))
}

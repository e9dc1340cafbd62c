package pg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/users"
)

func addRule(e *pgtest.Escalating, user, from, to string, count int) {
	e.T.Helper()
	e.Exec(`insert into user_reprioritizations (user_id, source_mode, destination_mode, count, window_seconds) values ($1, $2, $3, $4, 60)`,
		e.People[user], from, to, count)
}

func TestReprioritisationSendsExcessMessagesInAnotherMode(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	addRule(e, "ana", "sms", "slack", 2)
	addRule(e, "ana", "slack", "email", 1)
	addRule(e, "ana", "email", "sms", 1) // the rules form a cycle
	plan := e.Plan("many", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	var ids []int64
	for range 4 {
		ids = append(ids, e.Open(plan))
	}
	e.Pass()
	e.Later(time.Second)
	ids = append(ids, e.Open(plan))
	e.Pass()
	modes := ""
	for _, id := range ids {
		modes += e.Text(`select mode || case when mode_changed then '!' else '' end from messages where incident_id = $1`, id) + " "
	}
	require.Equal(t, "sms sms slack! email! email! ", modes)
	require.Contains(t, e.Timeline(ids[2]),
		"limited: paging ana by slack instead of sms: too many by sms recently, by their own rule")
	require.Equal(t, "mode-change sms slack Changing mode due to reprioritization",
		e.Text(`select format('%s %s %s %s', change_type, old, new, description)
		from message_changes c join messages m on m.id = c.message_id where m.incident_id = $1`, ids[2]))
	e.Later(2 * time.Minute)
	after := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(after), "long after")

	// A person who has no contact in the new mode, or whose application may not use it, gets messages in the old mode.
	e.Exec(`delete from user_contacts where user_id = $1 and mode = 'slack'`, e.People["ana"])
	for range 3 {
		after = e.Open(plan)
		e.Pass()
	}
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(after))
}

func setQuota(e *pgtest.Escalating, hard, soft int) {
	e.T.Helper()
	plan := e.Plan("breach", pgtest.Intent{Step: 1, Role: "user", Target: "boss", Priority: "high"})
	e.Exec(`insert into plan_active (name_key, plan_id) values ('breach', $1)`, plan)
	e.Exec(`insert into application_quotas (application_id, hard_threshold, soft_threshold, hard_seconds, soft_seconds, plan_key, target_id, wait_seconds)
		values ($1, $2, $3, 60, 60, 'breach', (select target_id from users where name = 'boss'), 3600)`, e.App, hard, soft)
}

func TestAQuotaNotifiesAtTheSoftLimitAndDropsAtTheHardLimit(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	setQuota(e, 3, 2)
	plan := e.Plan("spam", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	var ids []int64
	for range 5 {
		ids = append(ids, e.Open(plan))
		e.Pass()
	}
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(ids[2]))
	require.Equal(t, []string{"1.0.0 primary ana drop pending"}, e.Pages(ids[3]))
	require.Contains(t, e.Timeline(ids[3]),
		"limited: the page to ana by sms is DROPPED: application shop exceeds its hard quota of 3 messages within 1 min", "P8")
	require.Equal(t, "sms drop Dropping due to hard quota violation.",
		e.Text(`select format('%s %s %s', old, new, description)
		from message_changes c join messages m on m.id = c.message_id where m.incident_id = $1`, ids[3]))

	require.Equal(t, "boss email iris Application shop exceeding message quota t",
		e.Text(`select format('%s %s %s %s %s', m.target, m.mode, a.name, r.subject, r.bare)
		from messages m join notification_requests r on r.id = m.request_id join applications a on a.id = m.application_id`), "once in half an hour")
	require.Equal(t, `iris breach {"quota_breach":{"application":"shop","duration":60,"limit":3}}`,
		e.Text(`select format('%s %s %s', a.name, p.name, c.context)
		from incidents i join applications a on a.id = i.application_id join plans p on p.id = i.plan_id join incident_contexts c on c.incident_id = i.id
		where a.name = 'iris'`), "one incident, as long as nobody has claimed it")

	e.Later(2 * time.Minute)
	after := e.Open(plan)
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, e.Pages(after),
		"it goes on as soon as the quota allows")

	// The first breach is acknowledged. A second incident is opened only after some time.
	breach := e.ID(`select max(i.id) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`)
	e.Acknowledge(breach)
	for range 3 {
		e.Open(plan)
		e.Pass()
	}
	require.Equal(t, int64(1), e.ID(`select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`))
	e.Later(2 * time.Hour)
	for range 4 {
		e.Open(plan)
		e.Pass()
	}
	require.Equal(t, int64(2), e.ID(`select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`))

	// Nobody acknowledges the second breach. It prevents a third incident, and gets a timeline entry from time to time.
	breach = e.ID(`select max(i.id) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`)
	require.NotContains(t, strings.Join(e.Timeline(breach), "\n"), "again")
	e.Later(2 * time.Hour)
	for range 5 {
		e.Open(plan)
		e.Pass()
	}
	require.Equal(t, int64(2), e.ID(`select count(*) from incidents i join applications a on a.id = i.application_id where a.name = 'iris'`))
	require.Equal(t, 1, strings.Count(strings.Join(e.Timeline(breach), "\n"),
		"limited: application shop exceeds its hard quota again"))
	e.Later(2 * time.Hour)
	for range 4 {
		e.Open(plan)
		e.Pass()
	}
	require.Equal(t, 2, strings.Count(strings.Join(e.Timeline(breach), "\n"),
		"limited: application shop exceeds its hard quota again"))
}

// The quota counts exactly over the whole cluster. The most urgent messages are dropped last.
func TestAQuotaCountsTheMessagesOfAllProcesses(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	setQuota(e, 4, 100)
	notifications := pg.New(e.DB)
	for range 3 {
		_, err := notifications.Create(e.Ctx(), messages.Notification{ApplicationID: e.App, Subject: "s", Body: "b",
			Lifetime: time.Hour,
			Recipients: []messages.NotificationRecipient{{Recipient: messages.ToUser(users.ID(e.People["ana"])),
				UserID: users.ID(e.People["ana"]), Target: "ana", Mode: users.Email}}})
		require.NoError(t, err)
	}
	plan := e.Plan("mixed", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "low", Wait: time.Hour},
		pgtest.Intent{Step: 1, Role: "user", Target: "bo", Priority: "urgent", Wait: time.Hour})
	id := e.Open(plan)
	e.Now = time.Now().UTC()
	e.Pass()
	require.Equal(t, []string{"1.0.0 primary ana drop pending", "1.1.0 primary bo call pending"}, e.Pages(id))
	_, err := notifications.Create(e.Ctx(), messages.Notification{ApplicationID: e.App, Subject: "s", Body: "b",
		Lifetime: time.Hour,
		Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral("x@example.com"),
			Target: "x@example.com", Literal: "x@example.com", Mode: users.Email}}})
	require.NoError(t, err)
	require.Equal(t, "drop", e.Text(`select mode from messages where literal = 'x@example.com'`))
	require.Equal(t, messages.QuotaDropText,
		e.Text(`select c.description from message_changes c join messages m on m.id = c.message_id where m.literal = 'x@example.com'`))
}

func TestTheStandardQuotaAppliesToApplicationsWithoutTheirOwn(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	store := pg.New(e.DB).WithQuota(&pgdelivery.StandardQuota{Quota: messages.Quota{HardLimit: 1,
		HardWithin: time.Minute}, Target: "Boss"})
	iris := e.ID(`select id from applications where name = 'iris'`)
	for _, app := range []int64{e.App, iris} {
		for range 2 {
			_, err := store.Create(e.Ctx(), messages.Notification{ApplicationID: app, Subject: "s", Lifetime: time.Hour,
				Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral("x"), Target: "x",
					Literal: "x", Mode: users.Email}}})
			require.NoError(t, err)
		}
	}
	require.Equal(t, "shop drop, shop email, iris email, iris email",
		e.Text(`select string_agg(a.name || ' ' || m.mode, ', ' order by a.name desc, m.mode)
		from messages m join applications a on a.id = m.application_id`))
}

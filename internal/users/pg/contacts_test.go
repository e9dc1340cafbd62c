package pg_test

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

type contactsFixture struct {
	*testing.T
	db       *postgres.DB
	users    *pgusers.Users
	people   *pgusers.OncallPeople
	contacts *pgusers.Contacts
	answers  *pg.Responses
	keys     *auth.Keys
}

func newContacts(t *testing.T) *contactsFixture {
	t.Helper()
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	db := pgtest.New(t)
	return &contactsFixture{t, db, pgusers.NewUsers(db), pgusers.NewOncallPeople(db),
		pgusers.NewContacts(db, keys, pgnotifications.New(db)), pg.NewResponses(db), keys}
}

// add creates a person with an address that an administrator set.
func (f *contactsFixture) add(name string) users.User {
	f.Helper()
	u, err := f.users.Create(f.Context(), pgusers.NewUser{Name: name,
		Contacts: map[users.Mode]string{users.Email: name + "@example.com"}})
	require.NoError(f, err)
	return u
}

// choose changes a contact as the person themself.
func (f *contactsFixture) choose(u users.User, mode users.Mode, destination string) error {
	f.Helper()
	p, err := f.people.ByName(f.Context(), u.Name)
	require.NoError(f, err)
	return f.people.Update(f.Context(), p.ID, oncall.PersonChange{Contacts: map[users.Mode]string{mode: destination}})
}

// is requires that a reply from a contact is attributed to a person; "" = nobody.
func (f *contactsFixture) is(name string, mode users.Mode, source string) {
	f.Helper()
	u, err := f.answers.ByContact(f.Context(), mode, source)
	if name == "" {
		require.Equal(f, fault.NotFound, fault.KindOf(err), "%s %s is %s", mode, source, u.Name)
		return
	}
	require.NoError(f, err, "%s %s", mode, source)
	require.Equal(f, name, u.Name)
}

func (f *contactsFixture) exec(sql string, args ...any) {
	f.Helper()
	_, err := f.db.Pool().Exec(f.Context(), sql, args...)
	require.NoError(f, err)
}

// A contact that a person set does not identify the person until they enter the code.
func TestAContactThatAPersonSetsIsVerifiedByACode(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	ctx := t.Context()
	eve, ann := f.add("eve"), f.add("ann")
	f.is("eve", users.Email, "EVE@example.com")
	require.NoError(t, f.users.SetContact(ctx, ann.ID, users.SMS, "+1 555 010 0001"))
	f.is("ann", users.SMS, "+1 (555) 010-0001")
	f.is("ann", users.Call, "+15550100001")

	// eve enters ann's number: eve's pages go to that number, but replies from it still count as ann's.
	require.NoError(t, f.choose(eve, users.SMS, "+15550100001"))
	f.is("ann", users.SMS, "+15550100001")
	require.NoError(t, f.choose(eve, users.Email, "other@example.com"))
	f.is("", users.Email, "other@example.com")
	f.is("", users.Email, "eve@example.com")
	require.Equal(t, fault.Conflict, fault.KindOf(f.contacts.Confirm(ctx, eve.ID, users.SMS)), "ann has it")

	require.NoError(t, f.contacts.SendCode(ctx, "iris", eve.ID, users.Email))
	var body, destination string
	require.NoError(t, f.db.Pool().QueryRow(ctx,
		`select r.body, m.recipient from notification_requests r join messages m on m.request_id = r.id`).Scan(&body, &destination))
	require.Contains(t, destination, "other@example.com")
	require.NotRegexp(t, `[^0-9a-f][0-9]{8}[^0-9a-f]`, body, "the stored text does not show the code")
	require.Equal(t, body, f.keys.RevealTo(body, "eve@example.com"), "a mark is opened for its destination only")
	shown := f.keys.RevealTo(body, "other@example.com")
	code := regexp.MustCompile(`is ([0-9]{8})\.`).FindStringSubmatch(shown)
	require.Len(t, code, 2, shown)
	var leaked int
	require.NoError(t, f.db.Pool().QueryRow(ctx,
		`select count(*) from contact_codes c where c::text like '%' || $1 || '%'`, code[1]).Scan(&leaked))
	require.Zero(t, leaked, "the code is stored hashed")

	err := f.contacts.SendCode(ctx, "iris", eve.ID, users.Email)
	require.Equal(t, fault.Throttled, fault.KindOf(err), "one a minute")
	require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.Verify(ctx, eve.ID, users.Email, "000")))
	require.Equal(t, fault.Conflict, fault.KindOf(f.contacts.Verify(ctx, ann.ID, users.SMS, code[1])),
		"it is verified already")
	require.NoError(t, f.contacts.Verify(ctx, eve.ID, users.Email, " "+code[1]+" "))
	f.is("eve", users.Email, "other@example.com")
	require.Equal(t, fault.Conflict, fault.KindOf(f.contacts.Verify(ctx, eve.ID, users.Email, code[1])),
		"it is verified already")

	// Saving the same contact again keeps it verified; saving another contact does not.
	require.NoError(t, f.choose(eve, users.Email, "Other@example.com"))
	f.is("eve", users.Email, "other@example.com")
	require.NoError(t, f.choose(eve, users.Email, "third@example.com"))
	f.is("", users.Email, "third@example.com")
	require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.Verify(ctx, eve.ID, users.Email, code[1])),
		"a code is for one contact")
}

func TestCodesAreLimitedAndExpire(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	ctx := t.Context()
	eve, kim := f.add("eve"), f.add("kim")
	require.NoError(t, f.choose(eve, users.SMS, "+15550100009"))
	require.NoError(t, f.choose(kim, users.Call, "+15550100009"))
	for range 5 {
		require.NoError(t, f.contacts.SendCode(ctx, "iris", eve.ID, users.SMS))
		f.exec("update contact_codes set created_at = created_at - interval '2 minutes'")
	}
	require.Equal(t, fault.Throttled, fault.KindOf(f.contacts.SendCode(ctx, "iris", eve.ID, users.SMS)), "five an hour")
	require.Equal(t, fault.Throttled, fault.KindOf(f.contacts.SendCode(ctx, "iris", kim.ID, users.Call)),
		"to one number, whoever asks")

	code := func() string {
		var body string
		require.NoError(t, f.db.Pool().QueryRow(ctx,
			`select body from notification_requests order by id desc limit 1`).Scan(&body))
		return regexp.MustCompile(`is ([0-9]{8})\.`).FindStringSubmatch(f.keys.RevealTo(body, "+15550100009"))[1]
	}
	for range 5 {
		require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.Verify(ctx, eve.ID, users.SMS, "wrong")))
	}
	require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.Verify(ctx, eve.ID, users.SMS, code())),
		"after five attempts")
	f.exec("update contact_codes set created_at = created_at - interval '1 day', attempts = 0")
	require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.Verify(ctx, eve.ID, users.SMS, code())),
		"after fifteen minutes")
	require.NoError(t, f.contacts.SendCode(ctx, "iris", eve.ID, users.SMS))
	require.NoError(t, f.contacts.Verify(ctx, eve.ID, users.SMS, code()))
	f.is("eve", users.Call, "+15550100009")
	require.Equal(t, fault.Conflict, fault.KindOf(f.contacts.Confirm(ctx, kim.ID, users.Call)),
		"one number is one person's, for texts and calls")
	require.Equal(t, fault.NotFound, fault.KindOf(f.contacts.SendCode(ctx, "iris", eve.ID, users.Slack)))
	require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.SendCode(ctx, "iris", eve.ID, users.Webhook)))
}

// A release that does not know the column for verified contacts can still write contacts. They are not verified, and no
// constraint refuses them.
func TestAnEarlierReleaseSetsContacts(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	ann, bob := f.add("ann"), f.add("bob")
	const set = `insert into user_contacts (user_id, mode, destination) values ($1, $2, $3)
		on conflict (user_id, mode) do update set destination = excluded.destination`
	f.exec(set, ann.ID, "email", "bob@example.com")
	f.is("bob", users.Email, "bob@example.com")
	f.is("", users.Email, "ann@example.com")
	f.exec(set, bob.ID, "email", "new@example.com")
	require.NoError(t, f.contacts.Confirm(t.Context(), ann.ID, users.Email))
	f.exec(set, bob.ID, "email", "bob@example.com")
	f.is("ann", users.Email, "bob@example.com")
}

// Mailboxes take precedence over contacts, and a contact cannot be a mailbox.
func TestAContactDoesNotReplaceAMailbox(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	eve := f.add("eve")
	f.exec(`insert into incident_emails (email, application_id, plan_key) select 'Page@example.com', id, 'pager' from applications limit 1`)
	require.Equal(t, fault.Invalid, fault.KindOf(f.choose(eve, users.Email, "page@example.com")))
	require.Equal(t, fault.Invalid, fault.KindOf(f.users.SetContact(t.Context(), eve.ID, users.Email,
		"PAGE@example.com")))
	f.exec(`update user_contacts set destination = 'page@example.com'`) // a contact that was set before the mailbox
	require.Equal(t, fault.Invalid, fault.KindOf(f.contacts.Confirm(t.Context(), eve.ID, users.Email)))
	box, opens, err := f.answers.Mailbox(t.Context(), []string{"page@example.com"})
	require.NoError(t, err)
	require.True(t, opens, "the mail opens an incident")
	require.Equal(t, "pager", box.Plan)
}

// The recipient of a message may answer from its destination, even if that contact is not verified.
func TestQuotedMessagesIdentifyTheirRecipient(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	eve := f.add("eve")
	f.exec(`insert into notification_requests (id, application_id) overriding system value select 7, id from applications limit 1`)
	var id int64
	require.NoError(t, f.db.Pool().QueryRow(t.Context(), `with m as (
		insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, state, settled_at)
		select 7, 7, a.id, 'user:' || $1::bigint, $1, 'eve', 1, 'sms', 'sent', clock_timestamp() from applications a limit 1 returning id)
		insert into message_contents (message_id, destination, subject, body) select id, '+1 555 010 0009', '', 'b' from m returning message_id`, eve.ID).Scan(&id))
	u, err := f.answers.ByMessage(t.Context(), messages.ID(id), users.Call, "+15550100009")
	require.NoError(t, err)
	require.Equal(t, "eve", u.Name)
	for source, mode := range map[string]users.Mode{"+15550100008": users.SMS, "": users.SMS, "+1 555 010 0009": users.Email} {
		_, err = f.answers.ByMessage(t.Context(), messages.ID(id), mode, source)
		require.Equal(t, fault.NotFound, fault.KindOf(err), source)
	}
	f.exec("update users set active = false")
	_, err = f.answers.ByMessage(t.Context(), messages.ID(id), users.SMS, "+15550100009")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

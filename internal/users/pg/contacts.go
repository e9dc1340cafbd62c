package pg

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Limits of codes that verify contacts.
const (
	codeLife     = 15 * time.Minute
	codeAttempts = 5 // of one code
	codePause    = time.Minute
	codesAnHour  = 5 // to one person, and to one contact
	codesADay    = 10
)

// Limits of test messages.
const (
	testPause   = 15 * time.Second // to one contact
	testsAnHour = 20               // of one person
	testsADay   = 10               // to one contact
)

// errMailbox refuses a contact whose mail would open incidents.
var errMailbox = fault.Invalidf("email",
	"this address is an application's incident mailbox and cannot be somebody's contact")

// setContact stores a contact of a person; "" deletes it. A contact that the caller verified (trusted) counts as
// verified unless another person has it. It runs in a transaction.
func setContact(ctx context.Context, q *postgresdb.Queries, id users.ID, mode users.Mode, destination string, trusted bool) error {
	destination = strings.TrimSpace(destination)
	if destination == "" {
		return q.RemoveContact(ctx, postgresdb.RemoveContactParams{UserID: id, Mode: mode})
	}
	if mode == users.Email {
		taken, err := q.ContactIsMailbox(ctx, destination)
		if err != nil {
			return err
		}
		if taken {
			return errMailbox
		}
	}
	if trusted = trusted && users.Identifies(mode); trusted {
		holder, err := contactHolder(ctx, q, id, mode, destination)
		if err != nil {
			return err
		}
		trusted = holder == ""
	}
	return q.SetContact(ctx, postgresdb.SetContactParams{UserID: id, Mode: mode, Destination: destination,
		Verified: trusted})
}

// contactHolder returns the name of another person who has verified the contact; "" = nobody. Until the transaction
// ends, nobody else can verify it.
func contactHolder(ctx context.Context, q *postgresdb.Queries, id users.ID, mode users.Mode, destination string) (string, error) {
	if err := q.LockContacts(ctx, postgresdb.LockContactsParams{Mode: string(mode), Destination: destination}); err != nil {
		return "", err
	}
	holder, err := q.ContactHolder(ctx, postgresdb.ContactHolderParams{UserID: id, Mode: string(mode),
		Destination: destination})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return holder, err
}

// notifier stores the notification that carries a code.
type notifier interface {
	Create(ctx context.Context, n messages.Notification) (request int64, err error)
}

// Contacts verifies the contacts of people. It is safe for concurrent use.
type Contacts struct {
	db            *postgres.DB
	keys          *auth.Keys
	notifications notifier
}

// NewContacts returns a store of contacts. notifications deliver the codes; with nil, SendCode must not be called.
func NewContacts(db *postgres.DB, keys *auth.Keys, notifications notifier) *Contacts {
	return &Contacts{db: db, keys: keys, notifications: notifications}
}

// List returns the contacts of a person in the order of the modes.
func (c *Contacts) List(ctx context.Context, id users.ID) ([]users.Contact, error) {
	rows, err := postgres.Query(ctx, c.db, (*postgresdb.Queries).ContactsWithMarks, id)
	return postgres.Convert(rows, func(r postgresdb.ContactsWithMarksRow) users.Contact { return users.Contact(r) }), err
}

// Set stores the contact of a person in a mode; "" removes it. A contact that the caller verified (trusted) counts as
// verified unless another person has it. A contact that a directory gave is a Conflict fault.
func (c *Contacts) Set(ctx context.Context, id users.ID, to users.Contact, trusted bool, by string) error {
	return auditlog.Change(ctx, c.db, auditlog.User(id), audit.Entry{Actor: by, Action: audit.ContactSet}, func(ctx context.Context, q *postgresdb.Queries) error {
		switch now, err := contactIn(ctx, q, id, to.Mode); {
		case fault.Is(err, fault.NotFound) && to.Destination != "":
		case err != nil:
			return err
		case now.Managed:
			return fault.Newf(fault.Conflict, "a directory gives this %s contact: change it there", to.Mode)
		}
		return setContact(ctx, q, id, to.Mode, postgres.Storable(to.Destination), trusted)
	})
}

// SendTest sends a test message to a contact of a person on behalf of the application with that name, and returns the number of its
// notification. A Throttled fault when too many were sent.
func (c *Contacts) SendTest(ctx context.Context, application string, u users.User, mode users.Mode, by string) (int64, error) {
	sender, err := postgres.Query(ctx, c.db, (*postgresdb.Queries).ApplicationID, application)
	if err != nil {
		return 0, err
	}
	var destination string
	err = c.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		to, err := contactIn(ctx, q, u.ID, mode)
		if err != nil {
			return err
		}
		destination = to.Destination
		if err := q.LockContacts(ctx, postgresdb.LockContactsParams{Mode: "code", Destination: fmt.Sprint(u.ID)}); err != nil {
			return err
		}
		sent, err := q.TestsSent(ctx, postgresdb.TestsSentParams{UserID: u.ID, Mode: string(mode),
			Destination: destination})
		if err != nil {
			return err
		}
		age := time.Duration(sent.NewestSeconds * float64(time.Second))
		switch {
		case age < testPause:
			return tooManyTests("a moment ago", testPause-age)
		case sent.Hour >= testsAnHour:
			return tooManyTests("in the last hour", time.Hour)
		case sent.Day >= testsADay:
			return tooManyTests("to this contact today", 24*time.Hour)
		}
		if err := auditlog.Write(ctx, q, audit.Entry{Actor: by, Action: audit.TestMessageSent, Object: "user " + u.Name, Detail: string(mode)}); err != nil {
			return err
		}
		return q.AddContactTest(ctx, postgresdb.AddContactTestParams{UserID: u.ID, Mode: mode,
			Destination: destination})
	})
	if err != nil {
		return 0, err
	}
	return c.notifications.Create(ctx, messages.Notification{
		ApplicationID: sender, Subject: "Iris: test message", Priority: users.High, Lifetime: codeLife, Bare: true,
		Body: "This is a test message of Iris for " + u.Name + ". It shows that this " + string(mode) +
			" contact works. Nothing is wrong, and there is nothing to do.",
		Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral(destination), Target: u.Name,
			UserID: u.ID, Mode: mode, Literal: destination}},
	})
}

func tooManyTests(when string, wait time.Duration) error {
	return &fault.Error{Kind: fault.Throttled, Message: "a test message was sent " + when + ": try again later",
		RetryAfter: wait}
}

// contactIn returns the contact of a person in a mode; a NotFound fault if there is none.
func contactIn(ctx context.Context, q *postgresdb.Queries, id users.ID, mode users.Mode) (users.Contact, error) {
	rows, err := q.ContactsWithMarks(ctx, id)
	for _, r := range rows {
		if r.Mode == mode {
			return users.Contact(r), nil
		}
	}
	if err == nil {
		err = fault.Newf(fault.NotFound, "there is no %s contact", mode)
	}
	return users.Contact{}, err
}

// SendCode sends a code to a contact of a person on behalf of the application with that name. A Throttled fault when too many codes
// were sent; a Conflict when the contact is verified already.
func (c *Contacts) SendCode(ctx context.Context, application string, id users.ID, mode users.Mode) error {
	sender, err := postgres.Query(ctx, c.db, (*postgresdb.Queries).ApplicationID, application)
	if err != nil {
		return err
	}
	code, err := newCode()
	if err != nil {
		return err
	}
	var destination string
	err = c.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if destination, err = unverified(ctx, q, id, mode); err != nil {
			return err
		}
		if err := q.LockContacts(ctx, postgresdb.LockContactsParams{Mode: "code", Destination: fmt.Sprint(id)}); err != nil {
			return err
		}
		if err := q.LockContacts(ctx, postgresdb.LockContactsParams{Mode: string(mode), Destination: destination}); err != nil {
			return err
		}
		sent, err := q.CodesSent(ctx, postgresdb.CodesSentParams{UserID: id, Mode: string(mode),
			Destination: destination})
		if err != nil {
			return err
		}
		age := time.Duration(sent.NewestSeconds * float64(time.Second))
		switch {
		case age < codePause:
			return tooManyCodes(codePause - age)
		case sent.Hour >= codesAnHour:
			return tooManyCodes(time.Hour)
		case sent.Day >= codesADay:
			return tooManyCodes(24 * time.Hour)
		}
		if err := q.ForgetContactCodes(ctx); err != nil {
			return err
		}
		return q.AddContactCode(ctx, postgresdb.AddContactCodeParams{UserID: id, Mode: mode, Destination: destination,
			CodeHash: c.keys.HashCode(code, codePurpose(id, mode, destination))})
	})
	if err != nil {
		return err
	}
	_, err = c.notifications.Create(ctx, messages.Notification{
		ApplicationID: sender, Subject: "Iris: confirm this contact", Priority: users.High, Lifetime: codeLife, Bare: true,
		Body: "Your code for Iris is " + c.keys.SealForRecipient(code, destination) +
			". It works for 15 minutes. If you did not ask for it, ignore it.",
		Recipients: []messages.NotificationRecipient{{Recipient: messages.ToLiteral(destination), Target: destination,
			Mode: mode, Literal: destination}},
	})
	return err
}

func tooManyCodes(wait time.Duration) error {
	return &fault.Error{Kind: fault.Throttled, Message: "too many codes were sent: try again later", RetryAfter: wait}
}

func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%08d", n), nil
}

func codePurpose(id users.ID, mode users.Mode, destination string) string {
	return fmt.Sprintf("contact %d %s %s", id, mode, destination)
}

// unverified returns the contact of a person in a mode if it is not verified.
func unverified(ctx context.Context, q *postgresdb.Queries, id users.ID, mode users.Mode) (string, error) {
	if !users.Identifies(mode) {
		return "", fault.Invalidf("mode", "contacts of the mode %s need no verification", mode)
	}
	found, err := contactIn(ctx, q, id, mode)
	if err == nil && found.Verified {
		err = fault.Newf(fault.Conflict, "the %s contact is verified already", mode)
	}
	return found.Destination, err
}

// Verify marks a contact as verified when the code is the newest that was sent to it. A wrong, used or expired code is
// Invalid; a contact that another person has verified is a Conflict.
func (c *Contacts) Verify(ctx context.Context, id users.ID, mode users.Mode, code string) error {
	var destination string
	var key postgresdb.TryContactCodeRow
	wrong := fault.Invalidf("code", "the code is wrong or has expired: ask for a new one")
	// The attempt counts even when the verification fails.
	err := c.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		if destination, err = unverified(ctx, q, id, mode); err != nil {
			return err
		}
		key, err = q.TryContactCode(ctx, postgresdb.TryContactCodeParams{UserID: id, Mode: mode,
			Destination: destination,
			MaxAttempts: codeAttempts, LifeSeconds: codeLife.Seconds()})
		if errors.Is(err, pgx.ErrNoRows) {
			return wrong
		}
		return err
	})
	if err != nil {
		return err
	}
	hash := c.keys.HashCode(strings.TrimSpace(code), codePurpose(id, mode, destination))
	if subtle.ConstantTimeCompare(hash, key.CodeHash) != 1 {
		return wrong
	}
	return auditlog.Change(ctx, c.db, auditlog.User(id), audit.Entry{Action: audit.ContactVerified}, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := verify(ctx, q, id, mode, destination); err != nil {
			return err
		}
		return q.UseContactCode(ctx, key.ID)
	})
}

// Confirm marks a contact as verified by an administrator, without a code. A contact that another person has verified
// is a Conflict.
func (c *Contacts) Confirm(ctx context.Context, id users.ID, mode users.Mode) error {
	return auditlog.Change(ctx, c.db, auditlog.User(id), audit.Entry{Action: audit.ContactVerified}, func(ctx context.Context, q *postgresdb.Queries) error {
		destination, err := unverified(ctx, q, id, mode)
		if err != nil {
			return err
		}
		return verify(ctx, q, id, mode, destination)
	})
}

func verify(ctx context.Context, q *postgresdb.Queries, id users.ID, mode users.Mode, destination string) error {
	holder, err := contactHolder(ctx, q, id, mode, destination)
	if err != nil {
		return err
	}
	if holder != "" {
		return fault.Newf(fault.Conflict,
			"another person has this contact verified; an administrator can remove it there first")
	}
	if mode == users.Email {
		taken, err := q.ContactIsMailbox(ctx, destination)
		if err != nil {
			return err
		}
		if taken {
			return errMailbox
		}
	}
	return postgres.RequireRow(q.VerifyContact(ctx, postgresdb.VerifyContactParams{UserID: id, Mode: mode,
		Destination: destination}))
}

package pg

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// numbersAtOnce is how many contacts one statement reads.
const numbersAtOnce = 500

// RewriteNumbers stores phone numbers of releases that stored what was typed in international form, and notes those
// that cannot be read as failing. It returns how many it changed, and the names of people with a number that cannot be
// read. Calling it again changes nothing more.
func (c *Contacts) RewriteNumbers(ctx context.Context, region users.Region) (changed int, unreadable []string, err error) {
	after := db.NumbersToCheckParams{Most: numbersAtOnce}
	for {
		rows, err := postgres.Query(ctx, c.db, (*db.Queries).NumbersToCheck, after)
		if err != nil {
			return changed, unreadable, err
		}
		for _, r := range rows {
			after.AfterUser, after.AfterMode = int64(r.UserID), r.Mode
			at := failing{int64(r.UserID), users.Mode(r.Mode), r.Destination, r.Failing}
			number, err := region.Number(r.Destination)
			if err != nil {
				if n := len(unreadable); n == 0 || unreadable[n-1] != r.Name { // the rows are in the order of people
					unreadable = append(unreadable, r.Name)
				}
				if err := c.note(ctx, at, fault.Public(err)); err != nil {
					return changed, unreadable, err
				}
				continue
			}
			if number != r.Destination {
				n, err := postgres.Query(ctx, c.db, (*db.Queries).RewriteNumber,
					db.RewriteNumberParams{UserID: r.UserID, Mode: users.Mode(r.Mode), Was: r.Destination,
						Number: number})
				if err != nil {
					return changed, unreadable, err
				}
				changed += int(n)
			}
			if err := c.note(ctx, at, ""); err != nil {
				return changed, unreadable, err
			}
		}
		if len(rows) < numbersAtOnce {
			return changed, unreadable, nil
		}
	}
}

// failing is a contact and the reason that is noted for it; "" = none.
type failing struct {
	user        int64
	mode        users.Mode
	destination string
	reason      string
}

// note stores why a contact fails; "" = it does not fail.
func (c *Contacts) note(ctx context.Context, f failing, reason string) error {
	switch reason {
	case f.reason:
		return nil
	case "":
		return postgres.Exec(ctx, c.db, (*db.Queries).ForgetFailingContact,
			db.ForgetFailingContactParams{UserID: users.ID(f.user), Mode: f.mode})
	}
	return postgres.Exec(ctx, c.db, (*db.Queries).NoteFailingContact, db.NoteFailingContactParams{
		UserID: users.ID(f.user), Mode: f.mode, Destination: f.destination, Reason: reason,
	})
}

// SlackNames says how bare names of Slack are resolved.
type SlackNames struct {
	// ID returns the id of the Slack user with an e-mail address. A NotFound fault says that there is none; another
	// fault ends the pass.
	ID func(ctx context.Context, email string) (string, error)
	// KeepManaged leaves the contacts that a directory gave: it would write its name again.
	KeepManaged bool
	// Most is how many people are looked up in a pass.
	Most int
}

// ResolveSlackNames stores the ids of people whose Slack contact is a bare name, which Slack does not take any more,
// and notes those that cannot be resolved as failing. It begins after a person and returns the person at whom the next
// pass goes on; 0 = all were looked at.
func (c *Contacts) ResolveSlackNames(ctx context.Context, names SlackNames, after int64) (resolved int, next int64, err error) {
	rows, err := postgres.Query(ctx, c.db, (*db.Queries).SlackNamesToCheck,
		db.SlackNamesToCheckParams{AfterUser: after, Most: names.Most})
	if err != nil {
		return 0, after, err
	}
	for _, r := range rows {
		at, reason := failing{int64(r.UserID), users.Slack, r.Destination, r.Failing}, ""
		switch {
		case r.Managed && names.KeepManaged:
			reason = "the directory gives a Slack name, which Slack does not take any more: set sync.slack_contact to email"
		case r.Email == "":
			reason = "it is a Slack name, which Slack does not take any more, and there is no e-mail contact to find the account: write the id of the Slack account or its e-mail address"
		default:
			id, err := names.ID(ctx, r.Email)
			switch {
			case err == nil:
				n, err := postgres.Query(ctx, c.db, (*db.Queries).ResolveSlackName,
					db.ResolveSlackNameParams{UserID: r.UserID, Was: r.Destination, SlackID: id, Email: r.Email})
				if err != nil {
					return resolved, after, err
				}
				resolved += int(n)
			case fault.Is(err, fault.NotFound):
				reason = "it is a Slack name, which Slack does not take any more, and nobody in Slack has the person's e-mail address: write the id of the Slack account or its e-mail address"
			default:
				return resolved, after, fmt.Errorf("resolve Slack names: %w", err)
			}
		}
		if err := c.note(ctx, at, reason); err != nil {
			return resolved, after, err
		}
		after = int64(r.UserID)
	}
	if len(rows) < names.Most {
		return resolved, 0, nil
	}
	return resolved, after, nil
}

// Failing returns contacts that no message can reach, of people who are active, after a person's contact.
func (c *Contacts) Failing(ctx context.Context, name string, mode users.Mode, most int) ([]users.FailingContact, error) {
	rows, err := postgres.Query(ctx, c.db, (*db.Queries).FailingContacts,
		db.FailingContactsParams{AfterName: postgres.Storable(name), AfterMode: postgres.Storable(string(mode)), Most: most})
	return postgres.Convert(rows, func(r db.FailingContactsRow) users.FailingContact {
		return users.FailingContact{Person: r.Name, Contact: users.Contact{Mode: users.Mode(r.Mode),
			Destination: r.Destination, Failing: r.Reason}}
	}), err
}

package pg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
)

// DirectorySync implements directory.Store: it stores the people and mailing lists of a directory, with an entry in the
// audit log for every change. It is safe for concurrent use.
type DirectorySync struct {
	db    *postgres.DB
	actor string
	// processID and leases fence each write. The operator's command has no leases: its writes are not fenced.
	processID string
	leases    []buckets.Lease
}

// NewDirectorySync returns the adapter over d; actor is the actor in the audit log.
func NewDirectorySync(d *postgres.DB, actor string) *DirectorySync {
	return &DirectorySync{db: d, actor: actor}
}

// Fenced returns a store whose writes need the lease: after its loss they return a Conflict fault.
func (s *DirectorySync) Fenced(processID string, lease buckets.Lease) *DirectorySync {
	return &DirectorySync{db: s.db, actor: s.actor, processID: processID, leases: []buckets.Lease{lease}}
}

// Known lists all people.
func (s *DirectorySync) Known(ctx context.Context) ([]directory.Known, error) {
	return s.known(ctx, postgresdb.DirectoryPeopleParams{})
}

// KnownAs returns the people who have the name, ignoring case, or whose permanent id in the source is stable ("" = no
// id).
func (s *DirectorySync) KnownAs(ctx context.Context, source, stable, name string) ([]directory.Known, error) {
	name = postgres.Storable(name)
	return s.known(ctx, postgresdb.DirectoryPeopleParams{Name: &name, Source: source,
		StableID: postgres.Storable(stable)})
}

func (s *DirectorySync) known(ctx context.Context, who postgresdb.DirectoryPeopleParams) ([]directory.Known, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).DirectoryPeople, who)
	return postgres.Convert(rows, func(r postgresdb.DirectoryPeopleRow) directory.Known {
		return directory.Known{
			User: users.User{
				ID: r.ID, TargetID: r.TargetID, OncallID: r.OncallID, Name: r.Name, FullName: r.FullName,
				TimeZone: r.TimeZone, Admin: r.Admin, ReadOnly: r.ReadOnly, Active: r.Active, LoginEpoch: r.LoginEpoch,
			},
			PhotoURL: postgres.Deref(r.PhotoUrl), Contacts: postgres.Zip[users.Mode, string](r.ContactModes,
				r.Destinations),
			Source: r.Source, Stable: r.StableID, SwitchedOff: r.SwitchedOff, Given: postgres.Zip[users.Mode,
				string](r.GivenModes, r.GivenDestinations),
		}
	}), err
}

// Apply stores one person's change. A name that another person got meanwhile is an Invalid fault.
func (s *DirectorySync) Apply(ctx context.Context, c directory.Change) error {
	return s.db.InTx(audit.As(ctx, audit.Directory, 0, s.actor), func(ctx context.Context, q *postgresdb.Queries) error {
		if err := pgbuckets.Fence(ctx, q, s.processID, s.leases); err != nil {
			return err
		}
		_, err := ApplyChange(ctx, q, s.actor, c)
		return err
	})
}

// ApplyChange is Apply in a transaction, for other directories too. actor is the actor in the audit log. It returns the
// person.
func ApplyChange(ctx context.Context, q *postgresdb.Queries, actor string, c directory.Change) (users.ID, error) {
	id, err := changePerson(ctx, q, c)
	if err != nil {
		return 0, err
	}
	err = q.KeepDirectoryPerson(ctx, postgresdb.KeepDirectoryPersonParams{UserID: id, Source: c.Source,
		SwitchedOff: c.Kind == directory.SwitchOff,
		StableID:    postgres.Storable(c.Stable)})
	if err != nil {
		return 0, err
	}
	if err := changeContacts(ctx, q, id, c); err != nil {
		return 0, err
	}
	action, changed := userActions[c.Kind]
	if !changed {
		return id, nil
	}
	return id, auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: action, Object: "user " + c.Name,
		Detail: c.Detail()})
}

const nameTaken = "somebody else took the name meanwhile: it is looked at again in the next run"

// changePerson stores the row of the person.
func changePerson(ctx context.Context, q *postgresdb.Queries, c directory.Change) (users.ID, error) {
	id := c.ID
	if c.Kind == directory.Add {
		name, err := newUserName(c.Name)
		if err != nil {
			return 0, err
		}
		row, err := q.CreateUser(ctx, postgresdb.CreateUserParams{Name: name, CanonicalName: users.CanonicalName(name),
			TimeZone: "UTC"})
		if postgres.SqlState(err) == "23505" {
			return 0, fault.Invalidf("name", nameTaken)
		}
		if err != nil {
			return 0, err
		}
		id = row.ID
	}
	change := postgresdb.UpdateOncallUserParams{ID: id, FullName: storablePtr(c.FullName),
		PhotoUrl: storablePtr(c.PhotoURL)}
	if c.Rename != "" {
		name, err := newUserName(c.Rename)
		if err != nil {
			return 0, err
		}
		canonical := users.CanonicalName(name)
		change.Name, change.CanonicalName = &name, &canonical
	}
	if active := c.Kind == directory.SwitchOn; active || c.Kind == directory.SwitchOff {
		change.Active = &active
	}
	if err := postgres.RequireRow(q.UpdateOncallUser(ctx, change)); err != nil {
		if postgres.SqlState(err) == "23505" {
			return 0, fault.Invalidf("name", nameTaken)
		}
		if fault.Is(err, fault.NotFound) {
			err = fault.Invalidf("name", "the person was deleted meanwhile")
		}
		return 0, err
	}
	return id, nil
}

func changeContacts(ctx context.Context, q *postgresdb.Queries, id users.ID, c directory.Change) error {
	for _, mode := range slices.Sorted(maps.Keys(c.Contacts)) {
		err := setContact(ctx, q, id, mode, postgres.Storable(c.Contacts[mode]), true)
		if errors.Is(err, errMailbox) {
			continue // mail to it still opens incidents; it does not become a contact
		}
		if err != nil {
			return err
		}
	}
	if c.Given == nil {
		return nil
	}
	if err := q.DropDirectoryContacts(ctx, id); err != nil {
		return err
	}
	for _, mode := range slices.Sorted(maps.Keys(c.Given)) {
		err := q.KeepDirectoryContact(ctx, postgresdb.KeepDirectoryContactParams{UserID: id, Mode: mode,
			Destination: postgres.Storable(c.Given[mode])})
		if err != nil {
			return err
		}
	}
	return nil
}

// Actions of the audit log. A kind that is missing has no entry: only the source changed.
var (
	userActions = map[directory.Kind]audit.Action{
		directory.Add: audit.UserCreated, directory.Update: audit.UserChanged, directory.SwitchOn: audit.UserSwitchedOn, directory.SwitchOff: audit.UserSwitchedOff,
	}
	listActions = map[directory.Kind]audit.Action{
		directory.Add: audit.MailingListAdded, directory.Update: audit.MailingListChanged, directory.SwitchOn: audit.MailingListSwitchedOn,
		directory.SwitchOff: audit.MailingListSwitchedOff,
	}
)

// KnownLists lists all mailing lists.
func (s *DirectorySync) KnownLists(ctx context.Context) ([]directory.KnownList, error) {
	rows, err := postgres.Read(ctx, s.db, (*postgresdb.Queries).KnownMailingLists)
	return postgres.Convert(rows, func(r postgresdb.KnownMailingListsRow) directory.KnownList {
		return directory.KnownList{ID: r.ID, Name: r.Name, Active: r.Active, Size: int(r.MemberCount),
			Members: r.Members, Synced: r.Kept}
	}), err
}

// ApplyList stores one mailing list's change. A list that is switched off keeps its members.
func (s *DirectorySync) ApplyList(ctx context.Context, c directory.ListChange) error {
	return s.db.InTx(audit.As(ctx, audit.Directory, 0, s.actor), func(ctx context.Context, q *postgresdb.Queries) error {
		if err := pgbuckets.Fence(ctx, q, s.processID, s.leases); err != nil {
			return err
		}
		id, err := s.list(ctx, q, c)
		if err != nil {
			return err
		}
		if err := q.KeepDirectoryList(ctx, id); err != nil {
			return err
		}
		if c.Kind != directory.SwitchOff {
			names := postgres.Convert(c.Members, postgres.Storable)
			if err := q.TrimMailingList(ctx, postgresdb.TrimMailingListParams{ListID: id, Names: names}); err != nil {
				return err
			}
			if err := q.FillMailingList(ctx, postgresdb.FillMailingListParams{ListID: id, Names: names}); err != nil {
				return err
			}
		}
		action, changed := listActions[c.Kind]
		if !changed {
			return nil
		}
		return auditlog.Write(ctx, q, audit.Entry{Actor: s.actor, Action: action, Object: "mailing list " + c.Name,
			Detail: fmt.Sprintf("%d people", len(c.Members))})
	})
}

func (s *DirectorySync) list(ctx context.Context, q *postgresdb.Queries, c directory.ListChange) (int64, error) {
	var err error
	switch c.Kind {
	case directory.Add:
		name, err := postgres.CleanName(c.Name)
		if err != nil {
			return 0, err
		}
		id, err := q.CreateMailingList(ctx, postgresdb.CreateMailingListParams{Name: name, MemberCount: int64(c.Size)})
		if postgres.SqlState(err) == "23505" {
			return 0, fault.Invalidf("name",
				"there is a list of this name meanwhile: it is looked at again in the next run")
		}
		return id, err
	case directory.SwitchOff:
		err = postgres.RequireRow(q.SwitchOffMailingList(ctx, c.ID))
	default:
		err = postgres.RequireRow(q.UpdateMailingList(ctx, postgresdb.UpdateMailingListParams{ID: c.ID,
			MemberCount: int64(c.Size)}))
	}
	if fault.Is(err, fault.NotFound) {
		err = fault.Invalidf("name", "the list was deleted meanwhile")
	}
	return c.ID, err
}

// Due reports whether a directory must be read again: after the interval every, or after again if the last read failed
// and again is shorter.
func (s *DirectorySync) Due(ctx context.Context, source string, every, again time.Duration) (bool, error) {
	lately, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).DirectoryAskedLately, postgresdb.DirectoryAskedLatelyParams{
		Source: source, EverySeconds: every.Seconds(), AgainSeconds: again.Seconds(),
	})
	return !lately, err
}

// Note stores the time and the result of a read of a directory; problem "" = success.
func (s *DirectorySync) Note(ctx context.Context, source, problem string) error {
	return postgres.Exec(ctx, s.db, (*postgresdb.Queries).NoteDirectorySync, postgresdb.NoteDirectorySyncParams{
		Source: source, Problem: postgres.Storable(problem),
	})
}

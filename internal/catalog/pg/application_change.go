package pg

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Change replaces what c holds, all in one transaction with its line in the audit log. Owners that do not exist and
// default modes that the application may not use are skipped; a mode that does not exist is Invalid. A Stale fault when
// the application is in another state than c.IfMatch asks for. by is the actor of the audit log.
func (a *Applications) Change(ctx context.Context, id int64, c applications.Change, by string) error {
	return a.db.InTxRaw(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return changeIn(ctx, db.New(tx), id, by, audit.ApplicationSettingsChanged, func(ctx context.Context, q *db.Queries, _ db.LockApplicationRow) error {
			if err := matchApplication(ctx, tx, id, c.IfMatch); err != nil {
				return err
			}
			return changeSettings(ctx, q, id, c)
		})
	})
}

// matchApplication returns etag.ErrStale unless the application has one of the wanted tags. A nil wanted allows every
// state.
func matchApplication(ctx context.Context, tx pgx.Tx, id int64, wanted []string) error {
	if wanted == nil {
		return nil
	}
	rows, err := tx.Query(ctx, applicationSelection+" and a.id = $1", id)
	if err != nil {
		return err
	}
	now, err := pgx.CollectExactlyOneRow(rows, scanApplication)
	if err != nil {
		return err
	}
	return now.Match(wanted)
}

func changeSettings(ctx context.Context, q *db.Queries, id int64, c applications.Change) error {
	err := postgres.RequireRow(q.ChangeApplication(ctx, db.ChangeApplicationParams{ID: id,
		ContextTemplate: c.ContextTemplate,
		SummaryTemplate: c.SummaryTemplate, MobileTemplate: c.MobileTemplate, SampleContext: c.SampleContext,
		TitleVariable: c.TitleVariable}))
	if err != nil {
		return err
	}
	names := append([]string{}, c.Variables...)
	if err := q.DropApplicationVariables(ctx, db.DropApplicationVariablesParams{ApplicationID: id, Names: names}); err != nil {
		return err
	}
	if err := q.KeepApplicationVariables(ctx, db.KeepApplicationVariablesParams{ApplicationID: id, Names: names}); err != nil {
		return err
	}
	if c.Required != nil {
		if err := q.RequireApplicationVariables(ctx, db.RequireApplicationVariablesParams{ApplicationID: id, Names: append([]string{}, *c.Required...)}); err != nil {
			return err
		}
	}
	if c.Owners != nil {
		if err := q.ClearApplicationOwners(ctx, id); err != nil {
			return err
		}
		err := q.AddApplicationOwners(ctx, db.AddApplicationOwnersParams{ApplicationID: id,
			Names: append([]string{}, *c.Owners...)})
		if err != nil {
			return err
		}
	}
	return changeModes(ctx, q, id, c)
}

func changeModes(ctx context.Context, q *db.Queries, id int64, c applications.Change) error {
	if c.Modes != nil {
		if err := q.ClearApplicationModes(ctx, id); err != nil {
			return err
		}
		p := db.AddApplicationModesParams{ApplicationID: id, Modes: []string{}}
		for _, m := range *c.Modes {
			p.Modes = append(p.Modes, string(m))
		}
		if err := q.AddApplicationModes(ctx, p); err != nil {
			return err
		}
		if err := q.DropUnsupportedDefaultModes(ctx, id); err != nil {
			return err
		}
	}
	if c.DefaultModes != nil {
		if err := q.ClearApplicationDefaultModes(ctx, id); err != nil {
			return err
		}
		p := db.AddApplicationDefaultModesParams{ApplicationID: id, Priorities: []string{}, Modes: []string{}}
		for priority, m := range c.DefaultModes {
			p.Priorities, p.Modes = append(p.Priorities, string(priority)), append(p.Modes, string(m))
		}
		if err := q.AddApplicationDefaultModes(ctx, p); err != nil {
			return err
		}
	}
	for mode, address := range c.SenderAddresses {
		var err error
		if address == "" {
			err = q.RemoveSenderAddress(ctx, db.RemoveSenderAddressParams{ApplicationID: id, Mode: mode})
		} else {
			err = q.SetSenderAddress(ctx, db.SetSenderAddressParams{ApplicationID: id, Mode: mode, Address: address})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changing runs f in a transaction that holds the application's row, and adds an entry to the audit log.
func (a *Applications) changing(ctx context.Context, id int64, by string, action audit.Action,
	f func(ctx context.Context, q *db.Queries, row db.LockApplicationRow) error,
) error {
	return a.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error { return changeIn(ctx, q, id, by, action, f) })
}

// changeIn is changing within a transaction.
func changeIn(ctx context.Context, q *db.Queries, id int64, by string, action audit.Action,
	f func(ctx context.Context, q *db.Queries, row db.LockApplicationRow) error,
) error {
	row, err := q.LockApplication(ctx, id)
	if err != nil {
		return err
	}
	e := audit.Entry{Actor: by, Action: action, Object: "application " + row.Name}
	return auditlog.Changing(ctx, q, auditlog.Application(id), e, func() error { return f(ctx, q, row) })
}

// Add creates an application as Create does, and adds an entry to the audit log.
func (a *Applications) Add(ctx context.Context, name, by string) (id int64, err error) {
	id, _, err = a.Create(ctx, name)
	return id, err
}

// Rename gives an application another name. A name that exists is a Conflict. The application of web sessions keeps its
// name.
func (a *Applications) Rename(ctx context.Context, id int64, name, by string) error {
	name, err := applicationName(name)
	if err != nil {
		return err
	}
	return a.changing(ctx, id, by, audit.ApplicationRenamed, func(ctx context.Context, q *db.Queries, row db.LockApplicationRow) error {
		if row.Name == auth.SessionApplication {
			return fault.Invalidf("name", "The application %s cannot be renamed: logged-in people act through it",
				row.Name)
		}
		err := q.RenameApplication(ctx, db.RenameApplicationParams{ID: id, Name: name})
		if postgres.SqlState(err) == "23505" {
			return fault.Wrap(fault.Conflict, err, "an application named "+name+" exists already")
		}
		return err
	})
}

func applicationName(name string) (string, error) {
	name, err := postgres.CleanName(name)
	if err == nil && strings.Contains(name, ":") {
		err = fault.Invalidf("name", "the name of an application must not hold a colon")
	}
	return name, err
}

// Delete removes an application that nothing refers to: no variables, template contents, incidents or messages, present
// or past. Otherwise it is a Conflict, as it is for the application of web sessions. ifMatch is as in
// applications.Change.
func (a *Applications) Delete(ctx context.Context, id int64, ifMatch []string, by string) error {
	inUse := fault.New(fault.Conflict, "the application is in use")
	return a.db.InTxRaw(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return changeIn(ctx, db.New(tx), id, by, audit.ApplicationDeleted, func(ctx context.Context, q *db.Queries, row db.LockApplicationRow) error {
			if err := matchApplication(ctx, tx, id, ifMatch); err != nil {
				return err
			}
			used, err := q.ApplicationInUse(ctx, id)
			if err != nil {
				return err
			}
			if used || row.Name == auth.SessionApplication {
				return inUse
			}
			if err := q.DeleteTagsOf(ctx, db.DeleteTagsOfParams{Kind: "application", ObjectID: id}); err != nil {
				return err
			}
			return postgres.RequireRow(q.DeleteApplication(ctx, id))
		})
	})
}

// AddSecondary adds a secondary key and returns it; a Conflict when there is one.
func (a *Applications) AddSecondary(ctx context.Context, id int64, by string) (key string, err error) {
	err = a.changing(ctx, id, by, audit.ApplicationSecondaryKeyAdded, func(ctx context.Context, q *db.Queries, row db.LockApplicationRow) error {
		if row.SecondaryKeySealed != nil {
			return fault.New(fault.Conflict, "the application has a secondary key already")
		}
		key = auth.NewApplicationKey()
		return q.SetApplicationKeys(ctx, db.SetApplicationKeysParams{ID: id, KeySealed: row.KeySealed,
			SecondaryKeySealed: a.Seal(id, "secondary", key)})
	})
	return key, err
}

// Rekey makes the secondary key the primary one and clears the secondary; a Conflict when there is none.
func (a *Applications) Rekey(ctx context.Context, id int64, by string) error {
	return a.changing(ctx, id, by, audit.ApplicationSecondaryKeyMadeThePrimaryOne, func(ctx context.Context, q *db.Queries, row db.LockApplicationRow) error {
		if row.SecondaryKeySealed == nil {
			return fault.New(fault.Conflict, "the application has no secondary key")
		}
		key, err := a.Unseal(id, "secondary", row.SecondaryKeySealed)
		if err != nil {
			return err
		}
		return q.SetApplicationKeys(ctx, db.SetApplicationKeysParams{ID: id, KeySealed: a.Seal(id, "primary", key)})
	})
}

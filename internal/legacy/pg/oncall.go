package pg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/legacy/imports"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// AllowOnCall stores applications that use the on-call API. See imports.OnCallStore.
func (r *Store) AllowOnCall(ctx context.Context, all []imports.ApplicationKeys) (imports.Outcome, error) {
	var out imports.Outcome
	done := map[string]bool{}
	for _, k := range all {
		out.Read++
		name := imports.Fold(k.Name)
		if done[name] {
			out.Reasons = append(out.Reasons, imports.Reason{Kind: imports.Conflict, Rows: 1, Whole: true,
				Examples: []string{"application " + k.Name},
				Text:     "two of them have the same name or position here, where upper and lower case are equal: rename one"})
			continue
		}
		done[name] = true
		if err := r.allowOnCall(ctx, k, &out); err != nil {
			return out, fmt.Errorf("application %s: %w", k.Name, err)
		}
	}
	return out, nil
}

func (r *Store) allowOnCall(ctx context.Context, k imports.ApplicationKeys, out *imports.Outcome) error {
	var id int64
	var allowed bool
	var primary, secondary []byte
	say := func(kind imports.Kind, reason string) {
		out.Reasons = append(out.Reasons, imports.Reason{Kind: kind, Rows: 1, Whole: kind != imports.Note, Text: reason,
			Examples: []string{"application " + k.Name}})
	}
	err := r.tx.QueryRow(ctx, `select id, allow_oncall, key_sealed, secondary_key_sealed from applications where lower(name) = lower($1)
for no key update`, k.Name).Scan(&id, &allowed, &primary, &secondary)
	apps := pg.NewApplications(nil, r.keys)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		// The application of web sessions was set aside if it is missing.
		if err := r.tx.QueryRow(ctx, `with made as (
    insert into applications (id, name, allow_oncall, allow_other_app_incidents, allow_authenticating_users) overriding system value
    select coalesce(max(id), 0) + 1, $1, true, lower($1) = 'iris', lower($1) = 'iris' from applications returning id, name
), modes as (
    insert into application_modes (application_id, mode)
    select made.id, m.name from made, modes m where lower(made.name) = 'iris' and m.name <> 'drop'
)
select id from made`, k.Name).Scan(&id); err != nil {
			return err
		}
		out.Taken++
		_, err = r.tx.Exec(ctx, "update applications set key_sealed = $2 where id = $1", id,
			apps.Seal(id, "primary", k.Primary))
		return err
	case err != nil:
		return err
	}
	for _, one := range []struct {
		which  string
		sealed []byte
	}{{"primary", primary}, {"secondary", secondary}} {
		if one.sealed == nil {
			continue
		}
		if key, err := apps.Unseal(id, one.which, one.sealed); err == nil && key == k.Primary && allowed {
			out.Same++
			return nil
		} else if err == nil && key == k.Primary && r.first {
			out.Taken++
			say(imports.Note, "it existed here already with this key: now it may use the on-call API too")
			_, err := r.tx.Exec(ctx, "update applications set allow_oncall = true where id = $1", id)
			return err
		}
	}
	switch {
	case !r.first:
		say(imports.NotTaken, "it has another key here, or it may not use the on-call API here: its settings here are kept")
		return nil
	case primary == nil:
		primary = apps.Seal(id, "primary", k.Primary)
	case secondary == nil:
		secondary = apps.Seal(id, "secondary", k.Primary)
	default:
		say(imports.NotTaken, "it exists here already and has two other keys")
		return nil
	}
	out.Taken++
	say(imports.Note, "it existed here already and got this key as a second one: both keys now open both APIs")
	_, err = r.tx.Exec(ctx, "update applications set allow_oncall = true, key_sealed = $2, secondary_key_sealed = $3 where id = $1", id, primary, secondary)
	return err
}

// OnCall returns calendars as this transaction sees them. See imports.OnCallStore.
func (r *Store) OnCall(ctx context.Context, from, to time.Time) (imports.OnCall, error) {
	out := imports.OnCall{Teams: map[int64]*oncall.TeamCalendar{}, People: map[users.ID]int64{}}
	teams, err := r.pairs(ctx, "select id, oncall_id from teams")
	if err != nil {
		return out, err
	}
	calendars, err := pgoncall.TeamCalendars(ctx, db.New(r.tx), slices.Collect(maps.Keys(teams)), from, to)
	if err != nil {
		return out, fmt.Errorf("read calendars: %w", err)
	}
	for id, c := range calendars {
		out.Teams[teams[id]] = c.TeamCalendar
	}
	people, err := r.pairs(ctx, "select id, oncall_id from users")
	for id, number := range people {
		out.People[users.ID(id)] = number
	}
	return out, err
}

// pairs runs a query that returns pairs of numbers.
func (r *Store) pairs(ctx context.Context, sql string) (map[int64]int64, error) {
	rows, err := r.tx.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	out := map[int64]int64{}
	var from, to int64
	_, err = pgx.ForEachRow(rows, []any{&from, &to}, func() error {
		out[from] = to
		return nil
	})
	return out, err
}

// loadFeedKeys seals imported feed keys and stores them. The first value of a record is the key.
func (r *Store) loadFeedKeys(ctx context.Context, t imports.Table, records imports.Records) (imports.Outcome, error) {
	q := db.New(r.tx)
	for more := int64(pgnotifications.SealBatch); more == pgnotifications.SealBatch; { // seals the stored keys first, so that keys are compared by their hashes
		var err error
		if more, err = pgnotifications.SealFeedKeys(ctx, q, r.keys); err != nil {
			return imports.Outcome{}, err
		}
	}
	var p db.SealIcalKeysParams
	out, err := r.loadTable(ctx, t, func(yield func(imports.Record, error) bool) {
		for record, err := range records {
			if err == nil {
				hash, sealed := pgnotifications.SealFeedKey(r.keys, postgres.Storable(record.Values[0].(string)))
				p.Keys, p.Hashes, p.Sealed = append(p.Keys, hash), append(p.Hashes, hash), append(p.Sealed, sealed)
				record.Values[0] = hash
			}
			if !yield(record, err) {
				return
			}
		}
	})
	if err == nil {
		_, err = q.SealIcalKeys(ctx, p)
	}
	return out, err
}

package imports

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/imports"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
)

// followUps are statements that run after the rows of a table were inserted, while resolved and fresh can still be read.
// Incidents that are imported while they escalate are remembered until Resume.
var followUps = map[string][]string{
	"incidents": {
		`insert into incident_contexts (incident_id, context) select s.id, s.context from resolved s join fresh f on f.ord = s.ord`,
		`insert into timeline_entries (incident_id, at, kind, actor, text)
select s.id, x.at, x.kind, x.actor, x.text
from resolved s
join fresh f on f.ord = s.ord
join applications a on a.id = s.application_id
join plans p on p.id = s.plan_id
left join users u on u.id = s.owner_id
cross join lateral (values
    (1, s.created_at, 'opened', 'application ' || a.name, 'opened by application ' || a.name || ' with plan ' || p.name || ' (imported)'),
    (2, s.updated_at, 'acknowledged', u.name, 'acknowledged by ' || u.name || ' (imported)'),
    (3, s.updated_at, 'resolved', '', 'resolved (imported)')) as x(n, at, kind, actor, text)
where x.n = 1 or x.n = 2 and u.id is not null or x.n = 3 and s.resolved
order by s.ord, x.n`,
		`create temp table resuming on commit drop as select s.id from resolved s join fresh f on f.ord = s.ord where s.active`,
	},
	"comments": {
		`insert into timeline_entries (incident_id, at, kind, actor, text)
select s.incident_id, s.created_at, 'comment', u.name, s.content
from resolved s join fresh f on f.ord = s.ord join users u on u.id = s.author_id order by s.ord`,
	},
	"message_changes": {
		`update message_history h
set mode_changed = h.mode_changed or c.mode, purpose = case when c.target then 'fallback' else h.purpose end
from (select s.message_id, bool_or(s.change_type = 'mode-change') as mode, bool_or(s.change_type = 'target-change') as target
    from resolved s join fresh f on f.ord = s.ord where s.change_type in ('mode-change', 'target-change') group by s.message_id) c
where h.id = c.message_id`,
	},
}

// Adopt renumbers targets. See imports.Store.
func (r *importRun) Adopt(ctx context.Context, targets []imports.Target) (imports.Outcome, error) {
	var out imports.Outcome
	if !r.first {
		return out, nil
	}
	if err := r.exec(ctx, "create temp table wanted (kind text, name text, number bigint) on commit drop"); err != nil {
		return out, err
	}
	_, err := r.tx.CopyFrom(ctx, pgx.Identifier{"wanted"}, []string{"kind", "name", "number"},
		pgx.CopyFromSlice(len(targets), func(i int) ([]any, error) {
			return []any{targets[i].Kind, targets[i].Name, targets[i].Number}, nil
		}))
	if err != nil {
		return out, fmt.Errorf("copy targets: %w", err)
	}
	if err := r.exec(ctx, movesSQL); err != nil {
		return out, fmt.Errorf("search for targets that are here: %w", err)
	}
	if err := r.reasons(ctx, imports.Conflict, true, boundSQL, &out); err != nil || len(out.Reasons) > 0 {
		return out, err
	}
	if err := r.reasons(ctx, imports.Note, false, movedSQL, &out); err != nil {
		return out, err
	}
	for kind, table := range map[string]string{"user": "users", "team": "teams", "mailing-list": "mailing_lists"} {
		// In two steps, because the numbers of two may change places.
		for _, sql := range []string{
			"update %s t set target_id = -m.number from moves m where m.kind = '%s' and m.kind_id = t.id",
			"update %s t set target_id = -target_id where target_id < 0 and '%s' <> ''",
		} {
			if err := r.exec(ctx, fmt.Sprintf(sql, table, kind)); err != nil {
				return out, fmt.Errorf("renumber %s: %w", table, err)
			}
		}
	}
	return out, r.exec(ctx, "drop table wanted, moves")
}

const movesSQL = `create temp table moves on commit drop as
with known as (
    select distinct on (kind, lower(name)) kind, lower(name) as name, number from wanted order by kind, lower(name), number
), moving as (
    select t.kind, t.kind_id, t.name, t.target_id, k.number
    from targets t join known k on k.kind = t.kind and k.name = lower(t.name) where k.number <> t.target_id
    union all
    select t.kind, t.kind_id, t.name, t.target_id, null
    from targets t join wanted w on w.number = t.target_id
    where not exists (select from known k where k.kind = t.kind and k.name = lower(t.name))
)
select m.kind, m.kind_id, m.name, m.target_id,
    coalesce(m.number, (select greatest((select max(number) from wanted), (select max(target_id) from targets)))
        + row_number() over (order by m.kind, m.kind_id)) as number
from moving m`

const boundSQL = `select 'its number there is another one than here, and plans, incidents, quotas or tags here refer to it', count(*),
    (array_agg(m.kind || ' ' || m.name || ': ' || m.target_id || ' here' order by m.target_id))[1:5]
from moves m
where exists (select from plan_notifications x where x.target_id = m.target_id)
   or exists (select from incident_dynamic_targets x where x.target_id = m.target_id)
   or exists (select from application_quotas x where x.target_id = m.target_id)
   or exists (select from applications x where x.fallback_target_id = m.target_id)
   or exists (select from plans x where x.fallback_target_id = m.target_id)
   or exists (select from tags x where x.kind = 'target' and x.object_id = m.target_id)
having count(*) > 0`

const movedSQL = `select 'were here already and got another number', count(*),
    (array_agg(kind || ' ' || name || ': ' || target_id || ' -> ' || number order by target_id))[1:5]
from moves having count(*) > 0`

// unusedSQL is the condition that no row refers to an application (a).
const unusedSQL = `a.secondary_key_sealed is null and a.fallback_role is null and not a.paused
  and not exists (select from incidents x where x.application_id = a.id)
  and not exists (select from messages x where x.application_id = a.id)
  and not exists (select from message_history x where x.application_id = a.id)
  and not exists (select from notification_requests x where x.application_id = a.id)
  and not exists (select from template_contents x where x.application_id = a.id)
  and not exists (select from application_variables x where x.application_id = a.id)
  and not exists (select from application_owners x where x.application_id = a.id)
  and not exists (select from notification_categories x where x.application_id = a.id)
  and not exists (select from user_application_modes x where x.application_id = a.id)`

// MakeRoom deletes the first application if it was not used. Applications that came with Oncall's data and are not used
// otherwise are set aside until SealKeys: Iris may have them under another number. See imports.Store.
func (r *importRun) MakeRoom(ctx context.Context) error {
	if !r.first {
		return nil
	}
	rows, err := r.tx.Query(ctx, `delete from applications a where a.allow_oncall and a.key_sealed is not null
    and (lower(a.name) = 'iris' or not (a.auth_only or a.allow_other_app_incidents or a.allow_authenticating_users or a.relay or exists (select from application_modes m where m.application_id = a.id)))
    and `+unusedSQL+` returning a.id, a.name, a.key_sealed`)
	if err != nil {
		return err
	}
	apps := catalog.NewApplications(nil, r.keys)
	var id int64
	var name string
	var sealed []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &name, &sealed}, func() error {
		key, err := apps.Unseal(id, "primary", sealed)
		r.aside = append(r.aside, imports.ApplicationKeys{Name: name, Primary: key})
		return err
	})
	if err != nil {
		return fmt.Errorf("put applications of the on-call API aside: %w", err)
	}
	return r.exec(ctx, "delete from applications a where lower(a.name) = 'iris' and a.key_sealed is null and "+unusedSQL)
}

// putBack returns the applications that MakeRoom put aside, after those of Iris.
func (r *importRun) putBack(ctx context.Context, out *imports.Outcome) error {
	var done imports.Outcome
	for _, k := range r.aside {
		if err := r.allowOnCall(ctx, k, &done); err != nil {
			return fmt.Errorf("application %s: %w", k.Name, err)
		}
	}
	r.aside = nil
	for _, reason := range done.Reasons {
		reason.Whole = false
		out.Reasons = append(out.Reasons, reason)
	}
	return nil
}

// SealKeys stores keys. An application that has a key keeps it; a different key of the predecessor is a conflict.
func (r *importRun) SealKeys(ctx context.Context, all []imports.ApplicationKeys) (imports.Outcome, error) {
	var out imports.Outcome
	apps := catalog.NewApplications(nil, r.keys)
	for _, k := range all {
		var primary, secondary []byte
		err := r.tx.QueryRow(ctx, "select key_sealed, secondary_key_sealed from applications where id = $1 for no key update", k.ID).
			Scan(&primary, &secondary)
		if errors.Is(err, pgx.ErrNoRows) {
			continue // the application was not imported, which was reported
		}
		if err != nil {
			return out, fmt.Errorf("read the key of application %s: %w", k.Name, err)
		}
		out.Read++
		changed := false
		for _, one := range []struct {
			which string
			here  *[]byte
			there string
		}{{"primary", &primary, k.Primary}, {"secondary", &secondary, k.Secondary}} {
			if one.there == "" {
				continue
			}
			if *one.here == nil {
				*one.here, changed = apps.Seal(k.ID, one.which, one.there), true
				continue
			}
			if key, err := apps.Unseal(k.ID, one.which, *one.here); err != nil || key != one.there {
				out.Reasons = append(out.Reasons, imports.Reason{Kind: imports.Conflict, Rows: 1, Whole: true,
					Text: "its " + one.which + " key here is another one", Examples: []string{"application " + k.Name}})
			}
		}
		if !changed {
			out.Same++
			continue
		}
		out.Taken++
		if _, err := r.tx.Exec(ctx, "update applications set key_sealed = $2, secondary_key_sealed = $3 where id = $1", k.ID, primary, secondary); err != nil {
			return out, fmt.Errorf("store the key of application %s: %w", k.Name, err)
		}
	}
	err := r.putBack(ctx, &out)
	return out, err
}

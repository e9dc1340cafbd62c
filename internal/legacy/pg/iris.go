package pg

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// followUps are statements that run after the rows of a table were inserted, while resolved and fresh can still be
// read. Incidents that are imported while they escalate are remembered until Resume.
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

// unusedSQL is the condition that no row refers to an application (a).
var unusedSQL = "a.secondary_key_sealed is null and a.fallback_role is null and not a.paused and not " +
	referred("a.id",
		"incidents.application_id messages.application_id message_history.application_id notification_requests.application_id "+
			"template_contents.application_id application_variables.application_id application_owners.application_id "+
			"notification_categories.application_id user_application_modes.application_id")

// referred is the condition that a row has the value id in one of the columns (table.column, separated by spaces).
func referred(id, columns string) string {
	var all []string
	for _, c := range strings.Fields(columns) {
		table, _, _ := strings.Cut(c, ".")
		all = append(all, fmt.Sprintf("exists (select from %s where %s = %s)", table, c, id))
	}
	return "(" + strings.Join(all, " or ") + ")"
}

// makeRoom moves or deletes existing rows before the first load of a table.
func (r *Store) makeRoom(ctx context.Context, t imports.Table) error {
	switch {
	case !r.first:
	case t.Name == "applications":
		return r.makeApplicationRoom(ctx)
	case t.Name == "oncall_audit":
		return r.exec(ctx, "update oncall_audit set id = id + greatest((select max(id) from staged), (select max(id) from oncall_audit))")
	}
	return nil
}

// makeApplicationRoom deletes the first application if it was not used. Applications that came with Oncall's data and
// are not used otherwise are set aside until SealKeys: Iris may have them under another number.
func (r *Store) makeApplicationRoom(ctx context.Context) error {
	rows, err := r.tx.Query(ctx, `delete from applications a where a.allow_oncall and a.key_sealed is not null
    and (lower(a.name) = 'iris' or not (a.auth_only or a.allow_other_app_incidents or a.allow_authenticating_users or a.relay or exists (select from application_modes m where m.application_id = a.id)))
    and `+unusedSQL+` returning a.id, a.name, a.key_sealed`)
	if err != nil {
		return err
	}
	apps := pg.NewApplications(nil, r.keys)
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
	return r.exec(ctx, "delete from applications a where lower(a.name) = 'iris' and a.key_sealed is null and "+
		unusedSQL)
}

// putBack returns the applications that makeApplicationRoom put aside, after those of Iris.
func (r *Store) putBack(ctx context.Context, out *imports.Outcome) error {
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
func (r *Store) SealKeys(ctx context.Context, all []imports.ApplicationKeys) (imports.Outcome, error) {
	var out imports.Outcome
	apps := pg.NewApplications(nil, r.keys)
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
					Text: "its " + one.which + " key differs here", Examples: []string{"application " + k.Name}})
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

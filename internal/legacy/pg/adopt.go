package pg

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// adoption describes the rows that may get their numbers from a predecessor.
type adoption struct {
	// here selects existing rows: space, kind, id, name, number. Numbers are unique within a space. space is the one
	// space that all kinds share; "" = each kind has its own.
	here   string
	space  string
	tables []numberedTable
	// bound is the condition that a row (m) cannot be moved because other rows, named by boundBy, refer to its number.
	bound   string
	boundBy string
}

// numberedTable is the table of a kind and its column with the predecessor's number.
type numberedTable struct{ kind, table, column string }

// Adopt renumbers targets. See imports.IrisStore.
func (r *Store) Adopt(ctx context.Context, targets []imports.Target) (out imports.Outcome, err error) {
	if !r.first {
		return out, nil
	}
	return r.adopt(ctx, targets, adoption{
		here:  "select 'target' as space, kind, kind_id as id, name, target_id as number from targets",
		space: "target",
		tables: []numberedTable{{"user", "users", "target_id"}, {"team", "teams", "target_id"},
			{"mailing-list", "mailing_lists", "target_id"}},
		bound: referred("m.old", "plan_notifications.target_id incident_dynamic_targets.target_id application_quotas.target_id "+
			"applications.fallback_target_id plans.fallback_target_id") +
			" or exists (select from tags where kind = 'target' and object_id = m.old)",
		boundBy: "plans, incidents, quotas or tags",
	})
}

// AdoptOnCall renumbers people, teams and roles. See imports.OnCallStore.
func (r *Store) AdoptOnCall(ctx context.Context, targets []imports.Target) (imports.Outcome, error) {
	return r.adopt(ctx, targets, adoption{
		here: `select 'user' as space, 'user' as kind, id, name, oncall_id as number from users
    union all select 'team', 'team', id, name, oncall_id from teams
    union all select 'role', 'role', id, name, id from oncall_roles`,
		tables: []numberedTable{{"user", "users", "oncall_id"}, {"team", "teams", "oncall_id"},
			{"role", "oncall_roles", "id"}},
		bound: "m.kind = 'role' and " + referred("m.old",
			"schedules.role_id shifts.role_id team_subscriptions.role_id notice_setting_roles.role_id coverage_warnings.role_id"),
		boundBy: "schedules or shifts",
	})
}

// adopt gives existing rows the predecessor's numbers, and reports the moved rows. If a row cannot be moved, that is a
// conflict, and no row is moved.
func (r *Store) adopt(ctx context.Context, targets []imports.Target, a adoption) (out imports.Outcome, err error) {
	for _, table := range []string{"wanted (space text, kind text, name text, number bigint)", "moves (kind text, id bigint, name text, old bigint, number bigint)"} {
		if err := r.exec(ctx, "create temp table "+table+" on commit drop"); err != nil {
			return out, err
		}
	}
	_, err = r.tx.CopyFrom(ctx, pgx.Identifier{"wanted"}, []string{"space", "kind", "name", "number"}, pgx.CopyFromSlice(len(targets), func(i int) ([]any, error) {
		return []any{cmp.Or(a.space, targets[i].Kind), targets[i].Kind, targets[i].Name, targets[i].Number}, nil
	}))
	if err != nil {
		return out, fmt.Errorf("copy numbers: %w", err)
	}
	if _, err := r.tx.Exec(ctx, fmt.Sprintf(movesSQL, a.here), r.first); err != nil {
		return out, fmt.Errorf("search for existing rows with the same names: %w", err)
	}
	const found = "select '%s', count(*), (array_agg(kind || ' ' || name || ': ' || old || '%s order by kind, old))[1:5] from moves m where %s having count(*) > 0"
	bound := fmt.Sprintf(found, "its number here differs from the source, and "+a.boundBy+" here refer to it",
		" here'", a.bound)
	if err := r.reasons(ctx, check{imports.Conflict, true, bound}, &out); err != nil {
		return out, err
	}
	if len(out.Reasons) == 0 {
		moved := fmt.Sprintf(found, "existed here already and got another number", " -> ' || number", "true")
		if err := r.reasons(ctx, check{imports.Note, false, moved}, &out); err != nil {
			return out, err
		}
		for _, t := range a.tables {
			// In two steps, because two rows may exchange their numbers.
			for _, sql := range []string{
				"update %[1]s t set %[2]s = -m.number from moves m where m.kind = '%[3]s' and m.id = t.id",
				"update %[1]s t set %[2]s = -%[2]s where %[2]s < 0 and '%[3]s' <> ''",
			} {
				if err := r.exec(ctx, fmt.Sprintf(sql, t.table, t.column, t.kind)); err != nil {
					return out, fmt.Errorf("renumber %s: %w", t.table, err)
				}
			}
		}
	}
	return out, r.exec(ctx, "drop table wanted, moves")
}

// movesSQL computes new numbers. $1 is true in the first import. Then a row whose name the predecessor has gets the
// predecessor's number, and any other row whose number the predecessor uses gets a new one. Later imports give a row
// its number from the predecessor only if no other row here has that number and the predecessor does not use the old
// one.
const movesSQL = `insert into moves
with here as (%s), known as (
    select distinct on (kind, lower(name)) kind, lower(name) as name, number from wanted order by kind, lower(name), number
), moving as (
    select h.*, k.number as new
    from here h join known k on k.kind = h.kind and k.name = lower(h.name)
    where k.number <> h.number and ($1 or not exists (select from here o where o.space = h.space and o.number = k.number)
        and not exists (select from wanted w where w.space = h.space and w.number = h.number))
    union all
    select h.*, null
    from here h join wanted w on w.space = h.space and w.number = h.number
    where $1 and not exists (select from known k where k.kind = h.kind and k.name = lower(h.name))
)
select m.kind, m.id, m.name, m.number, coalesce(m.new,
    greatest((select max(w.number) from wanted w where w.space = m.space), (select max(h.number) from here h where h.space = m.space))
        + row_number() over (partition by m.space order by m.number))
from moving m`

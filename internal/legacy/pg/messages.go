package pg

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// storedMessage describes a message of Iris in history. An existing message with the same number is the same message if
// time, incident and application are equal.
func storedMessage() imports.Table {
	t := imports.Table{Name: "message_history", Key: []string{"id"},
		Columns: []imports.Column{{Name: "id", Type: "bigint"}}}
	for _, name := range strings.Fields("created_at bucket incident_id application_id") {
		t.Columns = append(t.Columns, imports.Column{Name: name})
	}
	for _, name := range strings.Fields(`plan_id reopen_count step position repeat recipient purpose user_id target priority class mode
		template state attempt mode_changed settled_at destination subject body email_html render_error attempts batch`) {
		t.Columns = append(t.Columns, imports.Column{Name: name, State: true})
	}
	return t
}

var highestNumber = strconv.Itoa(imports.HighestNumber)

// resolveMessagesSQL computes the step, round and state of every message. A message that still waited counts as
// cancelled while its incident escalates: after Resume the engine makes it again.
var resolveMessagesSQL = `create temp table resolved on commit drop as
with rounds as (
    select id, row_number() over (partition by incident_id, notification_id, target_id order by id) - 1 as repeat
    from staged where incident_id is not null and notification_id is not null
)
select s.ord, s.label, s.id, s.created_at, (coalesce(s.incident_id, s.id) & 255)::smallint as bucket, s.incident_id,
    s.application_id, s.plan_id, 0::smallint as reopen_count, coalesce(n.step, 0)::smallint as step,
    coalesce(n.position, 0)::smallint as position, least(coalesce(r.repeat, 0), 32767)::smallint as repeat,
    case when u.id is null then 'literal:' || s.destination else 'user:' || u.id end as recipient, 'primary' as purpose,
    u.id as user_id, s.target, s.priority,
    (case when s.incident_id is null then 2 when s.priority in ('urgent', 'high') then 0 else 1 end)::smallint as class,
    s.mode, t.name as template,
    case when s.failed then 'failed'
        when s.sent_at is not null then 'sent'
        when s.batch is not null then 'aggregated'
        when s.mode = 'drop' then 'dropped'
        when s.waiting then case when i.active then 'cancelled' else 'dropped' end
        when i.owner_id is not null or i.resolved or i.active then 'cancelled'
        else 'failed' end as state,
    (s.sent_at is not null)::int::smallint as attempt, false as mode_changed, coalesce(s.sent_at, s.created_at) as settled_at,
    s.destination, s.subject, s.body, s.batch, '' as email_html, '' as render_error,
    case when s.sent_at is null then '[]'::jsonb else jsonb_build_array(jsonb_build_object('message_id', s.id, 'attempt', 1,
        'mode', s.mode, 'vendor', 'iris', 'account', '', 'destination', s.destination, 'process_id', 'iris',
        'started_at', s.sent_at, 'finished_at', s.sent_at, 'outcome', 'sent', 'in_doubt', false, 'late', false,
        'detail', 'sent by Iris before the import')) end as attempts,
    s.waiting and s.sent_at is null and not coalesce(i.active, false) as too_late,
    case when s.id not between 1 and ` + highestNumber + ` then '` + imports.WrongNumber + `'
        when a.id is null then 'its application does not exist'
        when s.incident_id is not null and i.id is null then 'its incident does not exist'
        when s.target is null then 'its target does not exist' end as lost,
    array_remove(array[case when s.notification_id is not null and n.id is null then 'plan_notification_id' end,
        case when s.template_id is not null and t.id is null then 'template_id' end], null) as cut,
    s.plan_id is not null and not exists (select from plans p where p.id = s.plan_id) as planless
from staged s
left join applications a on a.id = s.application_id
left join incidents i on i.id = s.incident_id
left join users u on u.target_id = s.target_id
left join plan_notifications n on n.id = s.notification_id
left join templates t on t.id = s.template_id
left join rounds r on r.id = s.id`

var messageRemarks = []check{
	{imports.Note, false, `select 'it was not sent before the import, and its incident does not escalate any more: it is not sent', count(*), ` + examples + `
from resolved where lost is null and too_late having count(*) > 0`},
	{imports.Note, false, `select 'its plan does not exist; the number of the plan is kept', count(*), ` + examples + `
from resolved where lost is null and planless having count(*) > 0`},
}

// loadMessages stores messages of Iris in history.
func (r *Store) loadMessages(ctx context.Context, t imports.Table, records imports.Records) (imports.Outcome, error) {
	var out imports.Outcome
	if err := r.stage(ctx, t, records, &out); err != nil {
		return out, err
	}
	if err := r.exec(ctx, resolveMessagesSQL); err != nil {
		return out, fmt.Errorf("resolve messages: %w", err)
	}
	for _, c := range messageRemarks {
		if err := r.reasons(ctx, c, &out); err != nil {
			return out, fmt.Errorf("search for remarks on messages: %w", err)
		}
	}
	err := r.exec(ctx, `select make_history_partition(month) from (
    select distinct date_trunc('month', created_at at time zone 'UTC') at time zone 'UTC' as month
    from resolved where lost is null and created_at >= '1990-01-01' and created_at < clock_timestamp() + interval '1 year' order by 1) m`)
	if err != nil {
		return out, fmt.Errorf("make the months of history: %w", err)
	}
	return out, r.finishLoad(ctx, storedMessage(), &out)
}

// resumeSQL reconstructs the progress of an incident in its step (escalation.Progress). A notification was made as
// often as the largest number of its messages to one person. An optional notification without messages, while others of
// the step have some, reached nobody. An incident with unsent messages counts as reopened: the engine makes rounds with
// cancelled messages again, for the people who did not get theirs. Times in the future (from a wrong clock) count as
// now, so that no page waits for them.
const resumeSQL = `with made as (
    select i.id, n.position, n.optional, n.id as notification, max(h.repeat) + 1 as made,
        least(min(h.created_at), clock_timestamp()) as first, least(max(h.created_at), clock_timestamp()) as last
    from resuming r
    join incidents i on i.id = r.id
    join plan_notifications n on n.plan_id = i.plan_id and n.step = i.current_step
    left join message_history h on h.incident_id = i.id and h.step = n.step and h.position = n.position
    group by i.id, n.position, n.optional, n.id
), steps as (
    select id, coalesce(sum(made), 0) > 0 as begun, min(first) as first from made group by id
), standing as (
    select m.id, s.first, jsonb_agg(jsonb_build_object('m', coalesce(m.made, 0), 'a', coalesce(m.last, least(i.updated_at, clock_timestamp())),
        's', m.made is null and m.optional and s.begun) order by m.position) as notifications
    from made m join steps s on s.id = m.id join incidents i on i.id = m.id group by m.id, s.first
)
update incidents i
set progress = case when i.current_step > 0 then jsonb_build_object('n', coalesce(st.notifications, '[]'), 't', true) end,
    step_at = case when i.current_step > 0 then coalesce(st.first, least(i.updated_at, clock_timestamp())) end,
    reopen_count = case when exists (select from message_history h where h.incident_id = i.id and h.state = 'cancelled') then 1 else 0 end,
    due_at = clock_timestamp()
from resuming r left join standing st on st.id = r.id
where i.id = r.id`

// Resume continues the escalation of imported incidents, or ends it. See imports.IrisStore.
func (r *Store) Resume(ctx context.Context, goOn bool) (int64, error) {
	sql, text := resumeSQL, "taken over from Iris in step ' || i.current_step || '; escalation goes on"
	if !goOn {
		sql = "update incidents i set active = false from resuming r where r.id = i.id"
		text = "imported while it escalated in Iris; it does not escalate here, as the import was asked to"
	}
	tag, err := r.tx.Exec(ctx, sql)
	if err != nil {
		return 0, fmt.Errorf("resume incidents: %w", err)
	}
	err = r.exec(ctx, `insert into timeline_entries (incident_id, kind, text)
select i.id, 'operator', '`+text+`' from incidents i join resuming r on r.id = i.id order by i.id`)
	return tag.RowsAffected(), err
}

// numberedTables are the tables whose ids come from a sequence. The sequence must be higher than all imported ids.
const numberedTables = `applications templates plan_notifications incidents comments responses message_changes notification_categories devices
	oncall_roles services rosters shifts notice_settings oncall_audit`

// numbers returns, for each sequence, the query of the numbers in use. It includes references to deleted rows, such as
// the plan of a message in history: a new row must not get that number.
func numbers() map[string]string {
	all := map[string]string{
		"'target_ids'":  "select target_id from targets",
		"'message_ids'": "select id from messages union all select id from message_history",
		"pg_get_serial_sequence('users', 'oncall_id')": "select oncall_id from users",
		"pg_get_serial_sequence('teams', 'oncall_id')": "select oncall_id from teams",
		"pg_get_serial_sequence('plans', 'id')":        "select id from plans union all select plan_id from message_history",
		"pg_get_serial_sequence('schedules', 'id')":    "select id from schedules union all select schedule_id from shifts union all select covers_id from shifts",
	}
	for _, table := range strings.Fields(numberedTables) {
		all["pg_get_serial_sequence('"+table+"', 'id')"] = "select id from " + table
	}
	return all
}

// moveNumbersOn moves the sequences beyond the imported numbers. A rollback does not undo that, so it is the last step
// before the commit.
func (r *Store) moveNumbersOn(ctx context.Context) error {
	for sequence, numbers := range numbers() {
		err := r.exec(ctx, fmt.Sprintf(`select setval(%[1]s, h.most) from (select coalesce(max(n), 0) as most from (%[2]s) as u(n)) h
where h.most >= (select nextval(%[1]s))`, sequence, numbers))
		if err != nil {
			return fmt.Errorf("move the numbers on: %w", err)
		}
	}
	return nil
}

// Finish makes sure that web sessions have their application, and records the import.
func (r *Store) Finish(ctx context.Context, detail string) error {
	err := r.exec(ctx, `with made as (
    insert into applications (id, name, allow_other_app_incidents, allow_authenticating_users) overriding system value
    select coalesce((select max(id) from applications), 0) + 1, 'iris', true, true
    where not exists (select from applications where lower(name) = 'iris') returning id
)
insert into application_modes (application_id, mode) select made.id, m.name from made, modes m where m.name <> 'drop'`)
	if err != nil {
		return fmt.Errorf("keep the application of web sessions: %w", err)
	}
	if err := db.New(r.tx).SettleImportedContacts(ctx); err != nil {
		return fmt.Errorf("verify contacts: %w", err)
	}
	err = auditlog.Write(ctx, db.New(r.tx), audit.Entry{Actor: importActor, Action: r.action(), Object: "database",
		Detail: detail})
	r.finished = err == nil
	return err
}

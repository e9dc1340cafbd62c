-- Added pages: those that people ask for in addition to the plan.

-- name: LockForPage :one
select (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved))::boolean as open, (i.resolved or i.merged_into is not null or coalesce(i.closed_at, i.snoozed_until, i.silenced_until) is not null)::boolean as over
from incidents i
where i.id = @id
for no key update of i;

-- name: AddPage :one
insert into added_pages (incident_id, number, kind, targets, priority, template, actor, stopped)
select sqlc.arg(incident_id)::bigint, coalesce(max(p.number), 0) + 1, sqlc.arg(kind)::text, sqlc.arg(targets)::jsonb,
    sqlc.arg(priority)::text, nullif(sqlc.arg(template)::text, ''), sqlc.arg(actor)::text, sqlc.arg(stopped)::boolean
from added_pages p
where p.incident_id = sqlc.arg(incident_id)::bigint
returning number;

-- Lets pages of an incident be sent that no longer escalates, until somebody acknowledges it.
-- name: MarkExhausted :one
update incidents set exhausted_at = clock_timestamp(), version = version + 1 where id = sqlc.arg(id) returning exhausted_at;

-- name: TemplateIsActive :one
select exists (select from template_active t where t.name_key = lower(rtrim(sqlc.arg(template)::text, ' ')))::boolean;

-- name: WaitingPages :many
select p.id, p.bucket, p.incident_id, p.number, p.kind, p.targets, p.priority, coalesce(p.template, '')::text as template, p.actor, p.stopped,
    i.plan_id, i.application_id, i.current_step, i.reopen_count, (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved))::boolean as open,
    (i.resolved or i.merged_into is not null or coalesce(i.closed_at, i.snoozed_until, i.silenced_until) is not null)::boolean as over, coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())::timestamptz as read_at
from added_pages p
join incidents i on i.id = p.incident_id
where p.bucket = any (sqlc.arg(buckets)::smallint[]) and p.made_at is null and p.id <> all (sqlc.arg(excluded)::bigint[])
order by p.id
limit sqlc.arg(most)::int;

-- name: FinishPage :execrows
update added_pages set made_at = clock_timestamp() where id = @id and made_at is null;

-- An incident whose escalation was stopped becomes due: if somebody resolves it, its messages that are not sent yet are cancelled then.
-- name: TouchPaged :exec
update incidents
set updated_at = clock_timestamp(),
    due_at = case when sqlc.arg(stopped)::boolean and not active then least(due_at, clock_timestamp() + interval '5 seconds') else due_at end
where id = @id;

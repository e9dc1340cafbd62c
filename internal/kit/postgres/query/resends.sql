-- Messages that operators send again.

-- name: MessageToResend :one
select m.incident_id, m.request_id, m.application_id, a.name as application, m.plan_id, m.step, m.recipient, m.purpose, m.user_id, m.target, m.priority, m.class, m.mode,
    m.template, m.state
from (
    select q.incident_id, q.request_id, q.application_id, q.plan_id, q.step, q.recipient, q.purpose, q.user_id, q.target, q.priority, q.class, q.mode, q.template, q.state
    from messages q where q.id = sqlc.arg(id)::bigint
    union all
    select h.incident_id, h.request_id, h.application_id, h.plan_id, h.step, h.recipient, h.purpose, h.user_id, h.target, h.priority, h.class, h.mode, h.template, h.state
    from message_history h where h.id = sqlc.arg(id)::bigint
) m
join applications a on a.id = m.application_id
limit 1;

-- Makes a message of an incident again. The incident counts it as an added page, whose number makes the position of the message unique.
-- name: ResendPage :one
with asked as (
    insert into added_pages (incident_id, number, kind, targets, priority, actor, stopped, made_at)
    select sqlc.arg(incident_id)::bigint, coalesce(max(p.number), 0) + 1, 'resend', '[]', coalesce(sqlc.narg(priority)::text, ''), sqlc.arg(actor)::text,
        sqlc.arg(stopped)::boolean, clock_timestamp()
    from added_pages p
    where p.incident_id = sqlc.arg(incident_id)::bigint
    returning number
)
insert into messages (bucket, incident_id, application_id, plan_id, reopen_count, step, position, recipient, purpose, user_id, target, priority, class, mode, literal, template)
select i.bucket, i.id, sqlc.arg(application_id)::bigint, sqlc.narg(plan_id)::bigint, i.reopen_count, sqlc.arg(step)::smallint, -k.number * sqlc.arg(most_targets)::int,
    sqlc.arg(recipient)::text, case when sqlc.arg(stopped)::boolean then 'direct' else 'primary' end, sqlc.narg(user_id)::bigint, sqlc.arg(target)::text,
    sqlc.narg(priority)::text, sqlc.arg(class)::smallint, sqlc.arg(mode)::text,
    case when sqlc.arg(recipient)::text like 'literal:%' then substr(sqlc.arg(recipient)::text, 9) end, sqlc.narg(template)::text
from asked k
join incidents i on i.id = sqlc.arg(incident_id)::bigint
returning id, bucket, (-position / sqlc.arg(most_targets)::int)::int as number;

-- Copies the notification of a message and makes the message again. No row = the notification was deleted.
-- name: ResendNotification :one
with copied as (
    insert into notification_requests (application_id, subject, body, email_html, template, context, sender, bare, shown_to)
    select r.application_id, r.subject, r.body, r.email_html, r.template, r.context, r.sender, r.bare, r.shown_to
    from notification_requests r where r.id = sqlc.arg(request_id)::bigint
    returning id, bucket
)
insert into messages (bucket, request_id, application_id, recipient, purpose, user_id, target, priority, class, mode, literal, template, expires_at)
select c.bucket, c.id, sqlc.arg(application_id)::bigint, sqlc.arg(recipient)::text, 'primary', sqlc.narg(user_id)::bigint, sqlc.arg(target)::text,
    sqlc.narg(priority)::text, sqlc.arg(class)::smallint, sqlc.arg(mode)::text,
    case when sqlc.arg(recipient)::text like 'literal:%' then substr(sqlc.arg(recipient)::text, 9) end, sqlc.narg(template)::text, clock_timestamp() + interval '1 day'
from copied c
returning id, bucket;

-- Links a message and its copy, and adds an entry to the timeline of the incident.
-- name: NoteResend :exec
with noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select sqlc.narg(incident_id)::bigint, 'operator', sqlc.arg(actor)::text,
        'The ' || sqlc.arg(mode)::text || ' to ' || sqlc.arg(target)::text || ' (message ' || sqlc.arg(was)::bigint || ') is sent again as message ' || sqlc.arg(id)::bigint
    where sqlc.narg(incident_id)::bigint is not null
)
insert into message_changes (message_id, change_type, old, new, description)
values (sqlc.arg(was)::bigint, 'sent-change', sqlc.arg(state)::text, sqlc.arg(state)::text, sqlc.arg(actor)::text || ' sends it again as message ' || sqlc.arg(id)::bigint),
    (sqlc.arg(id)::bigint, 'sent-change', '', 'pending', sqlc.arg(actor)::text || ' sends message ' || sqlc.arg(was)::bigint || ' again');

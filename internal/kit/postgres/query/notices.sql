-- Notices: messages about incidents that page nobody.

-- Incidents with the settings of their plans, their owners, and their messages, queued and history. An incident without messages has one row,
-- with empty columns.
-- name: PastOfIncidents :many
select i.id as incident_id, p.settings, coalesce(i.owner_id, 0)::bigint as owner_id, coalesce(u.name, '')::text as owner,
    coalesce(m.recipient, '')::text as recipient, coalesce(m.target, '')::text as target, coalesce(m.mode, '')::text as mode,
    coalesce(m.purpose, '')::text as purpose, coalesce(m.state, '')::text as state, coalesce(m.at, 'epoch')::timestamptz as at
from incidents i
join plans p on p.id = i.plan_id
left join users u on u.id = i.owner_id
left join lateral (
    select q.recipient, q.target, q.mode, q.purpose, q.state, coalesce(q.settled_at, q.created_at) as at
    from messages q where q.incident_id = i.id
    union all
    select h.recipient, h.target, h.mode, h.purpose, h.state, coalesce(h.settled_at, h.created_at)
    from message_history h where h.incident_id = i.id
) m on true
where i.id = any (sqlc.arg(ids)::bigint[])
order by i.id, m.at;

-- name: MakeNotices :exec
insert into messages (bucket, incident_id, application_id, plan_id, reopen_count, repeat, recipient, purpose, user_id, target, priority, class, mode,
    literal, available_at, mode_since, expires_at)
select (i.id & 255)::smallint, i.id, i.application_id, i.plan_id, i.reopen_count, n.repeat, n.recipient, sqlc.arg(purpose)::text, nullif(n.user_id, 0),
    n.target, 'low', 1, n.mode, nullif(n.literal, ''), clock_timestamp() + n.seconds * interval '1 second',
    clock_timestamp() + n.seconds * interval '1 second', clock_timestamp() + (n.seconds + sqlc.arg(life_seconds)::float8) * interval '1 second'
from (
    select unnest(sqlc.arg(incident_ids)::bigint[]) as incident_id, unnest(sqlc.arg(repeats)::smallint[]) as repeat,
        unnest(sqlc.arg(recipients)::text[]) as recipient, unnest(sqlc.arg(user_ids)::bigint[]) as user_id,
        unnest(sqlc.arg(targets)::text[]) as target, unnest(sqlc.arg(modes)::text[]) as mode,
        unnest(sqlc.arg(literals)::text[]) as literal, unnest(sqlc.arg(seconds)::float8[]) as seconds
) n
join incidents i on i.id = n.incident_id
on conflict do nothing;

-- Cancels the notices of a purpose that are not sent yet. The caller has locked the incidents.
-- name: CancelNotices :exec
with locked as materialized (
    select m.id from messages m
    where m.incident_id = any (sqlc.arg(ids)::bigint[]) and m.purpose = sqlc.arg(purpose)::text and m.state in ('pending', 'taken')
    order by m.id
    for no key update
), gone as (
    update messages m
    set state = 'cancelled', settled_at = clock_timestamp(), claim_by = null, claim_until = null
    from locked l where m.id = l.id
    returning m.id, m.incident_id
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select g.incident_id, 'cancelled', '', case count(*) when 1 then 'one notice was' else count(*) || ' notices were' end
        || ' not sent: the incident has changed'
    from gone g group by g.incident_id
)
insert into message_changes (message_id, change_type, old, new, description)
select g.id, 'sent-change', 'pending', 'cancelled', 'the incident has changed' from gone g;

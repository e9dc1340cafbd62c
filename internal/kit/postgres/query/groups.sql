-- Locks a group of events, and adds it unless the integration has so many already. No row = it has.
-- name: LockEventGroup :one
insert into event_groups as g (integration_id, key)
select sqlc.arg(integration_id)::bigint, sqlc.arg(key)::text
where exists (select from event_groups o where o.integration_id = sqlc.arg(integration_id)::bigint and o.key = sqlc.arg(key)::text)
   or (select count(*) from (select from event_groups o where o.integration_id = sqlc.arg(integration_id)::bigint limit sqlc.arg(most)::int) known)
       < sqlc.arg(most)::int
on conflict (integration_id, key) do update set members = g.members
returning coalesce(g.incident_id, 0)::bigint as incident_id, g.members, g.takes_until,
    clock_timestamp()::timestamptz as now,
    coalesce((select v.version from silence_version v), 0)::bigint as silences_version;

-- name: SetEventGroup :exec
update event_groups
set incident_id = sqlc.arg(incident_id)::bigint, members = 1,
    takes_until = clock_timestamp() + make_interval(secs => sqlc.arg(seconds)::float8)
where integration_id = sqlc.arg(integration_id) and key = sqlc.arg(key);

-- name: CountEventOfGroup :exec
update event_groups set members = members + 1 where integration_id = sqlc.arg(integration_id) and key = sqlc.arg(key);

-- The incident that takes a further event of a group; no row = none does.
-- name: EventGroup :one
select g.incident_id::bigint as incident_id, g.members
from event_groups g
where g.integration_id = sqlc.arg(integration_id) and g.key = sqlc.arg(key) and g.takes_until > statement_timestamp() and g.incident_id is not null;

-- name: ForgetEventGroups :execrows
delete from event_groups g
where g.ctid = any(array(
    select o.ctid from event_groups o where o.takes_until < statement_timestamp() - interval '1 hour'
    order by o.takes_until limit 1000
    for update skip locked
));

-- Notes that an event fires as an alert of an incident.
-- name: PutGroupedEvent :execrows
insert into grouped_events as g (integration_id, dedup_key, incident_id, facts)
values (sqlc.arg(integration_id), sqlc.arg(dedup_key), sqlc.arg(incident_id), nullif(sqlc.arg(facts)::text, '')::jsonb)
on conflict (integration_id, dedup_key) do update
set incident_id = excluded.incident_id, facts = excluded.facts, acknowledged = false
where (g.incident_id, g.facts) is distinct from (excluded.incident_id, excluded.facts);

-- The open incident of which an event is an alert; no row = none is.
-- name: OpenIncidentOfEvent :one
select i.id
from grouped_events g
join incidents i on i.id = g.incident_id
where g.integration_id = sqlc.arg(integration_id) and g.dedup_key = sqlc.arg(dedup_key) and i.application_id = sqlc.arg(application_id)
  and not i.resolved and i.closed_at is null;

-- Notes that the source acknowledged or resolved an event. The next firing delivery is news after a resolve.
-- name: EndGroupedEvent :exec
update grouped_events
set acknowledged = sqlc.arg(acknowledged), facts = case when sqlc.arg(acknowledged)::boolean then facts end
where integration_id = sqlc.arg(integration_id) and dedup_key = sqlc.arg(dedup_key);

-- How many alerts an incident of several events has, how many of them fire, and how many of these their source did not
-- acknowledge.
-- name: CountGroupedEvents :one
select count(*) as alerts, count(*) filter (where a.status = 'firing') as firing,
    count(*) filter (where a.status = 'firing' and not coalesce(g.acknowledged, false)) as unacknowledged
from incident_alerts a
left join grouped_events g on g.incident_id = a.incident_id and g.dedup_key = a.fingerprint
where a.incident_id = sqlc.arg(incident_id);

-- name: ContextForDelivery :one
select coalesce(c.context, '{}')::json as context, coalesce(c.severity, '')::text as severity from incident_contexts c where c.incident_id = sqlc.arg(incident_id);

-- name: SetGroupContext :exec
update incident_contexts set context = sqlc.arg(context)::text::json, severity = coalesce(nullif(sqlc.arg(severity)::text, ''), severity)
where incident_id = sqlc.arg(incident_id);

-- name: EndAlert :execrows
update incident_alerts set status = 'resolved', changed_at = clock_timestamp(), ends_at = least(ends_at, clock_timestamp())
where incident_id = sqlc.arg(incident_id) and fingerprint = sqlc.arg(fingerprint) and status = 'firing';

-- Makes the deliveries of an event that its rule counts or groups wait for each other.
-- name: LockEvent :exec
select pg_advisory_xact_lock(hashtextextended('iris event ' || sqlc.arg(integration_id)::bigint || ' ' || sqlc.arg(dedup_key)::text, 0));

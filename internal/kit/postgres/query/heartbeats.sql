-- Heartbeats: their pings, what is due, and their settings.

-- The integration and the heartbeat of each ping. Stores the pings that are allowed: the integration has the type and both are switched on.
-- Of pings within half a second, the first is stored.
-- name: PingHeartbeats :many
with asked as (
    select unnest(sqlc.arg(hashes)::bytea[]) as hash,
        unnest(sqlc.arg(names)::text[]) as name,
        unnest(sqlc.arg(types)::text[]) as type
), known as (
    select a.hash, a.name, a.type as wanted, t.id as token_id, i.id as integration_id, i.name as integration, i.type, i.enabled,
        coalesce(h.id, 0)::bigint as heartbeat_id
    from asked a
    join integration_tokens t on t.hash = a.hash
    join integrations i on i.id = t.integration_id
    left join heartbeats h on h.integration_id = i.id and h.name = a.name
), allowed as (
    select h.id from heartbeats h
    where h.id in (select k.heartbeat_id from known k where k.enabled and k.type = k.wanted)
      and (h.last_ping_at is null
        or h.last_ping_at < coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) - interval '500 milliseconds')
    order by h.id
    for no key update
), pinged as (
    update heartbeats h set last_ping_at = coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())
    from allowed w where h.id = w.id
)
select k.hash::bytea as hash, k.name::text as name, k.wanted::text as wanted, k.token_id, k.integration_id, k.integration, k.type, k.enabled, k.heartbeat_id from known k;

-- Stores that pings can be received now, unless another process did so within 0.9 s. A row with an outage: nobody did for so many seconds.
-- name: KeepReception :many
with before as (
    select r.last_at, coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())::timestamptz as at
    from heartbeat_reception r
    where r.last_at < coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) - interval '900 milliseconds'
    for no key update
)
update heartbeat_reception r
set last_at = b.at, since = case when b.at - b.last_at > make_interval(secs => sqlc.arg(outage_seconds)::float8) then b.at else r.since end
from before b
returning extract(epoch from b.at - b.last_at)::float8 as seconds;

-- name: HeartbeatReception :one
select last_at, since from heartbeat_reception;

-- Heartbeats of some buckets that may need a decision: those that are to be checked, and of the missed ones those that changed. The limits make
-- PostgreSQL read both by their indexes.
-- name: DueHeartbeats :many
select h.id, h.integration_id, i.name as integration, h.name, h.description, h.every_seconds, h.grace_seconds, coalesce(h.plan, '')::text as plan,
    coalesce(h.severity, '')::text as severity, (h.enabled and i.enabled)::boolean as enabled, h.created_by, h.created_at, h.since,
    h.last_ping_at, h.missed_at, h.reported, h.incident_id, h.check_at
from (
    (select c.* from heartbeats c
        where c.missed_at is null and c.check_at <= sqlc.arg(last_at)::timestamptz and (c.id % 256)::smallint = any(sqlc.arg(buckets)::smallint[])
        order by c.check_at limit 1000)
    union all
    (select c.* from heartbeats c
        join integrations n on n.id = c.integration_id
        where c.missed_at is not null and (c.id % 256)::smallint = any(sqlc.arg(buckets)::smallint[])
            and (not c.reported or c.last_ping_at > c.missed_at or not c.enabled or not n.enabled)
        order by c.id limit 1000)
) h
join integrations i on i.id = h.integration_id
order by h.id;

-- Heartbeats that were changed since they were read are left out.
-- name: PostponeHeartbeats :exec
update heartbeats h set check_at = p.until
from (
    select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(before)::timestamptz[]) as before, unnest(sqlc.arg(until)::timestamptz[]) as until
) p
where h.id = p.id and h.check_at = p.before;

-- name: Heartbeats :many
select h.id, h.integration_id, i.name as integration, h.name, h.description, h.every_seconds, h.grace_seconds, coalesce(h.plan, '')::text as plan,
    coalesce(h.severity, '')::text as severity, h.enabled, h.created_by, h.created_at, h.since,
    h.last_ping_at, h.missed_at, h.reported, h.incident_id, h.check_at
from heartbeats h
join integrations i on i.id = h.integration_id
where sqlc.arg(integration_id)::bigint in (0, h.integration_id) and sqlc.arg(application_id)::bigint in (0, i.application_id)
order by i.name, h.name;

-- name: MissHeartbeat :many
update heartbeats set missed_at = coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()), reported = false, incident_id = null
where id = @id and missed_at is null and last_ping_at = @last_ping_at and since = @since
returning missed_at;

-- Also marks the heartbeat as missed if that was undone meanwhile: the incident is open, so it must be resolved later.
-- name: ReportHeartbeat :exec
update heartbeats
set reported = true, incident_id = nullif(sqlc.arg(incident_id)::bigint, 0),
    missed_at = coalesce(missed_at, sqlc.arg(missed_at)::timestamptz)
where id = @id;

-- name: EndMissedHeartbeat :execrows
update heartbeats set missed_at = null, reported = false, incident_id = null where id = @id and missed_at = @missed_at;

-- name: LockHeartbeat :one
select name, description, every_seconds, grace_seconds, coalesce(plan, '')::text as plan, coalesce(severity, '')::text as severity, enabled
from heartbeats where id = @id for update;

-- name: CountHeartbeats :one
select count(*) from heartbeats where integration_id = @integration_id;

-- name: AddHeartbeat :exec
insert into heartbeats (integration_id, name, description, every_seconds, grace_seconds, plan, severity, enabled, created_by)
values (@integration_id, @name, @description, @every_seconds, @grace_seconds, nullif(@plan::text, ''), nullif(@severity::text, ''), @enabled, @created_by);

-- A heartbeat that is switched on gets a whole interval.
-- name: ReplaceHeartbeat :exec
update heartbeats
set description = @description, every_seconds = @every_seconds, grace_seconds = @grace_seconds, plan = nullif(@plan::text, ''),
    severity = nullif(@severity::text, ''), since = case when not enabled and @enabled then clock_timestamp() else since end, enabled = @enabled,
    check_at = 'epoch'
where id = @id;

-- name: DeleteHeartbeat :execrows
delete from heartbeats where id = @id;

-- The heartbeats of an integration that was switched on get a whole interval.
-- name: RestartHeartbeats :exec
update heartbeats set since = clock_timestamp() where integration_id = @integration_id;

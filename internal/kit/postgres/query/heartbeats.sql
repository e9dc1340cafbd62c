-- Heartbeats: their pings, what is due, and their settings.

-- The integration and the heartbeat of each ping. Stores the pings that are allowed: the integration has the type and both are switched on.
-- Of pings within half a second, the first is stored. A call that is not plain is only looked up. Of a busy heartbeat, the ping may end a run.
-- name: PingHeartbeats :many
with asked as (
    select unnest(sqlc.arg(hashes)::bytea[]) as hash,
        unnest(sqlc.arg(names)::text[]) as name,
        unnest(sqlc.arg(types)::text[]) as type,
        unnest(sqlc.arg(plain)::boolean[]) as plain
), known as (
    select a.hash, a.name, a.type as wanted, a.plain, t.id as token_id, i.id as integration_id, i.name as integration, i.type, i.enabled,
        coalesce(h.id, 0)::bigint as heartbeat_id,
        (h.started_at is not null or h.missed_at is not null) as busy
    from asked a
    join integration_tokens t on t.hash = a.hash
    join integrations i on i.id = t.integration_id
    left join heartbeats h on h.integration_id = i.id and h.name = a.name
), allowed as (
    select h.id from heartbeats h
    where h.id in (select k.heartbeat_id from known k where k.enabled and k.type = k.wanted and k.plain)
      and (h.last_ping_at is null
        or h.last_ping_at < coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) - interval '500 milliseconds')
    order by h.id
    for no key update
), pinged as (
    update heartbeats h set last_ping_at = coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())
    from allowed w where h.id = w.id
)
select k.hash::bytea as hash, k.name::text as name, k.wanted::text as wanted, k.plain::boolean as plain, k.token_id, k.integration_id, k.integration, k.type, k.enabled,
    k.heartbeat_id, k.busy::boolean as busy
from known k;

-- Locks a heartbeat for a call that may change its runs.
-- name: LockSignalled :many
select enabled, last_ping_at, missed_at, coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())::timestamptz as at
from heartbeats where id = @id for no key update;

-- name: StartRun :exec
insert into heartbeat_runs (heartbeat_id, run, started_at) values (@heartbeat_id, @run, @started_at);

-- Ends the latest run of that name, unless it has ended.
-- name: EndRun :many
update heartbeat_runs r set ended_at = sqlc.arg(at)::timestamptz, failed = @failed, exit_code = @exit_code
where r.ended_at is null and r.id = (
    select l.id from heartbeat_runs l where l.heartbeat_id = @heartbeat_id and l.run = @run order by l.started_at desc, l.id desc limit 1)
returning r.started_at;

-- Runs of that name, or that began until then, are not expected to end any more.
-- name: LoseRuns :exec
update heartbeat_runs set lost = true
where heartbeat_id = @heartbeat_id and ended_at is null and not lost
  and (run = sqlc.narg(run)::text or started_at <= sqlc.narg(until)::timestamptz);

-- Keeps the latest runs. Those that are expected to end are kept before others.
-- name: TrimRuns :exec
delete from heartbeat_runs where id in (
    select r.id from heartbeat_runs r where r.heartbeat_id = @heartbeat_id
    order by (r.ended_at is null and not r.lost) desc, r.started_at desc, r.id desc offset sqlc.arg(kept)::int);

-- A run that began before the last one of that name ended does not move the deadline.
-- name: SignalHeartbeat :exec
update heartbeats h
set last_ping_at = case when sqlc.arg(pinged)::boolean then sqlc.arg(at)::timestamptz else h.last_ping_at end,
    missed_at = case when sqlc.arg(failed)::boolean then sqlc.arg(at)::timestamptz else h.missed_at end,
    reported = h.reported and not sqlc.arg(failed)::boolean,
    failure = case when sqlc.arg(failed)::boolean then sqlc.arg(failure)::text else h.failure end,
    last_run_us = coalesce(sqlc.narg(took_us)::bigint, h.last_run_us),
    started_at = case when sqlc.arg(began)::boolean then coalesce(h.started_at, sqlc.arg(at)::timestamptz)
        else (select min(r.started_at) from heartbeat_runs r where r.heartbeat_id = h.id and r.ended_at is null and not r.lost) end
where h.id = @id;

-- name: KeepHeartbeatText :exec
insert into heartbeat_texts (heartbeat_id, signal, body, at) values (@heartbeat_id, @signal, @body, @at)
on conflict (heartbeat_id) do update set signal = excluded.signal, body = excluded.body, at = excluded.at;

-- name: HeartbeatText :many
select signal, body, at from heartbeat_texts where heartbeat_id = @heartbeat_id;

-- name: HeartbeatRuns :many
select run, started_at, ended_at, lost, failed, exit_code from heartbeat_runs where heartbeat_id = @heartbeat_id order by started_at desc, id desc;

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
    h.last_ping_at, h.missed_at, h.reported, h.incident_id, h.check_at,
    h.started_at, h.last_run_us, coalesce(h.failure, '')::text as failure
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
    h.last_ping_at, h.missed_at, h.reported, h.incident_id, h.check_at,
    h.started_at, h.last_run_us, coalesce(h.failure, '')::text as failure
from heartbeats h
join integrations i on i.id = h.integration_id
where sqlc.arg(integration_id)::bigint in (0, h.integration_id) and sqlc.arg(application_id)::bigint in (0, i.application_id)
order by i.name, h.name;

-- name: MissHeartbeat :many
update heartbeats set missed_at = coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()), reported = false, incident_id = null,
    failure = nullif(@failure::text, '')
where id = @id and missed_at is null and last_ping_at is not distinct from sqlc.narg(last_ping_at)::timestamptz
    and started_at is not distinct from sqlc.narg(started_at)::timestamptz and since = @since
returning missed_at;

-- Also marks the heartbeat as missed if that was undone meanwhile: the incident is open, so it must be resolved later. A failure since the
-- heartbeat was read is still to be reported.
-- name: ReportHeartbeat :exec
update heartbeats
set reported = coalesce(missed_at, sqlc.arg(missed_at)::timestamptz) = sqlc.arg(missed_at)::timestamptz,
    incident_id = nullif(sqlc.arg(incident_id)::bigint, 0),
    missed_at = coalesce(missed_at, sqlc.arg(missed_at)::timestamptz)
where id = @id;

-- name: EndMissedHeartbeat :execrows
update heartbeats set missed_at = null, reported = false, incident_id = null, failure = null where id = @id and missed_at = @missed_at;

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

-- The live processes (members) and the owners of buckets (bucket_leases).

-- The fence. Locks the lease rows in ascending order until the transaction ends, so that no acquire or release of these
-- buckets commits before it. The caller compares owner and epoch.
-- name: LockLeases :many
select bucket, owner, epoch
from bucket_leases
where bucket = any(sqlc.arg(buckets)::smallint[])
order by bucket
for share;

-- Writes the heartbeat in the database's time. `joined` is true if the row is new. An operator's drain stays. The commit does
-- not wait for the disk or for a standby. A lost heartbeat is followed by the next one. A heartbeat that is late because of slow
-- commits would make a live process count as dead.
-- name: BeatMember :one
insert into members (process_id, host, gossip_addr, version, data_shape, modes, draining, clock_skew_seconds)
select sqlc.arg(process_id)::text, sqlc.arg(host)::text, sqlc.arg(gossip_addr)::text, sqlc.arg(version)::text,
    sqlc.arg(data_shape)::int, sqlc.arg(modes)::text[], sqlc.arg(draining)::boolean, sqlc.narg(clock_skew_seconds)::float8
where set_config('synchronous_commit', 'off', true) = 'off'
on conflict (process_id) do update
set heartbeat_at = clock_timestamp(),
    gossip_addr = excluded.gossip_addr,
    clock_skew_seconds = excluded.clock_skew_seconds,
    draining = members.draining or excluded.draining
returning (xmax = 0)::boolean as joined;

-- name: ListMembers :many
select process_id, host, gossip_addr, version, data_shape, modes, started_at, heartbeat_at, draining, coalesce(ended_at > heartbeat_at, false)::boolean as ended,
    clock_skew_seconds,
    extract(epoch from clock_timestamp() - heartbeat_at)::float8 as age_seconds
from members
order by process_id;

-- name: ListLeases :many
select bucket, owner, epoch, acquired_at
from bucket_leases
order by bucket;

-- First half of an acquire: locks the rows. The second half is a separate statement, so that its snapshot has the owners at the
-- time of the lock. A row that a transaction of its owner uses is skipped until the next try.
-- name: LockLeasesForAcquire :many
select bucket
from bucket_leases
where bucket = any(sqlc.arg(buckets)::smallint[])
order by bucket
for no key update skip locked;

-- Second half: takes the leases that are free or whose owner is not live, and records from whom. Only a live member gets leases.
-- name: AcquireLeases :many
with live as materialized (
    select m.process_id, m.draining
    from members m
    where m.heartbeat_at > clock_timestamp() - make_interval(secs =>
        case when m.process_id = any(sqlc.arg(suspects)::text[])
             then sqlc.arg(suspect_seconds)::float8 else sqlc.arg(fresh_seconds)::float8 end)
),
previous as materialized (
    select l.bucket, l.owner, coalesce(l.owner, l.last_owner, '') as last from bucket_leases l where l.bucket = any(sqlc.arg(buckets)::smallint[])
),
taken as (
    update bucket_leases l
    set owner = sqlc.arg(process_id)::text, last_owner = sqlc.arg(process_id)::text, epoch = l.epoch + 1, acquired_at = clock_timestamp()
    from previous p
    where l.bucket = p.bucket
      and (p.owner is null or p.owner not in (select process_id from live))
      and exists (select 1 from live where process_id = sqlc.arg(process_id)::text and not draining)
    returning l.bucket, l.epoch, p.owner is not null as taken_over, p.last
),
noted as (
    insert into handovers (owner, host, previous, taken_over, buckets)
    select sqlc.arg(process_id)::text, m.host, t.last, t.taken_over, array_agg(t.bucket order by t.bucket)
    from taken t
    join members m on m.process_id = sqlc.arg(process_id)::text
    where t.last <> sqlc.arg(process_id)::text
    group by m.host, t.last, t.taken_over
)
select t.bucket, t.epoch, t.taken_over::boolean as taken_over from taken t;

-- name: ReleaseLeases :many
with mine as materialized (
    select bucket from bucket_leases
    where bucket = any(sqlc.arg(buckets)::smallint[]) and owner = sqlc.arg(process_id)::text
    order by bucket
    for no key update skip locked
)
update bucket_leases l
set owner = null, acquired_at = null
from mine
where l.bucket = mine.bucket
returning l.bucket;

-- name: SetMemberDraining :execrows
update members set draining = sqlc.arg(draining) where process_id = sqlc.arg(process_id);

-- Drains run one after the other, so that each of them sees the drains before it.
-- name: LockMembers :exec
select from members order by process_id for no key update;

-- name: MarkMemberEnded :exec
update members set ended_at = clock_timestamp()
where process_id = sqlc.arg(process_id) and coalesce(ended_at < heartbeat_at, true)
  and heartbeat_at < clock_timestamp() - make_interval(secs => sqlc.arg(fresh_seconds)::float8);

-- name: DeleteMember :exec
delete from members where process_id = sqlc.arg(process_id);

-- name: ReapMembers :execrows
delete from members where heartbeat_at < clock_timestamp() - make_interval(secs => sqlc.arg(dead_seconds)::float8);

-- A hint that members or leases changed. Run in autocommit.
-- name: NotifyMembers :exec
select pg_notify('iris_members', sqlc.arg(process_id)::text);

-- Buckets that nobody alive takes care of.
-- name: CountBucketsWithoutLiveOwner :one
select count(*)::int as unowned
from bucket_leases l
where not exists (
    select 1 from members m
    where m.process_id = l.owner
      and m.heartbeat_at > clock_timestamp() - make_interval(secs => sqlc.arg(fresh_seconds)::float8)
);

-- The modes that live processors have a vendor for. Told is the number of processors that have published their modes.
-- name: ServedModes :one
with live as (
    select modes from members where heartbeat_at > clock_timestamp() - interval '30 seconds' and not draining
)
select count(*)::int as processors, count(modes)::int as told,
    coalesce((select array_agg(distinct m.mode order by m.mode) from live l cross join unnest(l.modes) as m(mode)), '{}')::text[] as modes
from live;

-- Those of the modes that no processor has served for a time. A processor of a release that does not publish its modes counts as serving all
-- of them. A mode that was served before the whole cluster stopped gets the same time after a restart: the processor that serves it may
-- start a moment later than this one.
-- name: UnservedModes :many
select w.mode::text as mode
from unnest(sqlc.arg(modes)::text[]) as w(mode)
where not exists (
        select from members m
        where m.heartbeat_at > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8) and (m.modes is null or w.mode = any (m.modes)))
  and not exists (
        select from served_modes s
        where s.mode = w.mode and (s.served_at > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8)
            or not exists (
                select from members m
                where m.heartbeat_at > clock_timestamp() - make_interval(secs => sqlc.arg(fresh_seconds)::float8)
                  and m.started_at < clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8))));

-- The latest hand-overs of buckets, newest first.
-- name: Handovers :many
select h.at, h.owner, h.host, h.previous, coalesce(p.host, '')::text as previous_host, h.taken_over, h.buckets
from handovers h
left join lateral (select o.host from handovers o where o.owner = h.previous order by o.id desc limit 1) p on true
order by h.id desc
limit sqlc.arg(most)::int;

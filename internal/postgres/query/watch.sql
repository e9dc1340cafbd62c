-- What every process watches, whoever owns the buckets.

-- The message of every bucket that has waited longest although it may be taken, hopping over the index from lane to lane. What
-- an operator has paused waits on purpose.
-- name: OldestPendingByBucket :many
with recursive lanes as (
    select b.bucket, f.id, f.mode, f.class, f.application_id, f.available_at
    from (select generate_series(0, 255)::smallint as bucket) b
    cross join lateral (
        select m.id, m.mode, m.class, m.application_id, m.available_at
        from messages m
        where m.bucket = b.bucket and m.state = 'pending' and m.settled_at is null
        order by m.mode, m.class, m.application_id, m.available_at
        limit 1
    ) f
    union all
    select l.bucket, n.id, n.mode, n.class, n.application_id, n.available_at
    from lanes l
    cross join lateral (
        select m.id, m.mode, m.class, m.application_id, m.available_at
        from messages m
        where m.bucket = l.bucket and m.state = 'pending' and m.settled_at is null
          and (m.mode, m.class, m.application_id) > (l.mode, l.class, l.application_id)
        order by m.mode, m.class, m.application_id, m.available_at
        limit 1
    ) n
)
select distinct on (l.bucket) l.bucket::smallint as bucket, l.id::bigint as id, l.mode::text as mode, a.name as application,
    extract(epoch from statement_timestamp() - l.available_at)::float8 as age_seconds
from lanes l
join applications a on a.id = l.application_id
where l.available_at <= statement_timestamp() and not a.paused
  and not exists (select from vendor_pauses p where p.account = 'mode:' || l.mode and p.until > statement_timestamp())
order by l.bucket, l.available_at;

-- Checks that `iris bench` makes after it killed processors.

-- Whether every bucket is owned by a member with a heartbeat after that time, and how long ago that time is.
-- name: BucketsOwnedSince :one
select extract(epoch from clock_timestamp() - sqlc.arg(since)::timestamptz)::float8 as after_seconds,
    not exists (
        select from bucket_leases l
        where not exists (select from members m where m.process_id = l.owner and m.heartbeat_at > sqlc.arg(since)::timestamptz)
    ) as owned;

-- name: CountAttemptsInDoubt :one
select (
    (select count(*) from attempts t join messages m on m.id = t.message_id join applications p on p.id = m.application_id
     where t.in_doubt and lower(p.name) = lower(sqlc.arg(application)::text))
    +
    (select count(*) from message_history h join applications p on p.id = h.application_id,
        lateral jsonb_array_elements(h.attempts) as a
     where lower(p.name) = lower(sqlc.arg(application)::text) and (a ->> 'in_doubt')::boolean)
)::int as in_doubt;

-- name: CountUnsettledMessages :one
select count(*)::int as unsettled
from messages m
join applications p on p.id = m.application_id
where m.settled_at is null and m.state in ('pending', 'taken', 'sending') and lower(p.name) = lower(sqlc.arg(application)::text);

-- name: ReadQueueSize :one
select count(*) filter (where settled_at is null) as waiting,
    coalesce(extract(epoch from clock_timestamp() - min(created_at) filter (where settled_at is null)), 0)::float8 as oldest_seconds,
    count(settled_at) as finished,
    coalesce(extract(epoch from clock_timestamp() - min(settled_at)), 0)::float8 as oldest_finished_seconds
from messages;

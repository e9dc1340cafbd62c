-- What operators see of the queue and of the vendors.

-- The calls of each account of a vendor since an instant, and the detail of the last failure.
-- name: VendorCalls :many
with calls as (
    select a.vendor, a.account, a.mode, a.outcome, a.in_doubt, a.detail, a.finished_at as at
    from messages m join attempts a on a.message_id = m.id
    where (m.settled_at > sqlc.arg(since)::timestamptz or m.settled_at is null and m.attempt > 0) and a.finished_at > sqlc.arg(since)::timestamptz
    union all
    select coalesce(a.value ->> 'vendor', ''), coalesce(a.value ->> 'account', ''), a.value ->> 'mode', a.value ->> 'outcome', (a.value ->> 'in_doubt')::boolean,
        coalesce(a.value ->> 'detail', ''), (a.value ->> 'finished_at')::timestamptz
    from message_history h cross join lateral jsonb_array_elements(h.attempts) a
    where h.created_at > sqlc.arg(since)::timestamptz - interval '1 day' -- the index has no later time
        and coalesce(h.settled_at, h.created_at) > sqlc.arg(since)::timestamptz and (a.value ->> 'finished_at')::timestamptz > sqlc.arg(since)::timestamptz
)
select c.vendor::text as vendor, c.account::text as account, c.mode::text as mode, count(*)::bigint as calls,
    count(*) filter (where c.outcome <> 'sent')::bigint as failed, count(*) filter (where c.in_doubt)::bigint as in_doubt,
    coalesce(max(c.at) filter (where c.outcome = 'sent'), to_timestamp(0))::timestamptz as last_sent_at,
    coalesce(max(c.at) filter (where c.outcome <> 'sent'), to_timestamp(0))::timestamptz as last_failed_at,
    coalesce((array_agg(c.outcome || ': ' || c.detail order by c.at desc) filter (where c.outcome <> 'sent'))[1], '')::text as last_failure
from calls c
where c.outcome is not null and c.outcome <> 'cancelled'
group by 1, 2, 3
order by 1, 2, 3;

-- For each limit: the calls planned in the last minute, how many it allows, and how far ahead calls are planned. The calls of the
-- previous minute are weighted by the part of it that is in the last 60 seconds. A limit without calls in the last hour is left out.
-- name: LimitUses :many
select l.key, greatest(0, extract(epoch from l.next_at - now.at))::float8 as ahead_seconds, l.next_at,
    coalesce(60000000.0 / nullif(l.interval_us, 0), 0)::float8 as per_minute,
    (case l.minute_at when now.minute then l.minute_used + l.minute_before * (1 - extract(epoch from now.at - now.minute) / 60)
        when now.minute - interval '1 minute' then l.minute_used * (1 - extract(epoch from now.at - now.minute) / 60) else 0 end)::float8 as used
from limits l
cross join (select n.at, date_trunc('minute', n.at) as minute from (select clock_timestamp() as at) n) now
where l.next_at > now.at - interval '1 hour'
order by 2 desc, 1
limit 200;

-- name: PausedApplications :many
select a.name from applications a where a.paused order by lower(a.name);

-- The notifications that reached nobody since an instant, newest first. The condition is that of the index timeline_nobody.
-- name: Unreached :many
select t.id::bigint as id, t.incident_id, t.at, t.text, a.name as application, p.name as plan
from timeline_entries t
join incidents i on i.id = t.incident_id
join applications a on a.id = i.application_id
join plans p on p.id = i.plan_id
where t.kind = 'fallback' and t.text like '%this notification reaches NOBODY'
  and t.at > sqlc.arg(since)::timestamptz and sqlc.arg(application_id)::bigint in (0, i.application_id) and (sqlc.arg(before)::bigint = 0 or t.id < sqlc.arg(before)::bigint)
order by t.id desc
limit sqlc.arg(most)::int;

-- Figures about incidents and messages in weeks back from an hour: week 0 is the last one, 7 is everything older.

-- Allows long statements in this transaction only. Later work on the connection keeps its limits.
-- name: AllowLongReading :exec
select set_config('statement_timeout', '60000', true), set_config('lock_timeout', '60000', true);

-- name: LockStatistics :exec
select pg_advisory_xact_lock(hashtext('statistics'));

-- name: ThisHour :one
select date_trunc('hour', clock_timestamp(), 'UTC')::timestamptz as hour;

-- name: StatisticsSnapshot :one
select body from statistics_snapshots where hour = @hour;

-- name: KeepStatistics :exec
insert into statistics_snapshots (hour, body) values (@hour, @body)
on conflict (hour) do update set body = excluded.body, computed_at = clock_timestamp();

-- name: ForgetStatistics :exec
delete from statistics_snapshots where hour < @hour;

-- The first point is the newest. It includes people and applications that were added after the hour began, as an import does.
-- name: TotalsAt :many
select p.ord::int as point,
    (select count(*) from plans x where x.created_at < p.at) as plans,
    (select count(*) from users x where (x.created_at < p.at or p.ord = 1) and x.active) as users,
    (select count(*) from applications x where (x.created_at < p.at or p.ord = 1) and not x.auth_only) as applications
from unnest(sqlc.arg(points)::timestamptz[]) with ordinality as p (at, ord)
order by p.ord;

-- name: IncidentWeeks :many
with high as (
    select distinct plan_id from plan_notifications where priority in ('urgent', 'high')
)
select i.application_id, least(7, floor(extract(epoch from sqlc.arg(hour)::timestamptz - i.created_at) / 604800))::int as week,
    count(*) as incidents, count(i.owner_id) as claimed, count(h.plan_id) as high
from incidents i
left join high h on h.plan_id = i.plan_id
where i.created_at < sqlc.arg(hour)::timestamptz
group by 1, 2;

-- Medians of the seconds from opening to the first acknowledgement, per application and (application_id = 0) over all.
-- name: ClaimMedians :many
select coalesce(x.application_id, 0)::bigint as application_id, x.week,
    (percentile_cont(0.5) within group (order by x.seconds))::float8 as median
from (
    select i.application_id, floor(extract(epoch from sqlc.arg(hour)::timestamptz - i.created_at) / 604800)::int as week,
        greatest(0, extract(epoch from coalesce(
            (select min(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged'), i.updated_at
        ) - i.created_at))::float8 as seconds
    from incidents i
    where i.created_at >= sqlc.arg(hour)::timestamptz - interval '49 days' and i.created_at < sqlc.arg(hour)::timestamptz
      and i.owner_id is not null
) x
group by grouping sets ((x.application_id, x.week), (x.week));

-- name: MessageWeeks :many
select x.application_id, x.mode, least(7, floor(extract(epoch from sqlc.arg(hour)::timestamptz - x.at) / 604800))::int as week,
    count(*) filter (where x.state in ('sent', 'delivered') or x.mode = 'drop' and x.state = 'dropped') as sent,
    count(*) filter (where x.state = 'delivered') as delivered,
    count(*) filter (where x.state = 'failed' and x.attempt > 0) as failed,
    count(*) filter (where x.attempt > 0) as tried
from (
    select m.application_id, m.mode, m.state, m.attempt, coalesce(m.settled_at, m.created_at) as at from messages m
    where m.state not in ('pending', 'taken', 'sending')
    union all
    select h.application_id, h.mode, h.state, h.attempt, coalesce(h.settled_at, h.created_at) from message_history h
) x
where x.at < sqlc.arg(hour)::timestamptz
group by 1, 2, 3;

-- Calls that were made again for the same message.
-- name: CallRetryWeeks :many
select x.application_id, floor(extract(epoch from sqlc.arg(hour)::timestamptz - x.at) / 604800)::int as week, count(*) as retries
from (
    select m.application_id, a.started_at as at
    from attempts a
    join messages m on m.id = a.message_id
    where a.mode = 'call' and a.attempt > 1
      and exists (select from attempts b where b.message_id = a.message_id and b.mode = 'call' and b.attempt < a.attempt)
    union all
    select h.application_id, (a.value ->> 'started_at')::timestamptz
    from message_history h
    cross join lateral jsonb_array_elements(h.attempts) a
    where h.attempt > 1 and h.created_at >= sqlc.arg(hour)::timestamptz - interval '56 days' and a.value ->> 'mode' = 'call'
      and exists (select from jsonb_array_elements(h.attempts) b
        where b.value ->> 'mode' = 'call' and (b.value ->> 'attempt')::int < (a.value ->> 'attempt')::int)
) x
where x.at < sqlc.arg(hour)::timestamptz and x.at >= sqlc.arg(hour)::timestamptz - interval '49 days'
group by 1, 2;

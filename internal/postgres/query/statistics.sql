-- Figures about incidents and messages in weeks back from an hour: week 0 is the last one, 7 is everything older. They are
-- summed up from tables that count incidents and messages by hour.

-- Allows long statements and all plans in this transaction only. Later work on the connection keeps its limits, and in a
-- message-processor its fixed plans.
-- name: AllowLongReading :exec
select set_config('statement_timeout', '60000', true), set_config('lock_timeout', '60000', true),
    set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'on', true),
    set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true);

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
select s.application_id, least(7, floor(extract(epoch from sqlc.arg(hour)::timestamptz - s.at) / 604800))::int as week,
    sum(s.incidents)::bigint as incidents, sum(s.claimed)::bigint as claimed,
    coalesce(sum(s.incidents) filter (where h.plan_id is not null), 0)::bigint as high
from statistics_incidents s
left join high h on h.plan_id = s.plan_id
where s.at <= sqlc.arg(hour)::timestamptz
group by 1, 2;

-- Medians of the seconds from opening to the first acknowledgement, per application and (application_id = 0) over all.
-- name: ClaimMedians :many
select coalesce(x.application_id, 0)::bigint as application_id, x.week,
    (percentile_cont(0.5) within group (order by x.seconds))::float8 as median
from (
    select s.application_id, floor(extract(epoch from sqlc.arg(hour)::timestamptz - s.at) / 604800)::int as week, unnest(s.claim_seconds) as seconds
    from statistics_incidents s
    where s.at > sqlc.arg(hour)::timestamptz - interval '49 days' and s.at <= sqlc.arg(hour)::timestamptz
) x
group by grouping sets ((x.application_id, x.week), (x.week));

-- name: MessageWeeks :many
select s.application_id, s.mode, least(7, floor(extract(epoch from sqlc.arg(hour)::timestamptz - s.at) / 604800))::int as week,
    sum(s.sent)::bigint as sent, sum(s.delivered)::bigint as delivered, sum(s.failed)::bigint as failed, sum(s.tried)::bigint as tried
from statistics_messages s
where s.at <= sqlc.arg(hour)::timestamptz
group by 1, 2, 3;

-- Calls that were made again for the same message.
-- name: CallRetryWeeks :many
select x.application_id, floor(extract(epoch from sqlc.arg(hour)::timestamptz - x.at) / 604800)::int as week, count(*) as retries
from (
    select m.application_id, a.started_at as at
    from attempts a
    join messages m on m.id = a.message_id
    where a.mode = 'call' and a.attempt > 1 and a.started_at >= sqlc.arg(hour)::timestamptz - interval '49 days'
      and exists (select from attempts b where b.message_id = a.message_id and b.mode = 'call' and b.attempt < a.attempt)
    union all
    select h.application_id, (a.value ->> 'started_at')::timestamptz
    from message_history h
    cross join lateral jsonb_array_elements(h.attempts) a
    where h.attempt > 1 and h.attempts @> '[{"mode": "call"}]' and h.created_at >= sqlc.arg(hour)::timestamptz - interval '56 days'
      and a.value ->> 'mode' = 'call'
      and exists (select from jsonb_array_elements(h.attempts) b
        where b.value ->> 'mode' = 'call' and (b.value ->> 'attempt')::int < (a.value ->> 'attempt')::int)
) x
where x.at < sqlc.arg(hour)::timestamptz and x.at >= sqlc.arg(hour)::timestamptz - interval '49 days'
group by 1, 2;

-- name: StatisticsProgress :one
select p.counted_to, p.days_to from statistics_progress p;

-- Begins to count all hours anew.
-- name: BeginStatistics :one
with incidents_gone as (
    delete from statistics_incidents
), messages_gone as (
    delete from statistics_messages
), changes_gone as (
    delete from statistics_changes
)
insert into statistics_progress (counted_to, days_to)
select date_bin('1 day', least(@hour::timestamptz, (select min(i.created_at) from incidents i), (select min(m.settled_at) from messages m where m.settled_at is not null),
    (select min(h.created_at) from message_history h)) - interval '1 day', '2000-01-01 00:00+00'), @days_to::timestamptz
returning counted_to, days_to;

-- name: AdvanceStatistics :exec
update statistics_progress set counted_to = @counted_to, days_to = @days_to;

-- Has an hour counted once more ten minutes after its end: a transaction that began in it can commit later.
-- name: RecountHour :exec
insert into statistics_changes (due_at, at)
select sqlc.arg(at)::timestamptz + interval '10 minutes', sqlc.arg(at)::timestamptz
where clock_timestamp() < sqlc.arg(at)::timestamptz + interval '10 minutes';

-- Takes some of the changed hours.
-- name: TakeChangedHours :many
with due as materialized (
    select distinct c.at from statistics_changes c where c.due_at <= clock_timestamp() order by c.at limit 24
), gone as (
    delete from statistics_changes c using due d where c.at = d.at and c.due_at <= clock_timestamp()
)
select d.at from due d order by d.at;

-- Counts the incidents of a span anew, in parts of an hour or a day.
-- name: CountIncidents :exec
with gone as (
    delete from statistics_incidents s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_incidents (at, application_id, plan_id, incidents, claimed, claim_seconds)
select x.at, x.application_id, x.plan_id, count(*), count(x.owner_id), coalesce(array_agg(x.seconds) filter (where x.seconds is not null), '{}')
from (
    select i.application_id, i.plan_id, i.owner_id,
        date_bin(sqlc.arg(part_seconds)::int * interval '1 second', i.created_at - interval '1 microsecond', '2000-01-01 00:00+00')
            + sqlc.arg(part_seconds)::int * interval '1 second' as at,
        case when i.owner_id is not null and sqlc.arg(part_seconds)::int = 3600 then greatest(0, extract(epoch from coalesce(
            (select min(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged'), i.updated_at
        ) - i.created_at))::float8 end as seconds
    from incidents i
    where i.created_at > sqlc.arg(after)::timestamptz and i.created_at <= sqlc.arg(until)::timestamptz
) x
group by 1, 2, 3;

-- Counts the messages of a span anew, in parts of an hour or a day.
-- name: CountMessages :exec
with gone as (
    delete from statistics_messages s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_messages (at, application_id, mode, sent, delivered, failed, tried)
select date_bin(sqlc.arg(part_seconds)::int * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00')
        + sqlc.arg(part_seconds)::int * interval '1 second',
    x.application_id, x.mode,
    count(*) filter (where x.state in ('sent', 'delivered') or x.mode = 'drop' and x.state = 'dropped'),
    count(*) filter (where x.state = 'delivered'),
    count(*) filter (where x.state = 'failed' and x.attempt > 0),
    count(*) filter (where x.attempt > 0)
from (
    select m.application_id, m.mode, m.state, m.attempt, m.settled_at as at from messages m
    where m.settled_at > sqlc.arg(after)::timestamptz and m.settled_at <= sqlc.arg(until)::timestamptz
      and m.state not in ('pending', 'taken', 'sending')
    union all
    select h.application_id, h.mode, h.state, h.attempt, coalesce(h.settled_at, h.created_at) from message_history h
    where coalesce(h.settled_at, h.created_at) > sqlc.arg(after)::timestamptz and coalesce(h.settled_at, h.created_at) <= sqlc.arg(until)::timestamptz
) x
group by 1, 2, 3;

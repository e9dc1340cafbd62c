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
), attempts_gone as (
    delete from statistics_attempts
), pages_gone as (
    delete from statistics_pages
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
insert into statistics_incidents (at, application_id, plan_id, incidents, claimed, claim_seconds, resolve_seconds)
select c.at, c.application_id, c.plan_id, c.incidents, c.claimed, c.claim_seconds, c.resolve_seconds
from counted_incidents(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- Counts the messages of a span anew, in parts of an hour or a day.
-- name: CountMessages :exec
with gone as (
    delete from statistics_messages s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_messages (at, application_id, mode, sent, delivered, failed, tried)
select c.at, c.application_id, c.mode, c.sent, c.delivered, c.failed, c.tried
from counted_messages(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- Counts the calls of vendors of a span anew, in parts of an hour or a day.
-- name: CountAttempts :exec
with gone as (
    delete from statistics_attempts s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_attempts (at, application_id, mode, vendor, account, attempts, failed)
select c.at, c.application_id, c.mode, c.vendor, c.account, c.attempts, c.failed
from counted_attempts(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- Counts the pages of people of a span anew, in parts of an hour or a day.
-- name: CountPages :exec
with gone as (
    delete from statistics_pages s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_pages (at, user_id, application_id, plan_id, pages, interruptions)
select c.at, c.user_id, c.application_id, c.plan_id, c.pages, c.interruptions
from counted_pages(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- The incidents of a period by time (kind 0; id is the beginning in Unix seconds), plan (1) and team (2): how many, and how long they waited.
-- Hours after those that are counted are read from the incidents, at most two hours. It groups by numbers: sorting by names took ten times as
-- long.
-- name: IncidentFigures :many
with now as materialized (
    select greatest(coalesce((select p.counted_to from statistics_progress p), '-infinity'), date_bin('1 hour', clock_timestamp() - interval '1 hour', '2000-01-01 00:00+00')) as counted_to
), counted as (
    select c.at, c.application_id, c.plan_id, c.incidents, c.claimed, c.claim_seconds, c.resolve_seconds
    from statistics_incidents c, now n
    where c.at > sqlc.arg(after)::timestamptz and c.at <= sqlc.arg(until)::timestamptz and c.at <= n.counted_to
    union all
    select c.at, c.application_id, c.plan_id, c.incidents, c.claimed, c.claim_seconds, c.resolve_seconds
    from now n, counted_incidents(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
), named as materialized (
    select p.id, min(p.id) over (partition by lower(p.name)) as key, lower(p.name) as name, o.team_id
    from plans p left join plan_owners o on o.name_key = lower(p.name)
), chosen as materialized (
    select array[4 * extract(epoch from date_trunc(sqlc.arg(unit)::text, c.at - interval '1 microsecond', sqlc.arg(zone)::text))::bigint,
            4 * coalesce(n.key, 0) + 1, 4 * coalesce(n.team_id, a.team_id, 0) + 2] as keys, c.incidents, c.claimed, c.claim_seconds, c.resolve_seconds
    from counted c
    join applications a on a.id = c.application_id
    left join named n on n.id = c.plan_id
    where (sqlc.narg(application)::text is null or lower(a.name) = lower(sqlc.narg(application)::text))
      and (sqlc.narg(plan)::text is null or n.name = lower(sqlc.narg(plan)::text))
      and (sqlc.narg(team)::text is null or coalesce(n.team_id, a.team_id) in (select t.id from teams t where lower(t.name) = lower(sqlc.narg(team)::text)))
), sums as (
    select k, sum(c.incidents)::bigint as incidents, sum(c.claimed)::bigint as acknowledged, sum(cardinality(c.resolve_seconds))::bigint as resolved
    from chosen c cross join lateral unnest(c.keys) k group by 1
), claims as (
    select k, percentile_cont(0.5) within group (order by v) as median, percentile_cont(0.9) within group (order by v) as p90
    from chosen c cross join lateral unnest(c.claim_seconds) v cross join lateral unnest(c.keys) k group by 1
), resolves as (
    select k, percentile_cont(0.5) within group (order by v) as median, percentile_cont(0.9) within group (order by v) as p90
    from chosen c cross join lateral unnest(c.resolve_seconds) v cross join lateral unnest(c.keys) k group by 1
)
select (s.k % 4)::int as kind, (s.k / 4)::bigint as id,
    coalesce(case s.k % 4 when 1 then (select p.name from plans p where p.id = s.k / 4) when 2 then (select t.name from teams t where t.id = s.k / 4) end, '')::text as name,
    s.incidents, s.acknowledged, s.resolved,
    coalesce(c.median, -1)::float8 as acknowledge_median, coalesce(c.p90, -1)::float8 as acknowledge_p90,
    coalesce(r.median, -1)::float8 as resolve_median, coalesce(r.p90, -1)::float8 as resolve_p90
from sums s
left join claims c on c.k = s.k
left join resolves r on r.k = s.k
order by 1, case when s.k % 4 = 0 then s.k else -s.incidents end, 3;

-- The settled messages of a period by time and mode.
-- name: MessageFigures :many
with now as materialized (
    select greatest(coalesce((select p.counted_to from statistics_progress p), '-infinity'), date_bin('1 hour', clock_timestamp() - interval '1 hour', '2000-01-01 00:00+00')) as counted_to
), counted as (
    select c.at, c.application_id, c.mode, c.sent, c.delivered, c.failed
    from statistics_messages c, now n
    where c.at > sqlc.arg(after)::timestamptz and c.at <= sqlc.arg(until)::timestamptz and c.at <= n.counted_to
    union all
    select c.at, c.application_id, c.mode, c.sent, c.delivered, c.failed
    from now n, counted_messages(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
)
select date_trunc(sqlc.arg(unit)::text, c.at - interval '1 microsecond', sqlc.arg(zone)::text)::timestamptz as at, c.mode::text as mode,
    sum(c.sent)::bigint as sent, sum(c.delivered)::bigint as delivered, sum(c.failed)::bigint as failed
from counted c
join applications a on a.id = c.application_id
left join teams t on t.id = a.team_id
where c.mode <> ''
  and (sqlc.narg(application)::text is null or lower(a.name) = lower(sqlc.narg(application)::text))
  and (sqlc.narg(team)::text is null or lower(t.name) = lower(sqlc.narg(team)::text))
group by 1, 2
order by 1, 2;

-- The calls of vendors of a period by time and account.
-- name: VendorFigures :many
with now as materialized (
    select greatest(coalesce((select p.counted_to from statistics_progress p), '-infinity'), date_bin('1 hour', clock_timestamp() - interval '1 hour', '2000-01-01 00:00+00')) as counted_to
), counted as (
    select c.at, c.application_id, c.mode, c.vendor, c.account, c.attempts, c.failed
    from statistics_attempts c, now n
    where c.at > sqlc.arg(after)::timestamptz and c.at <= sqlc.arg(until)::timestamptz and c.at <= n.counted_to
    union all
    select c.at, c.application_id, c.mode, c.vendor, c.account, c.attempts, c.failed
    from now n, counted_attempts(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
)
select date_trunc(sqlc.arg(unit)::text, c.at - interval '1 microsecond', sqlc.arg(zone)::text)::timestamptz as at,
    c.vendor::text as vendor, c.account::text as account, c.mode::text as mode, sum(c.attempts)::bigint as attempts, sum(c.failed)::bigint as failed
from counted c
join applications a on a.id = c.application_id
left join teams t on t.id = a.team_id
where (sqlc.narg(application)::text is null or lower(a.name) = lower(sqlc.narg(application)::text))
  and (sqlc.narg(team)::text is null or lower(t.name) = lower(sqlc.narg(team)::text))
group by 1, 2, 3, 4
order by 1, 2, 3, 4;

-- The pages of people in a period, by hour of the day (kind 0; id is the hour) and by person (1), in the zone of each person. Days of more
-- than seven weeks ago are left out, because their hours are not known.
-- name: PageFigures :many
with now as materialized (
    select greatest(coalesce((select p.counted_to from statistics_progress p), '-infinity'), date_bin('1 hour', clock_timestamp() - interval '1 hour', '2000-01-01 00:00+00')) as counted_to,
        coalesce((select p.days_to from statistics_progress p), '-infinity') as days_to
), counted as (
    select c.at, c.user_id, c.application_id, c.plan_id, c.pages, c.interruptions
    from statistics_pages c, now n
    where c.at > greatest(sqlc.arg(after)::timestamptz, n.days_to) and c.at <= sqlc.arg(until)::timestamptz and c.at <= n.counted_to
    union all
    select c.at, c.user_id, c.application_id, c.plan_id, c.pages, c.interruptions
    from now n, counted_pages(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
), chosen as (
    select c.at, c.user_id, c.pages, c.interruptions
    from counted c
    where (sqlc.narg(application)::text is null or c.application_id in (select a.id from applications a where lower(a.name) = lower(sqlc.narg(application)::text)))
      and (sqlc.narg(plan)::text is null or c.plan_id in (select p.id from plans p where lower(p.name) = lower(sqlc.narg(plan)::text)))
      and (sqlc.narg(team)::text is null or (select t.id from teams t where lower(t.name) = lower(sqlc.narg(team)::text)) = coalesce(
            (select o.team_id from plans p join plan_owners o on o.name_key = lower(p.name) where p.id = c.plan_id), (select a.team_id from applications a where a.id = c.application_id)))
), merged as materialized (
    select u.time_zone, c.at, c.user_id, sum(c.pages) as pages, sum(c.interruptions) as interruptions
    from chosen c join users u on u.id = c.user_id group by 1, 2, 3
), local as materialized ( -- few zones, so that few instants are converted
    select z.time_zone, z.at, extract(hour from l.local)::int as hour, extract(isodow from l.local) >= 6 as weekend,
        extract(isodow from l.local) >= 6 or extract(hour from l.local) < 8 or extract(hour from l.local) >= 18 as outside
    from (select distinct m.time_zone, m.at from merged m) z cross join lateral (select (z.at - interval '1 hour') at time zone z.time_zone as local) l
), sums as (
    select k, sum(m.pages)::bigint as pages, sum(m.interruptions)::bigint as interruptions,
        coalesce(sum(m.interruptions) filter (where l.outside), 0)::bigint as outside,
        coalesce(sum(m.interruptions) filter (where l.weekend), 0)::bigint as weekend
    from merged m join local l on l.time_zone = m.time_zone and l.at = m.at
    cross join lateral unnest(array[2 * l.hour::bigint, 2 * m.user_id + 1]) k
    group by 1
)
select (s.k % 2)::int as kind, coalesce(case s.k % 2 when 0 then lpad((s.k / 2)::text, 2, '0') else (select u.name from users u where u.id = s.k / 2) end, '')::text as key,
    s.pages, s.interruptions, s.outside, s.weekend
from sums s
order by 1, case when s.k % 2 = 0 then 0 else -s.interruptions end, case when s.k % 2 = 0 then 0 else -s.pages end, 2;

-- name: StatisticsCountedTo :one
select coalesce((select p.counted_to from statistics_progress p), to_timestamp(0))::timestamptz as counted_to,
    coalesce((select p.days_to from statistics_progress p), to_timestamp(0))::timestamptz as days_to,
    (select count(*) from statistics_changes c where c.due_at <= clock_timestamp())::bigint as waiting;

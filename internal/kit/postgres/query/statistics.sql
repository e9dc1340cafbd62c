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

-- Takes some of the changed hours, and some hours and recent days that the previous release has counted.
-- name: TakeChangedHours :many
with due as materialized (
    select c.at from statistics_changes c where c.due_at <= statement_timestamp()
    union
    select i.at from statistics_incidents i where not i.complete and i.at > (select p.days_to - interval '7 days' from statistics_progress p)
    union
    select m.at from statistics_messages m where not m.complete and m.at > (select p.days_to - interval '7 days' from statistics_progress p)
    order by at limit 24
), gone as (
    delete from statistics_changes c using due d where c.at = d.at and c.due_at <= statement_timestamp()
)
select d.at from due d order by d.at;

-- Counts the incidents of a span anew, in parts of an hour or a day.
-- name: CountIncidents :exec
with gone as (
    delete from statistics_incidents s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_incidents (at, application_id, plan_id, incidents, claimed, claim_seconds, resolve_seconds, complete)
select c.at, c.application_id, c.plan_id, c.incidents, c.claimed, c.claim_seconds, c.resolve_seconds, true
from counted_incidents(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- Counts the messages of a span anew, in parts of an hour or a day.
-- name: CountMessages :exec
with gone as (
    delete from statistics_messages s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_messages (at, application_id, mode, sent, delivered, failed, tried, complete)
select c.at, c.application_id, c.mode, c.sent, c.delivered, c.failed, c.tried, true
from counted_messages(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- Counts the calls of vendors of a span anew, in parts of an hour or a day.
-- name: CountAttempts :exec
with gone as (
    delete from statistics_attempts s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_attempts (at, application_id, mode, vendor, account, attempts, failed)
select c.at, c.application_id, coalesce(c.mode, ''), c.vendor, c.account, c.attempts, c.failed -- imported calls can lack the mode
from counted_attempts(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- Counts the pages of people of a span anew, in parts of an hour or a day.
-- name: CountPages :exec
with gone as (
    delete from statistics_pages s where s.at > sqlc.arg(after)::timestamptz and s.at <= sqlc.arg(until)::timestamptz
)
insert into statistics_pages (at, user_id, application_id, plan_id, pages, interruptions)
select c.at, c.user_id, c.application_id, c.plan_id, c.pages, c.interruptions
from counted_pages(sqlc.arg(after)::timestamptz, sqlc.arg(until)::timestamptz, sqlc.arg(part_seconds)::int) c;

-- The packed days that lie in a period as a whole. The version changes when one of them is packed anew.
-- name: PackedDays :one
select coalesce(array_agg(x.day order by x.day), '{}')::timestamptz[] as days, coalesce(md5(string_agg(x.versions, ',' order by x.day)), '')::text as version
from (
    select d.day, string_agg(d.kind || ' ' || d.xmin::text, ' ' order by d.kind) as versions
    from statistics_days d
    where d.day >= sqlc.arg(after)::timestamptz and d.day + interval '24 hours' <= sqlc.arg(until)::timestamptz
    group by d.day
    having count(*) = 4
) x;

-- name: CountsOfDays :many
select d.kind, d.day, d.body from statistics_days d where d.day = any(@days::timestamptz[]);

-- The counts of a period but those of some days: packed days, and rows of days that are not packed. Hours that are not counted yet are read from incidents and
-- messages, at most two hours.
-- name: PeriodCounts :many
with now as materialized (
    select greatest(coalesce((select p.counted_to from statistics_progress p), '-infinity'), date_bin('1 hour', clock_timestamp() - interval '1 hour', '2000-01-01 00:00+00')) as counted_to
), days as materialized (
    select g.day, k.kind, d.body
    from generate_series(statistics_day(sqlc.arg(after)::timestamptz), statistics_day(sqlc.arg(until)::timestamptz), interval '24 hours') g (day)
    cross join unnest(array['incidents', 'messages', 'attempts', 'pages']) k (kind)
    left join statistics_days d on d.day = g.day and d.kind = k.kind
    where g.day <> all (sqlc.arg(without)::timestamptz[])
), counts as (
    select d.kind, d.day as at, d.body, 0::bigint as user_id, 0::bigint as application_id, 0::bigint as plan_id, '' as mode, '' as vendor, '' as account,
        0 as first, 0 as second, 0 as third, '{}'::float8[] as claim_seconds, '{}'::float8[] as resolve_seconds
    from days d where d.body is not null
    union all
    select r.kind, r.at, null, r.user_id, r.application_id, r.plan_id, r.mode, r.vendor, r.account, r.first, r.second, r.third, r.claim_seconds, r.resolve_seconds
    from days d
    cross join now n
    cross join lateral (
        select s.* from statistics_rows s where s.kind = d.kind and s.at > d.day and s.at <= d.day + interval '24 hours'
    ) r
    where d.body is null and r.at > sqlc.arg(after)::timestamptz and r.at <= sqlc.arg(until)::timestamptz and r.at <= n.counted_to
    union all
    select 'incidents', c.at, null, 0, c.application_id, coalesce(c.plan_id, 0), '', '', '', c.incidents, c.claimed, 0, c.claim_seconds, c.resolve_seconds
    from now n, counted_incidents(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
    union all
    select 'messages', c.at, null, 0, c.application_id, 0, c.mode, '', '', c.sent, c.delivered, c.failed, '{}', '{}'
    from now n, counted_messages(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
    union all
    select 'attempts', c.at, null, 0, c.application_id, 0, coalesce(c.mode, ''), c.vendor, c.account, c.attempts, c.failed, 0, '{}', '{}'
    from now n, counted_attempts(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
    union all
    select 'pages', c.at, null, c.user_id, c.application_id, coalesce(c.plan_id, 0), '', '', '', c.pages, c.interruptions, 0, '{}', '{}'
    from now n, counted_pages(greatest(n.counted_to, sqlc.arg(after)::timestamptz), sqlc.arg(until)::timestamptz, 3600) c
)
select c.kind::text as kind, c.at::timestamptz as at, c.body, c.user_id::bigint as user_id, c.application_id::bigint as application_id, c.plan_id::bigint as plan_id,
    c.mode::text as mode, c.vendor::text as vendor, c.account::text as account, c.first::bigint as first, c.second::bigint as second, c.third::bigint as third,
    c.claim_seconds::float8[] as claim_seconds, c.resolve_seconds::float8[] as resolve_seconds
from counts c;

-- The applications, and whether the filters select them.
-- name: PeriodApplications :many
select a.id, coalesce(a.team_id, 0)::bigint as team_id,
    (sqlc.narg(application)::text is null or lower(a.name) = lower(sqlc.narg(application)::text))::boolean as chosen
from applications a;

-- name: PeriodTeams :many
select t.id, t.name, (sqlc.narg(team)::text is null or lower(t.name) = lower(sqlc.narg(team)::text))::boolean as chosen from teams t;

-- name: PeriodPlans :many
select p.id, p.name, lower(p.name)::text as key, coalesce(o.team_id, 0)::bigint as team_id,
    (sqlc.narg(plan)::text is null or lower(p.name) = lower(sqlc.narg(plan)::text))::boolean as chosen
from plans p left join plan_owners o on o.name_key = lower(p.name)
where p.id = any(@ids::bigint[])
order by p.id;

-- name: PeriodPeople :many
select u.id, u.name, u.time_zone from users u where u.id = any(@ids::bigint[]);

-- The newest day that is not packed, and the kinds of counts that it lacks.
-- name: UnpackedDay :many
select g.day::timestamptz as day, k.kind::text as kind
from (
    select statistics_day(least((select min(i.at) from statistics_incidents i), (select min(m.at) from statistics_messages m),
        (select min(a.at) from statistics_attempts a), (select min(w.at) from statistics_pages w))) as first, statistics_day(p.counted_to) as last
    from statistics_progress p
) b
cross join generate_series(b.first, b.last, interval '24 hours') g (day)
cross join unnest(array['incidents', 'messages', 'attempts', 'pages']) k (kind)
where not exists (select from statistics_days d where d.day = g.day and d.kind = k.kind)
order by g.day desc
limit 4;

-- name: CountsOfDay :many
select r.at::timestamptz as at, r.user_id::bigint as user_id, r.application_id::bigint as application_id, r.plan_id::bigint as plan_id,
    r.mode::text as mode, r.vendor::text as vendor, r.account::text as account, r.first::bigint as first, r.second::bigint as second, r.third::bigint as third,
    r.claim_seconds::float8[] as claim_seconds, r.resolve_seconds::float8[] as resolve_seconds
from statistics_rows r
where r.kind = sqlc.arg(kind)::text and r.at > sqlc.arg(day)::timestamptz and r.at <= sqlc.arg(day)::timestamptz + interval '24 hours'
order by 2, 3, 4, 5, 6, 7, 1;

-- name: PackDay :exec
insert into statistics_days (day, kind, body) values (@day, @kind, @body)
on conflict (day, kind) do update set body = excluded.body;

-- name: StatisticsCountedTo :one
select coalesce((select p.counted_to from statistics_progress p), to_timestamp(0))::timestamptz as counted_to,
    coalesce((select p.days_to from statistics_progress p), to_timestamp(0))::timestamptz as days_to,
    (select count(*) from statistics_changes c where c.due_at <= statement_timestamp())::bigint as waiting;

-- The time zones of most people.
-- name: CommonTimeZones :many
select u.time_zone from users u where u.active group by u.time_zone order by count(*) desc, u.time_zone limit @most::int;

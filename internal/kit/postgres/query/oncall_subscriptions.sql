-- Subscriptions of calendars of other programs.

-- name: CalendarsSubscribed :many
select s.id, s.kind, coalesce(s.team_id, 0)::bigint as team_id, coalesce(t.name, '')::text as team, coalesce(s.user_id, 0)::bigint as user_id,
    coalesce(u.name, '')::text as user_name, coalesce(r.name, '')::text as role, s.name, s.host, s.whole_days, s.created_by, s.created_at,
    s.next_read_at, s.read_at, s.failures, s.problem, s.events, s.left_out, s.url_sealed, s.claims, s.etag, s.last_modified, s.full_read_at,
    coalesce(t.time_zone, u.time_zone, 'UTC')::text as time_zone, s.country
from calendar_subscriptions s
left join teams t on t.id = s.team_id
left join users u on u.id = s.user_id
left join oncall_roles r on r.id = s.role_id
where (s.id = any(sqlc.arg(ids)::bigint[]) or s.team_id = sqlc.narg(team_id) or s.user_id = sqlc.narg(user_id))
order by s.id;

-- name: SubscribeCalendar :one
insert into calendar_subscriptions (kind, team_id, user_id, role_id, name, url_sealed, host, country, whole_days, created_by)
values (@kind, nullif(@team_id::bigint, 0), nullif(@user_id::bigint, 0), (select r.id from oncall_roles r where r.name = @role::text), @name, @url_sealed, @host,
    @country, @whole_days, @created_by)
returning id;

-- name: ChangeCalendarSubscription :execrows
update calendar_subscriptions
set name = @name, whole_days = @whole_days, url_sealed = coalesce(sqlc.narg(url_sealed), url_sealed), host = @host, country = @country, claims = claims + 1,
    next_read_at = clock_timestamp(), failures = 0, problem = '', etag = '', last_modified = ''
where id = @id;

-- name: UnsubscribeCalendar :execrows
delete from calendar_subscriptions where id = @id;

-- A calendar that was read within the last 10 seconds is read a little later.
-- name: RefreshCalendarSubscription :execrows
update calendar_subscriptions
set claims = claims + 1, etag = '', last_modified = '', next_read_at = greatest(clock_timestamp(), least(next_read_at, read_at + interval '10 seconds'))
where id = @id;

-- Each subscription is claimed by one process. If the process ends meanwhile, the claim expires.
-- name: ClaimCalendarSubscriptions :many
with due as (
    select d.id from calendar_subscriptions d
    where d.next_read_at <= statement_timestamp()
        and (exists (select from teams t where t.id = d.team_id and t.active) or exists (select from users u where u.id = d.user_id and u.active))
    order by d.next_read_at, d.id
    limit @most
    for update skip locked
)
update calendar_subscriptions s
set claims = s.claims + 1, next_read_at = clock_timestamp() + sqlc.arg(hold_seconds)::float8 * interval '1 second'
from due where s.id = due.id
returning s.id;

-- name: CalendarSubscriptionRead :execrows
update calendar_subscriptions
set read_at = clock_timestamp(), failures = 0, problem = '', next_read_at = clock_timestamp() + sqlc.arg(pause_seconds)::float8 * interval '1 second',
    full_read_at = case when @changed::boolean then clock_timestamp() else full_read_at end,
    etag = case when @changed::boolean then @etag else etag end, last_modified = case when @changed::boolean then @last_modified else last_modified end,
    events = case when @changed::boolean then @events else events end, left_out = case when @changed::boolean then @left_out else left_out end
where id = @id and claims = @claims;

-- name: CalendarSubscriptionFailed :execrows
update calendar_subscriptions
set failures = failures + 1, problem = @problem, next_read_at = clock_timestamp() + sqlc.arg(pause_seconds)::float8 * interval '1 second'
where id = @id and claims = @claims;

-- name: LockCalendarSubscription :one
select id from calendar_subscriptions where id = @id and claims = @claims for update;

-- name: DropOldBusyTimes :exec
delete from unavailabilities a
where a.subscription_id = @subscription_id and not exists (
    select from (select unnest(sqlc.arg(starts)::timestamptz[]) as starts_at, unnest(sqlc.arg(ends)::timestamptz[]) as ends_at) w
    where w.starts_at = a.starts_at and w.ends_at = a.ends_at);

-- name: AddBusyTimes :exec
insert into unavailabilities (user_id, starts_at, ends_at, time_zone, note, set_by, subscription_id)
select s.user_id, w.starts_at, w.ends_at, u.time_zone, s.name, s.created_by, s.id
from (select unnest(sqlc.arg(starts)::timestamptz[]) as starts_at, unnest(sqlc.arg(ends)::timestamptz[]) as ends_at) w,
    calendar_subscriptions s join users u on u.id = s.user_id
where s.id = @subscription_id and not exists (
    select from unavailabilities a where a.subscription_id = s.id and a.starts_at = w.starts_at and a.ends_at = w.ends_at);

-- name: NameBusyTimes :exec
update unavailabilities set note = @note where subscription_id = @subscription_id;

-- The people of a team who can get shifts from events.
-- name: EventCandidates :many
select u.id, u.name, u.full_name, coalesce(c.destination, '')::text as email
from team_members m
join users u on u.id = m.user_id and u.active
left join user_contacts c on c.user_id = u.id and c.mode = 'email'
where m.team_id = @team_id and m.member
order by u.id;

-- Shifts: the people on call in the past, now and in the future.

-- `sources` are the teams and those that they subscribe to: with them, an index finds the rows.
-- name: FindShifts :many
select s.id, s.team_id, t.name as team, r.name as role, s.user_id, u.name as user_name, u.full_name, s.schedule_id, s.covers_id,
    s.link_id, s.starts_at, s.ends_at, s.note, s.edited
from shifts s
join teams t on t.id = s.team_id
join oncall_roles r on r.id = s.role_id
join users u on u.id = s.user_id
where (sqlc.narg(id_min)::bigint is null or s.id >= sqlc.narg(id_min))
    and (sqlc.narg(id_max)::bigint is null or s.id <= sqlc.narg(id_max))
    and (sqlc.narg(ids)::bigint[] is null or s.id = any(sqlc.narg(ids)::bigint[]))
    and (sqlc.narg(start_min)::timestamptz is null or s.starts_at >= sqlc.narg(start_min))
    and (sqlc.narg(start_max)::timestamptz is null or s.starts_at <= sqlc.narg(start_max))
    and (sqlc.narg(end_min)::timestamptz is null or s.ends_at >= sqlc.narg(end_min))
    and (sqlc.narg(end_max)::timestamptz is null or s.ends_at <= sqlc.narg(end_max))
    and (sqlc.narg(sources)::bigint[] is null or s.team_id = any(sqlc.narg(sources)::bigint[]))
    and (sqlc.narg(teams)::bigint[] is null or s.team_id = any(sqlc.narg(teams)::bigint[])
        or (sqlc.arg(subscribed)::boolean and exists (select 1 from team_subscriptions b
            where b.team_id = any(sqlc.narg(teams)::bigint[]) and b.subscription_id = s.team_id and b.role_id = s.role_id)))
    and (sqlc.narg(users)::bigint[] is null or s.user_id = any(sqlc.narg(users)::bigint[]))
    and (sqlc.narg(roles)::text[] is null or r.name = any(sqlc.narg(roles)::text[]))
    and (sqlc.narg(link_id)::text is null or s.link_id = sqlc.narg(link_id))
    and (sqlc.narg(schedule_id)::bigint is null or s.schedule_id = sqlc.narg(schedule_id))
    and not (s.id = any(sqlc.arg(not_ids)::bigint[]))
    and not (s.starts_at = any(sqlc.arg(not_starts)::timestamptz[]))
    and not (s.ends_at = any(sqlc.arg(not_ends)::timestamptz[]))
order by s.starts_at, s.id
limit sqlc.arg(max_rows)::int;

-- The shifts that an edit is about. The team is locked by then, so that they stay as they are. The beginning of the transaction,
-- unlike the clock, lets the index leave out the past.
-- name: ChosenShifts :many
select s.id, s.team_id, r.name as role, s.user_id, s.schedule_id, s.covers_id, s.link_id, s.starts_at, s.ends_at, s.note, s.edited
from shifts s
join oncall_roles r on r.id = s.role_id
where s.id = any(sqlc.arg(ids)::bigint[]) or s.link_id = any(sqlc.arg(links)::text[])
    or (sqlc.arg(running)::boolean and s.team_id = @team_id and s.ends_at > statement_timestamp()
        and (s.starts_at <= statement_timestamp() or s.starts_at < sqlc.narg(until)::timestamptz))
order by s.starts_at, s.id;

-- Shifts that overlap the window: of the team, of its subscriptions, and of the people in any team.
-- name: ShiftsAround :many
select s.id, s.team_id, r.name as role, s.user_id, s.schedule_id, s.covers_id, s.link_id, s.starts_at, s.ends_at, s.note, s.edited
from shifts s
join oncall_roles r on r.id = s.role_id
where s.id in (
    select o.id from shifts o where o.team_id = @team_id and o.ends_at > @window_start and o.starts_at < @window_end
    union
    select o.id from shifts o
    where o.user_id = any(sqlc.arg(user_ids)::bigint[]) and o.ends_at > @window_start and o.starts_at < @window_end
    union
    select o.id from team_subscriptions b
    join shifts o on o.team_id = b.subscription_id and o.role_id = b.role_id
    where b.team_id = @team_id and o.ends_at > @window_start and o.starts_at < @window_end
)
order by s.starts_at, s.id;

-- The last shift before an instant of each person in a team and role.
-- name: LastShifts :many
select distinct on (s.user_id) s.id, s.team_id, r.name as role, s.user_id, s.schedule_id, s.covers_id, s.link_id, s.starts_at, s.ends_at,
    s.note, s.edited
from shifts s
join oncall_roles r on r.id = s.role_id
where s.team_id = @team_id and r.name = @role and s.ends_at <= @before
order by s.user_id, s.ends_at desc;

-- All shifts of a change by one statement, which bumps the calendar's version once. Numbers ascend in the order of the arrays; 0 and '' are null.
-- name: AddShifts :many
insert into shifts (team_id, role_id, user_id, schedule_id, covers_id, link_id, starts_at, ends_at, note, edited, feed_id)
select n.team_id, r.id, n.user_id, nullif(n.schedule_id, 0), nullif(n.covers_id, 0), nullif(n.link_id, ''), n.starts_at, n.ends_at, nullif(n.note, ''), n.edited, o.feed_id
from (
    select unnest(sqlc.arg(places)::int[]) as place, unnest(sqlc.arg(team_ids)::bigint[]) as team_id, unnest(sqlc.arg(roles)::text[]) as role,
        unnest(sqlc.arg(user_ids)::bigint[]) as user_id, unnest(sqlc.arg(schedule_ids)::bigint[]) as schedule_id, unnest(sqlc.arg(covers_ids)::bigint[]) as covers_id,
        unnest(sqlc.arg(link_ids)::text[]) as link_id, unnest(sqlc.arg(starts)::timestamptz[]) as starts_at, unnest(sqlc.arg(ends)::timestamptz[]) as ends_at,
        unnest(sqlc.arg(notes)::text[]) as note, unnest(sqlc.arg(edits)::boolean[]) as edited, unnest(sqlc.arg(remains_of)::bigint[]) as remains_of
) n
join oncall_roles r on r.name = n.role
left join shifts o on o.id = n.remains_of
order by n.place
returning id;

-- name: ChangeShift :execrows
update shifts s
set role_id = r.id, user_id = @user_id, schedule_id = sqlc.narg(schedule_id), covers_id = sqlc.narg(covers_id), link_id = sqlc.narg(link_id),
    starts_at = @starts_at, ends_at = @ends_at, note = sqlc.narg(note), edited = @edited
from oncall_roles r
where s.id = @id and r.name = @role;

-- name: DeleteShifts :exec
delete from shifts where id = any(sqlc.arg(ids)::bigint[]);

-- A version for each team, which changes whenever its calendar may have changed. It is a hash of the team's own version and the
-- versions of the teams that it subscribes to.
-- name: CalendarVersions :many
select t.id, hashtextextended(t.calendar_version::text || coalesce((select string_agg(o.id::text || ':' || o.calendar_version::text, ',' order by o.id)
    from teams o where o.id in (select b.subscription_id from team_subscriptions b where b.team_id = t.id)), ''), 0)::bigint as version
from teams t
where t.id = any(sqlc.arg(team_ids)::bigint[]);

-- The shifts that the calendars of teams show in a window: their own, and those they subscribe to.
-- name: CalendarShifts :many
select s.id, s.team_id, r.name as role, s.user_id, s.schedule_id, s.covers_id, s.link_id, s.starts_at, s.ends_at, s.note, s.edited
from shifts s
join oncall_roles r on r.id = s.role_id
where s.ends_at > @window_start and s.starts_at < @window_end and s.team_id = any(sqlc.arg(team_ids)::bigint[])
order by s.starts_at, s.id;

-- The roles that the calendars of teams have at all: any shift, past or future, or a schedule.
-- name: CalendarRoles :many
select t.team_id::bigint as team_id, r.name as role
from unnest(sqlc.arg(team_ids)::bigint[]) as t(team_id)
cross join oncall_roles r
cross join lateral (
    (select 1 from shifts s where s.team_id = t.team_id and s.role_id = r.id limit 1)
    union all
    (select 1 from schedules c where c.team_id = t.team_id and c.role_id = r.id limit 1)
    limit 1
) used;

-- name: CalendarSubscriptions :many
select b.team_id, b.subscription_id, r.name as role
from team_subscriptions b
join oncall_roles r on r.id = b.role_id
join teams t on t.id = b.subscription_id and t.active
where b.team_id = any(sqlc.arg(team_ids)::bigint[])
order by b.team_id, b.subscription_id, r.id;

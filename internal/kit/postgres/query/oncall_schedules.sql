-- Schedules, their people, and the data from which they are populated.

-- name: Schedules :many
select s.id, s.team_id, t.oncall_id as team_number, t.name as team, t.time_zone, s.roster_id, ro.name as roster, s.role_id, r.name as role, s.name, s.algorithm,
    s.advanced, s.threshold_days, s.pattern, s.rotation, s.last_epoch_at, s.unfilled, s.last_user_id,
    array(select o.user_id from schedule_order o where o.schedule_id = s.id order by o.priority, o.user_id)::bigint[] as order_ids,
    array(select u.name from schedule_order o join users u on u.id = o.user_id
        where o.schedule_id = s.id order by o.priority, o.user_id)::text[] as order_names
from schedules s
join teams t on t.id = s.team_id
join rosters ro on ro.id = s.roster_id
join oncall_roles r on r.id = s.role_id
where (sqlc.narg(id)::bigint is null or s.id = sqlc.narg(id))
    and (sqlc.narg(team_ids)::bigint[] is null or s.team_id = any(sqlc.narg(team_ids)::bigint[]))
order by s.id;

-- name: CreateSchedule :one
insert into schedules (team_id, roster_id, role_id, name, algorithm, advanced, threshold_days, pattern, rotation)
values (@team_id, @roster_id, @role_id, @name, @algorithm, @advanced, @threshold_days, @pattern, @rotation)
returning id;

-- name: UpdateSchedule :execrows
update schedules
set team_id = @team_id, roster_id = @roster_id, role_id = @role_id, name = @name, algorithm = @algorithm, advanced = @advanced,
    threshold_days = @threshold_days, pattern = @pattern, rotation = @rotation
where id = @id;

-- name: DeleteSchedule :execrows
delete from schedules where id = @id;

-- name: ClearScheduleOrder :exec
delete from schedule_order where schedule_id = @schedule_id;

-- name: SetScheduleOrder :exec
insert into schedule_order (schedule_id, user_id, priority)
select @schedule_id, o.user_id, o.priority - 1
from unnest(sqlc.arg(user_ids)::bigint[]) with ordinality as o (user_id, priority)
on conflict do nothing;

-- name: SetScheduleProgress :exec
update schedules
set last_epoch_at = sqlc.narg(last_epoch_at), unfilled = @unfilled, last_user_id = sqlc.narg(last_user_id)
where id = @id;

-- name: TeamAbsences :many
select a.id, a.user_id, u.name as user_name, a.starts_at, a.ends_at, a.time_zone, a.rule, a.note, coalesce(a.team_id, 0)::bigint as team_id, a.set_by,
    coalesce(a.subscription_id, 0)::bigint as subscription_id
from unavailabilities a
join users u on u.id = a.user_id
where a.user_id = any(sqlc.arg(user_ids)::bigint[])
order by a.starts_at, a.id;

-- name: Absence :one
select a.id, a.user_id, u.name as user_name, a.starts_at, a.ends_at, a.time_zone, a.rule, a.note, coalesce(a.team_id, 0)::bigint as team_id, a.set_by,
    coalesce(a.subscription_id, 0)::bigint as subscription_id
from unavailabilities a
join users u on u.id = a.user_id
where a.id = @id;

-- name: AddAbsence :one
insert into unavailabilities (user_id, starts_at, ends_at, time_zone, rule, note, team_id, set_by)
values (@user_id, @starts_at, @ends_at, @time_zone, @rule, @note, nullif(@team_id::bigint, 0), @set_by)
returning id;

-- name: DeleteAbsence :execrows
delete from unavailabilities where id = @id;

-- name: Holidays :many
select day, name from holidays where team_id = @team_id order by day;

-- name: HolidayCalendar :one
select source, uploaded_by, uploaded_at, left_out from holiday_calendars where team_id = @team_id;

-- name: SetHolidayCalendar :exec
insert into holiday_calendars (team_id, source, uploaded_by, left_out) values (@team_id, @source, @uploaded_by, @left_out)
on conflict (team_id) do update
set source = excluded.source, uploaded_by = excluded.uploaded_by, uploaded_at = clock_timestamp(), left_out = excluded.left_out;

-- name: ClearHolidays :exec
delete from holidays where team_id = @team_id;

-- name: SetHolidays :exec
insert into holidays (team_id, day, name)
select @team_id, unnest(sqlc.arg(days)::date[]), unnest(sqlc.arg(names)::text[])
on conflict (team_id, day) do nothing;

-- name: DropHolidayCalendar :execrows
delete from holiday_calendars where team_id = @team_id;

-- name: SwapRequests :many
select w.id, w.team_id, w.from_id, f.name as from_name, w.to_id, coalesce(t.name, '')::text as to_name, w.give, w.take, w.note, w.state,
    w.created_at, w.decided_at, w.decided_by, coalesce(d.name, '')::text as decided_by_name
from swap_requests w
join users f on f.id = w.from_id
left join users t on t.id = w.to_id
left join users d on d.id = w.decided_by
where (sqlc.narg(id)::bigint is null or w.id = sqlc.narg(id))
    and (sqlc.narg(team_id)::bigint is null or w.team_id = sqlc.narg(team_id))
    and (sqlc.narg(before)::bigint is null or w.id < sqlc.narg(before))
order by w.id desc
limit sqlc.arg(max_rows)::int;

-- name: OpenSwapRequests :many
select w.id, w.give, w.take from swap_requests w where w.team_id = @team_id and w.state = 'open' order by w.id for update;

-- The same question, of the same person, that is not answered yet.
-- name: SameSwapRequest :one
select coalesce(max(w.id), 0)::bigint
from swap_requests w
where w.team_id = @team_id and w.state = 'open' and w.from_id = @from_id and w.to_id is not distinct from sqlc.narg(to_id)
    and w.give @> @give and w.give <@ @give and w.take @> @take and w.take <@ @take;

-- name: CreateSwapRequest :one
insert into swap_requests (team_id, from_id, to_id, give, take, note, state, created_at)
values (@team_id, @from_id, sqlc.narg(to_id), @give, @take, @note, @state, @created_at)
returning id;

-- name: DecideSwapRequest :execrows
update swap_requests
set state = @state, decided_at = sqlc.narg(decided_at), decided_by = sqlc.narg(decided_by)
where id = @id and state = 'open';

-- Teams of the buckets whose schedules were not filled for the given time, longest waiting first.
-- name: TeamsToPopulate :many
select t.id, t.name
from teams t
left join team_populations p on p.team_id = t.id
where t.active and (t.id & 255)::smallint = any(sqlc.arg(buckets)::smallint[])
    and exists (select 1 from schedules s where s.team_id = t.id)
    and (p.populated_at is null or p.populated_at < clock_timestamp() - make_interval(secs => sqlc.arg(every_seconds)::float8))
order by p.populated_at nulls first, t.id
limit sqlc.arg(max_rows)::int;

-- name: TeamPopulated :exec
insert into team_populations (team_id, problem) values (@team_id, @problem)
on conflict (team_id) do update set populated_at = clock_timestamp(), problem = excluded.problem;

-- Makes processors fill a team's calendar next.
-- name: TeamDue :exec
update team_populations set populated_at = 'epoch' where team_id = @team_id;

-- Remembers a warning; no row when the team was warned of it before.
-- name: WarnOnce :execrows
insert into coverage_warnings (team_id, role_id, kind, starts_at, ends_at)
select @team_id, r.id, @kind, @starts_at, @ends_at from oncall_roles r where r.name = @role
on conflict do nothing;

-- name: ForgetWarnings :exec
delete from coverage_warnings where team_id = @team_id and ends_at < clock_timestamp() - interval '30 days';

-- name: TeamOfSchedule :one
select team_id from schedules where id = @id;

-- name: LockSchedule :one
select id from schedules where id = @id for no key update;

-- name: CoverRules :many
select r.name as role, w.cover, w.hours
from coverage_wishes w
join oncall_roles r on r.id = w.role_id
where w.team_id = @team_id
order by r.display_order, r.id;

-- name: SetCoverRule :exec
insert into coverage_wishes (team_id, role_id, cover, hours)
select @team_id, r.id, @cover, @hours from oncall_roles r where r.name = @role
on conflict (team_id, role_id) do update set cover = excluded.cover, hours = excluded.hours;

-- name: DropCoverRule :execrows
delete from coverage_wishes w using oncall_roles r where r.id = w.role_id and w.team_id = @team_id and r.name = @role;

-- The people among the given ones who are inactive.
-- name: SwitchedOff :many
select id from users where not active and id = any(@user_ids::bigint[]);

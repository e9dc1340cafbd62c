-- Rosters and their members.

-- name: TeamRosters :many
select id, name from rosters where team_id = @team_id order by id;

-- name: RosterPeople :many
select m.roster_id, u.id as user_id, u.name, u.active, m.in_rotation, m.priority
from roster_members m
join users u on u.id = m.user_id
where m.roster_id = any(sqlc.arg(roster_ids)::bigint[])
order by m.roster_id, m.priority, u.id;

-- name: CreateRoster :one
insert into rosters (team_id, name) values (@team_id, @name) returning id;

-- name: RenameRoster :execrows
update rosters set name = @name where id = @id;

-- name: DeleteRoster :execrows
delete from rosters where id = @id;

-- name: AddRosterMember :execrows
insert into roster_members (roster_id, user_id, in_rotation, priority)
select @roster_id, @user_id, @in_rotation, coalesce(max(priority) + 1, 0) from roster_members where roster_id = @roster_id
on conflict (roster_id, user_id) do nothing;

-- A new member of a roster is last in the order of its schedules that have one.
-- name: AppendToOrders :exec
insert into schedule_order (schedule_id, user_id, priority)
select o.schedule_id, @user_id, max(o.priority) + 1
from schedule_order o
join schedules s on s.id = o.schedule_id
where s.roster_id = @roster_id
group by o.schedule_id
on conflict do nothing;

-- name: SetInRotation :execrows
update roster_members set in_rotation = @in_rotation
where roster_id = @roster_id and user_id = @user_id and in_rotation <> @in_rotation;

-- name: RemoveRosterMember :execrows
delete from roster_members where roster_id = @roster_id and user_id = @user_id;

-- name: RemoveFromOrders :exec
delete from schedule_order o
using schedules s
where s.id = o.schedule_id and s.roster_id = @roster_id and o.user_id = @user_id;

-- name: OrderRoster :exec
update roster_members m
set priority = o.priority
from (select unnest(sqlc.arg(user_ids)::bigint[]) as user_id, generate_series(0, cardinality(sqlc.arg(user_ids)::bigint[]) - 1) as priority) o
where m.roster_id = @roster_id and m.user_id = o.user_id;

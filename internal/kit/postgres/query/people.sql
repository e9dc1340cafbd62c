-- Users, their contacts and passwords, teams, and the names of targets.

-- name: CreateUser :one
insert into users (name, canonical_name, full_name, time_zone, admin, read_only, password_hash)
values (@name, @canonical_name::text, @full_name, @time_zone, @admin, @read_only, nullif(@password_hash::text, ''))
returning id, target_id, oncall_id, name, full_name, time_zone, admin, read_only, active, login_epoch;

-- name: UserByName :one
select id, target_id, oncall_id, name, full_name, time_zone, admin, read_only, active, login_epoch
from users
where lower(name) = lower(rtrim(@name::text));

-- name: UserByID :one
select id, target_id, oncall_id, name, full_name, time_zone, admin, read_only, active, login_epoch
from users
where id = @id;

-- name: UserCredentials :one
select id, target_id, oncall_id, name, full_name, time_zone, admin, read_only, active, login_epoch,
    coalesce(password_hash, '')::text as password_hash
from users
where lower(name) = lower(rtrim(@name::text));

-- name: SetPassword :execrows
update users set password_hash = @password_hash where id = @id;

-- A person who was deactivated manually stays inactive when a directory has them again. So do the statements below.
-- name: SetActive :execrows
with mark as (update directory_people set switched_off = false where user_id = @id and not @active::bool)
update users set active = @active where id = @id;

-- name: UpdateUser :execrows
with mark as (update directory_people set switched_off = false where user_id = @id and not @active::bool)
update users
set full_name = @full_name, time_zone = @time_zone, admin = @admin, read_only = @read_only, active = @active
where id = @id;

-- name: SetUserMode :exec
insert into user_modes (user_id, priority, mode) values (@user_id, @priority, @mode)
on conflict (user_id, priority) do update set mode = excluded.mode;

-- name: CreateTeam :one
insert into teams (name, description, time_zone, manager_id, director_id)
values (@name, @description, @time_zone, sqlc.narg(manager_id), sqlc.narg(director_id))
returning id, target_id, oncall_id;

-- name: TeamByName :one
select t.id, t.target_id, t.oncall_id, t.name, t.time_zone, t.active, coalesce(t.manager_id, 0)::bigint as manager_id,
    coalesce(t.director_id, 0)::bigint as director_id,
    array(select m.user_id from team_members m where m.team_id = t.id and m.member order by m.position, m.user_id)::bigint[] as members
from teams t
where lower(t.name) = lower(rtrim(@name::text));

-- name: LockTeam :one
select id from teams where id = @id for no key update;

-- name: AddTeamMember :exec
insert into team_members (team_id, user_id, position, admin)
select @team_id, @user_id, coalesce(max(position), 0) + 1, @admin from team_members where team_id = @team_id
on conflict (team_id, user_id) do update set admin = excluded.admin, member = true;

-- One row if the role exists: its kind, and the active target of that kind with that name. `other_kind` is the kind of
-- an active target with that name when there is none of the role's kind.
-- name: ResolveTarget :one
select r.name as role, r.target_kind,
    coalesce((select t.target_id from targets t
        where t.kind = r.target_kind and lower(t.name) = lower(rtrim(@target::text)) and t.active limit 1), 0)::bigint as target_id,
    coalesce((select t.kind from targets t
        where lower(t.name) = lower(rtrim(@target::text)) limit 1), '')::text as other_kind -- switched off ones, too: their names are known
from target_roles r
where r.name = @role;

-- name: UsersWithoutCanonicalName :many
select id, name from users where canonical_name is null order by id;

-- Names that were changed meanwhile, and names whose canonical form another user has, are left out.
-- name: SetCanonicalNames :many
update users u set canonical_name = n.canonical_name
from (select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(names)::text[]) as name, unnest(sqlc.arg(canonical_names)::text[]) as canonical_name) n
where u.id = n.id and u.name = n.name and u.canonical_name is null
    and not exists (select from users o where o.canonical_name = n.canonical_name)
returning u.id;

-- Whether two people belong to the same active team.
-- name: AreTeammates :one
select exists (
    select from team_members a
    join team_members b on b.team_id = a.team_id and b.member
    join teams t on t.id = a.team_id and t.active
    where a.user_id = @one and a.member and b.user_id = @other
)::bool;

-- People as the on-call API shows them, roles and services.

-- name: OncallPeople :many
select u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active, u.login_epoch, u.photo_url,
    (u.time_zone_given or u.time_zone <> 'UTC')::bool as time_zone_given,
    array(select c.mode from user_contacts c where c.user_id = u.id order by c.mode)::text[] as contact_modes,
    array(select c.destination from user_contacts c where c.user_id = u.id order by c.mode)::text[] as destinations
from users u
where (sqlc.narg(ids)::bigint[] is null or u.id = any(sqlc.narg(ids)::bigint[]))
    and (sqlc.narg(name)::text is null or lower(u.name) = lower(sqlc.narg(name)))
order by u.id;

-- Null leaves a column as it is; an empty photo_url takes it away, an empty time_zone means that nobody chose one.
-- Who of the people has a shift now, with the roles.
-- name: OnCallNow :many
select distinct u.name, r.name as role
from users u
join shifts s on s.user_id = u.id and s.ends_at > statement_timestamp() and s.starts_at <= statement_timestamp()
join oncall_roles r on r.id = s.role_id
where u.name = any(sqlc.arg(names)::text[]) and u.active;

-- name: UpdateOncallUser :execrows
with mark as (update directory_people set switched_off = false where user_id = @id and not sqlc.narg(active)::bool)
update users
set name = coalesce(sqlc.narg(name), name), canonical_name = coalesce(sqlc.narg(canonical_name), canonical_name), full_name = coalesce(sqlc.narg(full_name), full_name),
    time_zone = case when sqlc.narg(time_zone)::text is null then time_zone else coalesce(nullif(sqlc.narg(time_zone)::text, ''), 'UTC') end,
    time_zone_given = coalesce(sqlc.narg(time_zone)::text <> '', time_zone_given), active = coalesce(sqlc.narg(active), active),
    photo_url = case when sqlc.narg(photo_url)::text is null then photo_url else nullif(sqlc.narg(photo_url)::text, '') end
where id = @id;

-- name: NoTimeZone :exec
update users set time_zone_given = false where id = @id;

-- name: ShownOfUser :one
select coalesce(photo_url, '')::text as photo_url, (case when time_zone_given or time_zone <> 'UTC' then time_zone else '' end)::text as time_zone,
    coalesce((select s.value from user_settings s where s.user_id = users.id and s.name = 'clock'), '')::text as clock
from users where id = @id;

-- name: DeleteUser :execrows
delete from users where id = @id;

-- name: DeactivateUser :execrows
with mark as (update directory_people set switched_off = false where user_id = @id)
update users set active = false where id = @id;

-- name: LeaveAllRotations :exec
update roster_members set in_rotation = false where user_id = @user_id;

-- name: DropIcalKeysOfRequester :exec
delete from ical_keys where requester_id = @requester_id;

-- name: UserTeams :many
select t.id, t.name from team_members m join teams t on t.id = m.team_id
where m.user_id = @user_id and m.member and t.active
order by t.id;

-- name: PinnedTeams :many
select t.name from pinned_teams p join teams t on t.id = p.team_id where p.user_id = @user_id order by t.name;

-- name: PinTeam :execrows
insert into pinned_teams (user_id, team_id) values (@user_id, @team_id) on conflict do nothing;

-- name: UnpinTeam :execrows
delete from pinned_teams where user_id = @user_id and team_id = @team_id;

-- name: OncallRoles :many
select id, name, display_order from oncall_roles order by id;

-- name: CreateOncallRole :execrows
insert into oncall_roles (name) values (@name) on conflict do nothing;

-- name: OncallRoleUsed :one
select (exists (select from shifts s join oncall_roles r on r.id = s.role_id where lower(r.name) = lower(@name))
	or exists (select from schedules s join oncall_roles r on r.id = s.role_id where lower(r.name) = lower(@name)))::boolean as used;

-- name: DeleteOncallRole :execrows
delete from oncall_roles where lower(name) = lower(@name);

-- name: Services :many
select id, name from services order by lower(name), id;

-- name: ServiceByName :one
select id, name from services where lower(name) = lower(@name);

-- name: CreateService :execrows
insert into services (name) values (@name) on conflict do nothing;

-- name: RenameService :execrows
update services set name = @name where id = @id;

-- name: DeleteService :execrows
delete from services where id = @id;

-- name: ServiceTeams :many
select t.id, t.name from team_services ts join teams t on t.id = ts.team_id where ts.service_id = @service_id and t.active order by t.id;

-- name: ClaimService :execrows
insert into team_services (team_id, service_id) values (@team_id, @service_id) on conflict do nothing;

-- name: UnclaimService :execrows
delete from team_services where team_id = @team_id and service_id = @service_id;

-- name: LockService :one
select name from services where id = @id for no key update;

-- name: SearchTeams :many
select name from teams where active and position(lower(@keyword) in lower(name)) > 0 order by name limit 500;

-- name: SearchServices :many
select s.name as service, t.name as team
from services s
join team_services ts on ts.service_id = s.id
join teams t on t.id = ts.team_id and t.active
where position(lower(@keyword) in lower(s.name)) > 0
order by s.name, t.name limit 2000;

-- name: SearchUsers :many
select u.name, u.full_name
from users u
where u.active and (starts_with(lower(u.name), lower(@keyword)) or starts_with(lower(u.full_name), lower(@keyword)))
    and (sqlc.narg(team_id)::bigint is null
        or exists (select 1 from team_members m where m.team_id = sqlc.narg(team_id) and m.user_id = u.id and m.member))
order by u.name limit 500;

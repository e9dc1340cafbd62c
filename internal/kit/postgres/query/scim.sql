-- People and groups that directories push with SCIM.

-- name: UseScimToken :one
with used as (update scim_tokens t set last_used_at = clock_timestamp()
    where t.hash = @hash and (t.last_used_at is null or t.last_used_at < clock_timestamp() - interval '1 minute'))
select c.* from scim_tokens t join scim_connections c on c.id = t.connection_id where t.hash = @hash;

-- name: ScimConnections :many
select sqlc.embed(c), (select coalesce(json_agg(json_build_array(t.created_at, t.last_used_at) order by t.created_at), '[]')
    from scim_tokens t where t.connection_id = c.id)::jsonb as tokens
from scim_connections c
where c.id > @after and (@name::text = '' or lower(c.name) = lower(@name::text))
order by c.id limit sqlc.arg(most)::int;

-- name: AddScimConnection :one
insert into scim_connections (name, provider, links_accounts, created_by) values (@name, @provider, @links_accounts, @created_by) returning *;

-- name: LockScimConnection :one
select * from scim_connections where id = @id for update;

-- name: DeleteScimConnection :execrows
delete from scim_connections where id = @id;

-- Keeps the newest tokens of a connection.
-- name: TrimScimTokens :exec
delete from scim_tokens t where t.connection_id = sqlc.arg(connection_id)::bigint
    and t.hash not in (select n.hash from scim_tokens n where n.connection_id = sqlc.arg(connection_id)::bigint
        order by n.created_at desc limit sqlc.arg(keep)::int);

-- name: AddScimToken :exec
insert into scim_tokens (hash, connection_id) values (@hash, @connection_id);

-- name: ScimUsers :many
select u.*, count(*) over () as total
from scim_users u
where u.connection_id = @connection_id and u.deleted_at is null
    and (sqlc.narg(id)::bigint is null or u.id = sqlc.narg(id)::bigint)
    and (sqlc.narg(user_name)::text is null or lower(u.user_name) = lower(sqlc.narg(user_name)::text))
    and (sqlc.narg(external_id)::text is null or u.external_id = sqlc.narg(external_id)::text)
    and (sqlc.narg(email)::text is null or exists (select from jsonb_array_elements(u.attributes -> 'emails') e
        where lower(e ->> 'value') = lower(sqlc.narg(email)::text)))
    and (sqlc.narg(manager)::text is null
        or u.attributes #>> '{urn:ietf:params:scim:schemas:extension:enterprise:2.0:User,manager,value}' = sqlc.narg(manager)::text
        or u.attributes #>> '{urn:ietf:params:scim:schemas:extension:enterprise:2.0:User,manager}' = sqlc.narg(manager)::text)
order by u.id offset sqlc.arg(skip)::int limit sqlc.arg(most)::int;

-- name: LockScimUser :one
select * from scim_users where id = @id and connection_id = @connection_id and deleted_at is null for update;

-- A person whom the directory deleted before; the same name brings them back.
-- name: DeletedScimUser :one
select * from scim_users where connection_id = @connection_id and lower(user_name) = lower(@user_name::text) and deleted_at is not null
order by deleted_at desc limit 1 for update;

-- name: AddScimUser :one
insert into scim_users (connection_id, user_id, user_name, external_id, attributes)
values (@connection_id, @user_id, @user_name, @external_id, @attributes)
returning *;

-- name: SetScimUser :one
update scim_users set user_name = @user_name, external_id = @external_id, attributes = @attributes, version = version + 1, updated_at = clock_timestamp(),
    deleted_at = null
where id = @id
returning *;

-- name: HideScimUser :exec
update scim_users set deleted_at = clock_timestamp(), version = version + 1, updated_at = clock_timestamp() where id = @id;

-- The last administrator keeps the role, and also the mark that groups gave it.
-- name: SetScimRole :exec
update scim_users s set
    granted_role = case when @granted_role::text = '' and s.granted_role = 'admin' and u.admin then 'admin' else @granted_role::text end
from users u
where s.id = @id and u.id = s.user_id;

-- name: LeaveScimGroups :exec
delete from scim_group_members where scim_user_id = @id;

-- name: ScimGroups :many
select g.*, count(*) over () as total,
    (case when sqlc.arg(members)::boolean then (select coalesce(array_agg(m.scim_user_id order by m.scim_user_id), '{}') from scim_group_members m where m.group_id = g.id)
        else '{}' end)::bigint[] as members
from scim_groups g
where g.connection_id = @connection_id
    and (sqlc.narg(id)::bigint is null or g.id = sqlc.narg(id)::bigint)
    and (sqlc.narg(name)::text is null or lower(g.name) = lower(sqlc.narg(name)::text))
    and (sqlc.narg(external_id)::text is null or g.external_id = sqlc.narg(external_id)::text)
    and (sqlc.narg(member)::bigint is null or exists (select from scim_group_members m where m.group_id = g.id and m.scim_user_id = sqlc.narg(member)::bigint))
order by g.id offset sqlc.arg(skip)::int limit sqlc.arg(most)::int;

-- name: LockScimGroup :one
select * from scim_groups where id = @id and connection_id = @connection_id for update;

-- name: AddScimGroup :one
insert into scim_groups (connection_id, name, external_id) values (@connection_id, @name, @external_id) returning *;

-- name: SetScimGroup :one
update scim_groups set name = @name, external_id = @external_id, version = version + 1, updated_at = clock_timestamp() where id = @id returning *;

-- name: DeleteScimGroup :exec
delete from scim_groups where id = @id;

-- name: ScimMembers :many
select scim_user_id from scim_group_members where group_id = @group_id;

-- Adds those that are people of the connection.
-- name: JoinScimGroup :exec
insert into scim_group_members (group_id, scim_user_id)
select sqlc.arg(group_id)::bigint, u.id from scim_users u
where u.connection_id = @connection_id and u.deleted_at is null and u.id = any(sqlc.arg(ids)::bigint[])
order by u.id
on conflict do nothing;

-- name: LeaveScimGroup :exec
delete from scim_group_members where group_id = @group_id and scim_user_id = any(sqlc.arg(ids)::bigint[]);

-- Locks people in the order of their numbers, with the names of their groups.
-- name: ScimRights :many
select u.id, u.user_id, u.granted_role, p.name, p.admin, p.read_only, p.active,
    (select coalesce(array_agg(g.name order by g.name), '{}') from scim_group_members m join scim_groups g on g.id = m.group_id
        where m.scim_user_id = u.id)::text[] as groups
from scim_users u join users p on p.id = u.user_id
where u.id = any(sqlc.arg(ids)::bigint[])
order by u.id for update of u;

-- name: LockScimDeactivations :exec
select pg_advisory_xact_lock(hashtextextended('iris scim deactivations ' || sqlc.arg(connection_id)::bigint, 0));

-- name: RecentScimDeactivations :one
select count(*) from scim_deactivations
where connection_id = @connection_id and not held and requested_at > statement_timestamp() - interval '1 hour';

-- name: AddScimDeactivation :exec
insert into scim_deactivations (connection_id, scim_user_id, held) values (@connection_id, @scim_user_id, @held)
on conflict (scim_user_id) where held do nothing;

-- name: ForgetScimDeactivations :exec
delete from scim_deactivations where connection_id = @connection_id and not held and requested_at < statement_timestamp() - interval '1 day';

-- name: DeactivationHeld :one
select exists (select from scim_deactivations where scim_user_id = @scim_user_id and held)::boolean;

-- name: DropHeldDeactivation :execrows
delete from scim_deactivations where scim_user_id = @scim_user_id and held;

-- name: HeldDeactivations :many
select d.id, d.scim_user_id, c.name as connection, p.name as user_name, d.requested_at
from scim_deactivations d join scim_connections c on c.id = d.connection_id join scim_users u on u.id = d.scim_user_id join users p on p.id = u.user_id
where d.held and d.id > @after
order by d.id limit sqlc.arg(most)::int;

-- name: LockHeldDeactivation :one
select d.id, d.connection_id, d.scim_user_id, u.user_id, p.name from scim_deactivations d
join scim_users u on u.id = d.scim_user_id join users p on p.id = u.user_id
where d.id = @id and d.held for update of d;

-- name: ConfirmHeldDeactivation :exec
update scim_deactivations set held = false, requested_at = clock_timestamp() where id = @id;

-- Other active administrators.
-- name: OtherAdmins :one
select count(*) from users where admin and active and id <> @id;

-- name: DirectorySwitchedOff :one
select exists (select from directory_people where user_id = @user_id and switched_off)::boolean;

-- A change of a person who is switched off leaves the mark of the directory.
-- name: KeepSwitchedOff :exec
update directory_people d set switched_off = true from users u where d.user_id = @user_id and u.id = d.user_id and not u.active;

-- Memberships that the groups of a connection gave stay, as if they were made by hand.
-- name: ReleaseManagedMembers :exec
delete from managed_members where issuer = @issuer;

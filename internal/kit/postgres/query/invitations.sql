-- Invitations. Tokens are stored hashed. An accepted or revoked invitation has no row.

-- name: AddInvitation :one
insert into invitations (name, canonical_name, full_name, email, role, teams, invited_by, hash, expires_at)
values (@name, @canonical_name, @full_name, @email, @role, @teams, @invited_by, @hash, clock_timestamp() + sqlc.arg(life_seconds)::bigint * interval '1 second')
returning *;

-- name: DeleteExpiredInvitations :exec
delete from invitations where expires_at < clock_timestamp() - interval '30 days';

-- name: RenewInvitation :one
update invitations set hash = @hash, expires_at = clock_timestamp() + sqlc.arg(life_seconds)::bigint * interval '1 second'
where id = @id
returning *;

-- name: Invitations :many
select * from invitations where id > @after order by id limit sqlc.arg(most)::int;

-- name: FindInvitation :one
select * from invitations where hash = @hash and expires_at > clock_timestamp();

-- name: TakeInvitation :one
delete from invitations where hash = @hash and expires_at > clock_timestamp() returning *;

-- name: RevokeInvitation :one
delete from invitations where id = @id returning name;

-- name: UserHasName :one
select exists (select from users where canonical_name = @canonical_name::text)::bool;

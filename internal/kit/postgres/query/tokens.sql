-- Personal tokens. A revoked token has no row.

-- name: FindToken :one
select t.id, t.user_id, u.name as user_name, t.scopes,
    (t.last_used_at is null or t.last_used_at < clock_timestamp() - interval '1 minute')::boolean as unrecorded
from personal_tokens t
join users u on u.id = t.user_id
where t.hash = @hash and t.expires_at > clock_timestamp() and u.active;

-- name: RecordTokenUse :exec
update personal_tokens set last_used_at = clock_timestamp()
where id = @id and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute');

-- Tokens of a person, or of everybody if the number is 0; the newest first.
-- name: Tokens :many
select t.id, t.user_id, u.name as user_name, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at
from personal_tokens t
join users u on u.id = t.user_id
where (sqlc.arg(user_id)::bigint = 0 or t.user_id = sqlc.arg(user_id)::bigint) and t.id < sqlc.arg(before)::bigint
order by t.id desc
limit sqlc.arg(most);

-- name: DeleteExpiredTokens :exec
delete from personal_tokens where user_id = @user_id and expires_at < clock_timestamp();

-- Locks the person, so that concurrent requests do not exceed the limit.
-- name: LockTokenOwner :one
select (select count(*) from personal_tokens t where t.user_id = u.id)::bigint as kept
from users u
where u.id = sqlc.arg(id)::bigint and u.active
for update of u;

-- name: AddToken :one
insert into personal_tokens (user_id, name, hash, scopes, expires_at)
values (@user_id, @name, @hash, @scopes, clock_timestamp() + sqlc.arg(life_seconds)::bigint * interval '1 second')
returning id, created_at, expires_at;

-- Revokes a token: of the person, or of anybody if the number is 0.
-- name: DeleteToken :one
delete from personal_tokens t
where t.id = @id and (sqlc.arg(user_id)::bigint = 0 or t.user_id = sqlc.arg(user_id)::bigint)
returning t.name, (select u.name from users u where u.id = t.user_id)::text as user_name;

-- Revokes all tokens of a person, and the codes that a command line has not exchanged yet.
-- name: DeleteTokensOf :many
with codes as (delete from token_grants g where g.user_id = @user_id)
delete from personal_tokens t where t.user_id = @user_id returning t.id, t.name;

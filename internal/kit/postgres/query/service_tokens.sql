-- Service tokens. A revoked token has no row.

-- name: FindServiceToken :one
select t.id, coalesce(t.team_id, 0)::bigint as team_id, coalesce(g.name, '')::text as team, t.name, t.scopes,
    (t.last_used_at is null or t.last_used_at < clock_timestamp() - interval '1 minute')::boolean as unrecorded
from service_tokens t
left join teams g on g.id = t.team_id
where t.hash = @hash and t.expires_at > clock_timestamp() and (t.team_id is null or g.active);

-- name: RecordServiceTokenUse :exec
update service_tokens set last_used_at = clock_timestamp()
where id = @id and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute');

-- Service tokens of some teams, or all; the newest first.
-- name: ServiceTokens :many
select t.id, coalesce(t.team_id, 0)::bigint as team_id, coalesce(g.name, '')::text as team, t.name, t.scopes, t.created_by, t.created_at, t.expires_at,
    t.last_used_at
from service_tokens t
left join teams g on g.id = t.team_id
where (sqlc.arg(everybody)::boolean or t.team_id = any(sqlc.arg(teams)::bigint[])) and t.id < sqlc.arg(before)::bigint
order by t.id desc
limit sqlc.arg(most);

-- name: ServiceToken :one
select t.id, coalesce(t.team_id, 0)::bigint as team_id, coalesce(g.name, '')::text as team, t.name, t.scopes, t.created_by, t.created_at, t.expires_at,
    t.last_used_at
from service_tokens t
left join teams g on g.id = t.team_id
where t.id = @id;

-- name: DeleteExpiredServiceTokens :exec
delete from service_tokens where coalesce(team_id, 0) = sqlc.arg(team_id)::bigint and expires_at < clock_timestamp();

-- Locks the tokens of a team or of the administrators against additions until the end of the transaction.
-- name: LockServiceTokens :exec
select pg_advisory_xact_lock(hashtextextended('iris service tokens ' || sqlc.arg(team_id)::bigint, 0));

-- name: CountServiceTokens :one
select count(*) as kept, count(*) filter (where lower(name) = lower(sqlc.arg(name)::text)) as same_name
from service_tokens where coalesce(team_id, 0) = sqlc.arg(team_id)::bigint;

-- name: AddServiceToken :one
insert into service_tokens (team_id, name, hash, scopes, created_by, expires_at)
values (nullif(sqlc.arg(team_id)::bigint, 0), @name, @hash, @scopes, @created_by, clock_timestamp() + sqlc.arg(life_seconds)::bigint * interval '1 second')
returning id, created_at, expires_at;

-- name: DeleteServiceToken :execrows
delete from service_tokens where id = @id;

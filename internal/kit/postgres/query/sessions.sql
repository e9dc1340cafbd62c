-- Web sessions. Tokens are stored hashed.

-- name: FindSession :one
select data, (last_used_at < statement_timestamp() - interval '1 minute')::boolean as unrecorded
from sessions
where token = @token and expiry > statement_timestamp()
    and (sqlc.arg(idle_seconds)::bigint = 0 or last_used_at > statement_timestamp() - sqlc.arg(idle_seconds)::bigint * interval '1 second');

-- name: RecordSessionUse :exec
update sessions set last_used_at = clock_timestamp() where token = @token and last_used_at < clock_timestamp() - interval '1 minute';

-- A session of a person is begun if it is new or had no person before.
-- name: CommitSession :one
with before as (select s.user_id from sessions s where s.token = sqlc.arg(token)::text), written as (
insert into sessions (token, data, expiry, user_id, how, address, device)
values (@token, @data, @expiry, (select u.id from users u where u.id = sqlc.arg(user_id)::bigint), @how, @address, @device)
on conflict (token) do update set data = excluded.data, expiry = excluded.expiry, user_id = excluded.user_id, how = excluded.how,
    address = excluded.address, device = excluded.device
returning user_id
)
select coalesce((select u.name from users u where u.id = w.user_id), '')::text as user_name,
    (w.user_id is not null and w.user_id is distinct from (select b.user_id from before b))::boolean as begun
from written w;

-- name: DeleteSession :one
delete from sessions s where s.token = @token
returning coalesce(s.user_id, 0)::bigint as user_id, coalesce((select u.name from users u where u.id = s.user_id), '')::text as user_name;

-- name: DeleteExpiredSessions :execrows
delete from sessions
where token = any(array(
    select o.token from sessions o
    where o.expiry <= statement_timestamp()
        or sqlc.arg(idle_seconds)::bigint > 0 and o.last_used_at <= statement_timestamp() - sqlc.arg(idle_seconds)::bigint * interval '1 second'
    limit 10000));

-- The running sessions of a person, newest first.
-- name: SessionsOfUser :many
select id, token, how, address, device, created_at, last_used_at, expiry
from sessions
where user_id = sqlc.arg(user_id)::bigint and expiry > statement_timestamp()
    and (sqlc.arg(idle_seconds)::bigint = 0 or last_used_at > statement_timestamp() - sqlc.arg(idle_seconds)::bigint * interval '1 second')
order by id desc limit 200;

-- name: EndSession :one
delete from sessions s where s.id = @id and (sqlc.arg(user_id)::bigint = 0 or s.user_id = sqlc.arg(user_id)::bigint) and s.user_id is not null
returning (select u.name from users u where u.id = s.user_id)::text as user_name;

-- name: EndOtherSessions :execrows
delete from sessions where user_id = sqlc.arg(user_id)::bigint and token <> @token;

-- Attempts to log in with a password.

-- Counts an attempt and returns when the next one is allowed; no row = it is not allowed now.
-- name: CountLoginAttempt :one
insert into login_attempts as a (key, count, last_at) values (@key, 1, clock_timestamp())
on conflict (key) do update set
    count = case when a.last_at < statement_timestamp() - sqlc.arg(keep_seconds)::bigint * interval '1 second' then 1 else a.count + 1 end,
    last_at = clock_timestamp(),
    blocked_until = case
        when a.last_at < statement_timestamp() - sqlc.arg(keep_seconds)::bigint * interval '1 second' or a.count + 1 < sqlc.arg(free)::int then null
        else clock_timestamp() + least(sqlc.arg(longest_seconds)::bigint, (1::bigint << least(a.count + 1 - sqlc.arg(free)::int, 20))) * interval '1 second' end
where a.blocked_until is null or a.blocked_until <= statement_timestamp()
returning count;

-- Counts an attempt of an address in its minute; no row = the minute is full.
-- name: CountAddressAttempt :one
insert into login_attempts as a (key, count, last_at) values (@key, 1, clock_timestamp())
on conflict (key) do update set
    count = case when a.last_at < statement_timestamp() - interval '1 minute' then 1 else a.count + 1 end,
    last_at = case when a.last_at < statement_timestamp() - interval '1 minute' then clock_timestamp() else a.last_at end
where a.count < sqlc.arg(most)::int or a.last_at < statement_timestamp() - interval '1 minute'
returning count;

-- Seconds until the keys allow an attempt.
-- name: LoginWait :one
select coalesce(max(greatest(
    extract(epoch from blocked_until - clock_timestamp()),
    case when key = sqlc.arg(address)::bytea then extract(epoch from last_at + interval '1 minute' - clock_timestamp()) else 0 end)), 0)::float8 as seconds
from login_attempts where key = any(sqlc.arg(keys)::bytea[]);

-- name: ForgetLoginAttempts :exec
delete from login_attempts where key = any(sqlc.arg(keys)::bytea[]);

-- name: ForgetOldLoginAttempts :execrows
delete from login_attempts where key = any(array(
    select o.key from login_attempts o where o.last_at < statement_timestamp() - sqlc.arg(keep_seconds)::bigint * interval '1 second' limit 10000));

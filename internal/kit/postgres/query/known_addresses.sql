-- Addresses from which people logged in. They are stored as keyed hashes.

-- name: IsKnownAddress :one
select exists (
    select from known_addresses k
    join users u on u.id = k.user_id
    where lower(u.name) = lower(rtrim(sqlc.arg(name)::text)) and k.address = @address
        and k.logged_in_at > statement_timestamp() - sqlc.arg(keep_us)::bigint * interval '1 microsecond')::bool;

-- Keeps the newest addresses of the user. A log-in within an hour of the last one from there writes nothing.
-- name: RememberAddress :exec
with remembered as (
    insert into known_addresses (user_id, address) values (@user_id, @address)
    on conflict (user_id, address) do update set logged_in_at = excluded.logged_in_at
    where known_addresses.logged_in_at < excluded.logged_in_at - interval '1 hour'
)
delete from known_addresses k
where k.user_id = @user_id and k.address = any(array(
    select o.address from known_addresses o
    where o.user_id = @user_id and o.address <> @address
    order by o.logged_in_at desc offset sqlc.arg(others)::int));

-- name: ForgetKnownAddresses :execrows
delete from known_addresses k
where k.ctid = any(array(
    select o.ctid from known_addresses o
    where o.logged_in_at < statement_timestamp() - sqlc.arg(keep_us)::bigint * interval '1 microsecond' limit 10000));

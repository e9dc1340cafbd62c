-- Links with which people set a new password. Tokens are stored hashed.

-- People with a password and a verified e-mail contact: the one with the name before those with the address. A link that the person asks for
-- goes only to an address that the person proved: others could have been set by somebody who wants the account.
-- name: ResettableUser :many
select u.id, u.name, u.login_epoch, c.destination
from users u
join user_contacts c on c.user_id = u.id and c.mode = 'email' and c.verified_destination = c.destination
where u.active and coalesce(u.password_hash, '') <> ''
  and (sqlc.arg(by_administrator)::bool or contact_key('email', c.recovery_destination) = contact_key('email', c.destination))
  and (lower(u.name) = lower(rtrim(@login::text)) or contact_key('email', c.destination) = contact_key('email', @login::text))
order by contact_key('email', c.destination) = contact_key('email', @login::text), u.id
limit 1;

-- Locks the person, so that concurrent requests do not exceed the limits.
-- name: LockResettable :exec
select id from users where id = @id for no key update;

-- name: ResetsOf :one
select count(*) filter (where created_at > statement_timestamp() - interval '1 minute')::int as minute,
    count(*) filter (where created_at > statement_timestamp() - interval '1 hour')::int as hour,
    count(*)::int as day
from password_resets
where user_id = @user_id and created_at > statement_timestamp() - interval '1 day';

-- name: ForgetResets :exec
delete from password_resets where created_at < statement_timestamp() - interval '2 days';

-- name: AddReset :exec
insert into password_resets (hash, user_id, destination, login_epoch, expires_at)
values (@hash, @user_id, @destination, @login_epoch, clock_timestamp() + sqlc.arg(life_seconds)::bigint * interval '1 second');

-- name: FindReset :one
select u.id, u.name, r.destination
from password_resets r
join users u on u.id = r.user_id
join user_contacts c on c.user_id = u.id and c.mode = 'email' and c.verified_destination = c.destination and c.destination = r.destination
where r.hash = @hash and r.used_at is null and r.expires_at > clock_timestamp() and u.active and u.login_epoch = r.login_epoch
  and coalesce(u.password_hash, '') <> '';

-- name: UseReset :execrows
update password_resets set used_at = clock_timestamp() where hash = @hash and used_at is null;

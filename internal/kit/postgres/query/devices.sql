-- Phones that people registered for push messages, as sending sees them.

-- name: DeviceTokens :many
select d.registration_id
from devices d
join users u on u.id = d.user_id
where lower(u.name) = lower(sqlc.arg(person)::text) and u.active and d.active
order by d.id;

-- name: SwitchOffDevice :many
update devices d set active = false where d.registration_id = sqlc.arg(registration_id)::text and d.active
returning (select u.name from users u where u.id = d.user_id)::text as user_name;

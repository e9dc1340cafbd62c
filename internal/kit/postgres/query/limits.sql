-- Rate limits that the whole cluster shares. The arithmetic is the function draw_slots (migrations/0284_delivery.sql).

-- name: ReserveSlots :one
select r.before::timestamptz as before, r.clock::timestamptz as clock, r.next_free::timestamptz as next_free,
    r.granted::int[] as granted, r.slots::timestamptz[] as slots, r.longest_lead::bigint as longest_lead
from draw_slots(sqlc.arg(key)::text, sqlc.arg(slot_us)::bigint, sqlc.arg(burst)::int, sqlc.arg(offsets)::bigint[],
    sqlc.arg(instants)::timestamptz[], sqlc.arg(tolerance)::bigint, sqlc.narg(only_within)::bigint, sqlc.arg(lead)::bigint) as r;

-- name: ListPauses :many
select p.account, (extract(epoch from p.until - clock_timestamp()) * 1000000)::bigint as left_us, p.reason
from vendor_pauses p
where p.until > clock_timestamp();

-- name: SetPause :exec
insert into vendor_pauses (account, until, reason)
values (sqlc.arg(account), clock_timestamp() + sqlc.arg(for_us)::bigint * interval '1 microsecond', sqlc.arg(reason))
on conflict (account) do update
set until = excluded.until, reason = excluded.reason
where vendor_pauses.until < excluded.until;

-- name: EndPause :one
delete from vendor_pauses where account = sqlc.arg(account) and until > clock_timestamp() returning reason;

-- Delivery receipts: later reports of a vendor about a message that it accepted.

-- The attempt that a vendor's number belongs to. The newest, if a vendor used a number twice.
-- name: ReceiptAttempt :one
select a.message_id, a.attempt, coalesce(m.incident_id, 0)::bigint as incident_id
from attempts a
join messages m on m.id = a.message_id
where a.vendor = sqlc.arg(vendor)::text and a.vendor <> 'smtp' and a.vendor_message_id = sqlc.arg(vendor_message_id)::text
order by a.started_at desc
limit 1;

-- Locks a message and reads the state of its incident, which the caller has locked. repeated: a later repeat of the message exists
-- for the same recipient. messages.Wanted decides by these values whether the message is sent again.
-- name: LockReceiptMessage :one
select m.state, m.mode, m.target, m.mode_attempt, m.attempt,
    (m.incident_id is not null)::boolean as of_incident,
    coalesce(i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved), false)::boolean as open, m.step, coalesce(i.current_step, 0)::smallint as current_step,
    exists (
        select from messages l
        where l.incident_id = m.incident_id and l.step = m.step and l.position = m.position and l.recipient = m.recipient
          and (l.repeat, l.reopen_count) > (m.repeat, m.reopen_count))::boolean as repeated
from messages m
left join incidents i on i.id = m.incident_id
where m.id = sqlc.arg(message_id)::bigint
for no key update of m;

-- The attempt of a finished message that is in history.
-- name: ReceiptHistory :one
select v.message_id, v.attempt, v.created_at
from vendor_messages v
where v.vendor = sqlc.arg(vendor)::text and v.vendor_message_id = sqlc.arg(vendor_message_id)::text
order by v.created_at desc, v.attempt desc
limit 1;

-- Sets the state of a message in history, if the receipt is about its last attempt. Nothing is sent again: the incident is over.
-- name: ReceiptOfHistory :one
with late as (
    insert into statistics_changes (at)
    select statistics_hour(coalesce(h.settled_at, h.created_at)) from message_history h
    where h.id = sqlc.arg(message_id)::bigint and h.created_at = sqlc.arg(created_at)::timestamptz
)
update message_history h
set state = sqlc.arg(state)::text
where h.id = sqlc.arg(message_id)::bigint and h.created_at = sqlc.arg(created_at)::timestamptz
  and h.attempt = sqlc.arg(attempt)::smallint
  and (h.state = 'sent' or h.state = 'delivered' and sqlc.arg(state)::text = 'failed')
returning h.mode, h.target, coalesce(h.incident_id, 0)::bigint as incident_id;

-- name: NoteReceiptOfHistory :exec
with noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select i.id, 'delivery', '', sqlc.arg(why)::text from incidents i where i.id = sqlc.arg(incident_id)::bigint
)
insert into message_changes (message_id, change_type, old, new, description)
values (sqlc.arg(message_id)::bigint, 'sent-change', 'sent', sqlc.arg(state)::text, sqlc.arg(why)::text);

-- name: AddReceipt :exec
insert into receipts (at, vendor, vendor_message_id, status, outcome, detail, message_id)
values (coalesce(sqlc.narg(at)::timestamptz, clock_timestamp()), @vendor, @vendor_message_id, @status, @outcome, @detail,
    sqlc.narg(message_id));

-- Statements that change a settled message let its hour be counted again, if it has ended.
-- name: ReceiptDelivered :exec
with late as (
    insert into statistics_changes (at)
    select statistics_hour(m.settled_at) from messages m
    where m.id = sqlc.arg(message_id)::bigint and statistics_hour(m.settled_at) <= statement_timestamp()
)
update messages set state = 'delivered' where id = sqlc.arg(message_id)::bigint and state = 'sent';

-- The message was not delivered after all, and its incident still waits for somebody: on it goes, in another mode unless
-- the same one may be tried again.
-- name: ReceiptTryAgain :exec
with late as (
    insert into statistics_changes (at)
    select statistics_hour(m.settled_at) from messages m
    where m.id = sqlc.arg(message_id)::bigint and statistics_hour(m.settled_at) <= statement_timestamp()
)
update messages
set state = 'pending', settled_at = null, claim_by = null, claim_until = null, key_attempt = 0,
    available_at = clock_timestamp() + sqlc.arg(retry_us)::bigint * interval '1 microsecond',
    refused_modes = case when sqlc.arg(refuse)::boolean then array_append(refused_modes, mode) else refused_modes end
where id = sqlc.arg(message_id)::bigint;

-- name: ReceiptFailed :exec
with late as (
    insert into statistics_changes (at)
    select statistics_hour(m.settled_at) from messages m
    where m.id = sqlc.arg(message_id)::bigint and statistics_hour(m.settled_at) <= statement_timestamp()
)
update messages set state = 'failed' where id = sqlc.arg(message_id)::bigint;

-- name: NoteReceipt :exec
with noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select m.incident_id, 'delivery', '', sqlc.arg(why)::text from messages m where m.id = sqlc.arg(message_id)::bigint and m.incident_id is not null
)
insert into message_changes (message_id, change_type, old, new, description)
values (sqlc.arg(message_id)::bigint, 'sent-change', sqlc.arg(old)::text, sqlc.arg(new)::text, sqlc.arg(why)::text);

-- Receipts that came before their attempt was recorded, and whose attempt is known now.
-- name: EarlyReceipts :many
select r.id, r.at, r.vendor, r.vendor_message_id, r.status, r.outcome, r.detail
from receipts r
where r.message_id is null and r.at > clock_timestamp() - interval '15 minutes'
  and (exists (select from attempts a where a.vendor = r.vendor and a.vendor <> 'smtp' and a.vendor_message_id = r.vendor_message_id)
    or exists (select from vendor_messages v where v.vendor = r.vendor and v.vendor_message_id = r.vendor_message_id))
order by r.id
limit 100;

-- name: TakeEarlyReceipt :one
delete from receipts where id = @id and message_id is null returning id;

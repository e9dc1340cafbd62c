-- The messages that people answer, and their answers. Messages are looked up in the queue and in history.

-- name: ResponseAsked :one
select found.id, coalesce(found.incident_id, 0)::bigint as incident_id, found.batch::text as batch, a.name as application, a.id as application_id, found.subject::text as subject, found.body::text as body, found.destination::text as destination
from (
    select m.id, m.incident_id, coalesce(case when m.incident_id is null then m.batch end, '') as batch, m.application_id,
        coalesce(c.subject, '') as subject, coalesce(c.body, '') as body, coalesce(c.destination, '') as destination
    from messages m left join message_contents c on c.message_id = m.id
    where m.id = @id
    union all
    select h.id, h.incident_id, coalesce(case when h.incident_id is null then h.batch end, ''), h.application_id, h.subject, h.body, h.destination
    from message_history h where h.id = @id
) found
join applications a on a.id = found.application_id
limit 1;

-- name: ResponseBatch :one
-- The message that is a digest. Imported digests have only their parts, which have the same text.
select found.id from (
    select m.id, m.incident_id from messages m where m.batch = @batch
    union all
    select h.id, h.incident_id from message_history h where h.batch = @batch
) found
order by found.incident_id is null desc, found.id desc
limit 1;

-- name: ResponseBatchWaiting :many
-- Which of the incidents are neither acknowledged nor resolved.
select i.id from incidents i
where i.id = any (sqlc.arg(ids)::bigint[]) and not i.resolved and (i.active or i.owner_id is null)
order by i.id;

-- name: ResponseNewest :one
-- The newest message to a user that belongs to an incident which is still escalating.
select m.id, i.id as incident_id, a.name as application, a.id as application_id
from messages m
join incidents i on i.id = m.incident_id
join applications a on a.id = i.application_id
where m.user_id = @user_id and i.active
order by m.id desc
limit 1;

-- name: ResponseActive :many
-- Every escalating incident that has a message to the user.
select distinct i.id as incident_id, a.name as application, a.id as application_id
from messages m
join incidents i on i.id = m.incident_id
join applications a on a.id = i.application_id
where m.user_id = @user_id and i.active
order by i.id;

-- name: ResponseUserByContact :many
-- The active people who have verified the contact. The caller accepts exactly one. One number may serve texts and calls.
select distinct u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active, u.login_epoch
from user_contacts c
join users u on u.id = c.user_id
where contact_key(c.mode, c.destination) = contact_key(@mode, @source) and c.verified_destination = c.destination and u.active
  and (c.mode = @mode or c.mode in ('sms', 'call') and sqlc.arg(mode)::text in ('sms', 'call'))
order by u.id
limit 2;

-- name: ResponseUserByMessage :one
-- The active recipient of a message that went to the address or number that now replies and quotes it.
select u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active, u.login_epoch
from users u
where u.active and u.id in (
    select m.user_id from messages m join message_contents c on c.message_id = m.id
    where m.id = sqlc.arg(message_id)::bigint
      and (m.mode = sqlc.arg(mode)::text or m.mode in ('sms', 'call') and sqlc.arg(mode)::text in ('sms', 'call'))
      and contact_key(sqlc.arg(mode)::text, c.destination) = contact_key(sqlc.arg(mode)::text, sqlc.arg(source)::text)
    union all
    select h.user_id from message_history h
    where h.id = sqlc.arg(message_id)::bigint
      and (h.mode = sqlc.arg(mode)::text or h.mode in ('sms', 'call') and sqlc.arg(mode)::text in ('sms', 'call'))
      and contact_key(sqlc.arg(mode)::text, h.destination) = contact_key(sqlc.arg(mode)::text, sqlc.arg(source)::text)
)
limit 1;

-- name: RecordResponse :exec
insert into responses (mode, source, user_id, message_id, incident_id, content, result)
values (@mode, @source, sqlc.narg(user_id), sqlc.narg(message_id), sqlc.narg(incident_id), @content, @result);

-- The first of the addresses whose mails open incidents.
-- name: ResponseMailbox :one
select e.email, a.name as application, e.plan_key
from (select unnest(sqlc.arg(addresses)::text[]) as address, generate_subscripts(sqlc.arg(addresses)::text[], 1) as n) g
join incident_emails e on lower(e.email) = lower(g.address)
join applications a on a.id = e.application_id
order by g.n
limit 1;

-- name: ResponseSlackPosted :many
-- The messages with a time stamp of Slack. The time stamps of old messages are only in their history.
select a.message_id from attempts a where a.vendor = 'slack' and a.vendor_message_id = sqlc.arg(ts)::text
union
select v.message_id from vendor_messages v where v.vendor = 'slack' and v.vendor_message_id = sqlc.arg(ts)::text
union
select h.id from message_history h
where h.id = sqlc.arg(claimed)::bigint
  and h.attempts @> jsonb_build_array(jsonb_build_object('vendor', 'slack', 'vendor_message_id', sqlc.arg(ts)::text));

-- name: ResponseSlackUnknown :one
-- Whether a message may be in Slack under a time stamp that is not known: its call runs or is in doubt, or it was imported.
select (exists (
    select from attempts a
    where a.message_id = sqlc.arg(id)::bigint and a.vendor = 'slack' and coalesce(a.vendor_message_id, '') = ''
      and (a.in_doubt or coalesce(a.outcome, 'unknown') = 'unknown'))
  or exists (
    select from message_history h
    where h.id = sqlc.arg(id)::bigint and (h.mode = 'slack' and h.attempts = '[]' or exists (
        select from jsonb_array_elements(h.attempts) e
        where e ->> 'vendor' = 'slack' and coalesce(e ->> 'vendor_message_id', '') = '' and coalesce(e ->> 'outcome', 'unknown') = 'unknown'))))::boolean;

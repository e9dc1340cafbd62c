-- Where people are reached, and whether that is verified.

-- name: SetContact :exec
-- A contact that does not change keeps its mark. One from a caller that verified it is verified unless another person has it.
insert into user_contacts as c (user_id, mode, destination, verified_destination)
values (@user_id, @mode, @destination, case when sqlc.arg(verified)::bool then @destination end)
on conflict (user_id, mode) do update set destination = excluded.destination,
    verified_destination = case
        when excluded.verified_destination is not null then excluded.destination
        when c.verified_destination = c.destination and contact_key(c.mode, c.destination) = contact_key(c.mode, excluded.destination)
            then excluded.destination end;

-- name: RemoveContact :exec
delete from user_contacts where user_id = @user_id and mode = @mode;

-- name: Contacts :many
select mode, destination from user_contacts where user_id = @user_id order by mode;

-- name: ContactsWithMarks :many
select c.mode, c.destination, coalesce(c.verified_destination = c.destination, false)::bool as verified,
    exists (select from directory_contacts d where d.user_id = c.user_id and d.mode = c.mode and d.destination = c.destination) as managed,
    coalesce(f.reason, '')::text as failing
from user_contacts c join modes m on m.name = c.mode
left join failing_contacts f on f.user_id = c.user_id and f.mode = c.mode and f.destination = c.destination
where c.user_id = @user_id order by m.id;

-- name: ContactIsMailbox :one
select exists (select from incident_emails e where lower(e.email) = lower(@destination::text))::bool;

-- name: LockContacts :exec
-- Transactions that verify contacts wait for each other: two people cannot verify the same contact.
select pg_advisory_xact_lock(hashtextextended('iris contact ' || contact_key(@mode, @destination), 0));

-- name: ContactHolder :one
-- The name of another person who has verified the contact.
select u.name from user_contacts c join users u on u.id = c.user_id
where c.user_id <> @user_id and c.verified_destination = c.destination
  and contact_key(c.mode, c.destination) = contact_key(@mode, @destination)
  and (c.mode = @mode or c.mode in ('sms', 'call') and sqlc.arg(mode)::text in ('sms', 'call'))
order by u.id limit 1;

-- name: VerifyContact :execrows
-- The person proved the contact, or the operator vouches for it: it may also recover the account.
update user_contacts set verified_destination = destination, recovery_destination = destination where user_id = @user_id and mode = @mode and destination = @destination;

-- name: ProveAddress :exec
-- The person followed a link that was sent to the e-mail address. The mark counts only while the contact is verified too.
update user_contacts set recovery_destination = destination where user_id = @user_id and mode = 'email';

-- name: SettleImportedContacts :exec
-- Imported contacts come with an empty mark. They count as verified unless another person has them too, verified or not, or they are a
-- mailbox.
update user_contacts c set verified_destination = case when c.mode in ('email', 'sms', 'call', 'slack')
    and contact_key(c.mode, c.destination) <> ''
    and not exists (select from incident_emails e where c.mode = 'email' and lower(e.email) = lower(c.destination))
    and not exists (select from user_contacts o where o.user_id <> c.user_id and contact_key(o.mode, o.destination) = contact_key(c.mode, c.destination)
        and (o.mode = c.mode or o.mode in ('sms', 'call') and c.mode in ('sms', 'call')))
    then c.destination end
where c.verified_destination = '';

-- name: CodesSent :one
-- How many codes went out to the person or to the contact lately, and whether the newest is very fresh.
select count(*) filter (where created_at > statement_timestamp() - interval '1 hour')::int as hour,
    count(*)::int as day,
    coalesce(extract(epoch from clock_timestamp() - max(created_at)), 1e9)::float8 as newest_seconds
from contact_codes
where (user_id = @user_id or contact_key(mode, destination) = contact_key(@mode, @destination))
  and code_hash <> '' and created_at > statement_timestamp() - interval '1 day';

-- name: TestsSent :one
-- How many test messages went to the contact, and to all contacts of the person. They are codes without a hash.
select count(*) filter (where user_id = @user_id and created_at > statement_timestamp() - interval '1 hour')::int as hour,
    count(*) filter (where contact_key(mode, destination) = contact_key(@mode, @destination))::int as day,
    coalesce(extract(epoch from clock_timestamp() - max(created_at) filter (where contact_key(mode, destination) = contact_key(@mode, @destination))), 1e9)::float8 as newest_seconds
from contact_codes
where (user_id = @user_id or contact_key(mode, destination) = contact_key(@mode, @destination))
  and code_hash = '' and created_at > statement_timestamp() - interval '1 day';

-- name: AddContactCode :exec
insert into contact_codes (user_id, mode, destination, code_hash) values (@user_id, @mode, @destination, @code_hash);

-- name: AddContactTest :exec
-- Its number is negative: the release before does not know tests, and takes the row with the highest number as the newest code.
insert into contact_codes (id, user_id, mode, destination, code_hash) overriding system value
values (-nextval(pg_get_serial_sequence('contact_codes', 'id')), @user_id, @mode, @destination, '');

-- name: TryContactCode :one
-- Counts an attempt on the newest code for the contact, if it may still be used.
update contact_codes k set attempts = attempts + 1
where k.id = (select n.id from contact_codes n where n.user_id = @user_id and n.mode = @mode and n.destination = @destination and n.code_hash <> ''
        order by n.id desc limit 1)
  and k.attempts < sqlc.arg(max_attempts)::int and k.created_at > statement_timestamp() - make_interval(secs => @life_seconds::float8)
returning k.id, k.code_hash;

-- name: UseContactCode :exec
update contact_codes set attempts = 1000000 where id = @id;

-- name: ForgetContactCodes :exec
delete from contact_codes where created_at < statement_timestamp() - interval '2 days';

-- name: NumbersToCheck :many
-- Phone numbers after a contact, with what is noted about them.
select c.user_id, u.name, c.mode::text as mode, c.destination, coalesce(f.reason, '')::text as failing
from user_contacts c join users u on u.id = c.user_id
left join failing_contacts f on f.user_id = c.user_id and f.mode = c.mode and f.destination = c.destination
where c.mode in ('sms', 'call')
  and (c.user_id, c.mode::text) > (sqlc.arg(after_user)::bigint, sqlc.arg(after_mode)::text)
order by c.user_id, c.mode::text limit sqlc.arg(most)::int;

-- name: SlackNamesToCheck :many
-- Slack contacts by a bare name, after a person: no ids, no channels and no e-mail addresses. email = '' when the person has none.
select c.user_id, u.name, c.destination, coalesce(e.destination, '')::text as email, coalesce(f.reason, '')::text as failing,
    exists (select from directory_contacts d where d.user_id = c.user_id and d.mode = c.mode and d.destination = c.destination) as managed
from user_contacts c join users u on u.id = c.user_id
left join user_contacts e on e.user_id = c.user_id and e.mode = 'email'
left join failing_contacts f on f.user_id = c.user_id and f.mode = c.mode and f.destination = c.destination
where c.mode = 'slack' and c.destination !~ '^[CGDUW][A-Z0-9]{7,20}$' and c.destination !~ '^#' and c.destination !~ '^[^@].*@'
  and c.user_id > sqlc.arg(after_user)::bigint
order by c.user_id limit sqlc.arg(most)::int;

-- name: ResolveSlackName :execrows
-- Keeps the mark only if the e-mail address that led to the id is verified, and nobody else has the id verified.
update user_contacts c set destination = sqlc.arg(slack_id)::text,
    verified_destination = case when c.verified_destination = c.destination and exists (
        select from user_contacts e where e.user_id = c.user_id and e.mode = 'email' and e.verified_destination = e.destination
          and e.destination = sqlc.arg(email)::text
    ) and not exists (
        select from user_contacts o where o.user_id <> c.user_id and o.mode = 'slack' and o.verified_destination = o.destination
          and contact_key(o.mode, o.destination) = contact_key('slack', sqlc.arg(slack_id)::text)
    ) then sqlc.arg(slack_id)::text end
where c.user_id = @user_id and c.mode = 'slack' and c.destination = sqlc.arg(was)::text;

-- name: NoteFailingContact :exec
insert into failing_contacts (user_id, mode, destination, reason)
select c.user_id, c.mode, c.destination, sqlc.arg(reason)::text from user_contacts c
where c.user_id = @user_id and c.mode = @mode and c.destination = @destination
on conflict (user_id, mode) do update set destination = excluded.destination, reason = excluded.reason;

-- name: ForgetFailingContact :exec
delete from failing_contacts where user_id = @user_id and mode = @mode;

-- name: FailingContacts :many
-- After a contact, in the order of names and modes.
select u.name, f.mode::text as mode, f.destination, f.reason
from failing_contacts f join users u on u.id = f.user_id
join user_contacts c on c.user_id = f.user_id and c.mode = f.mode and c.destination = f.destination
where u.active and (u.name::text, f.mode::text) > (sqlc.arg(after_name)::text, sqlc.arg(after_mode)::text)
order by u.name::text, f.mode::text limit sqlc.arg(most)::int;

-- name: RewriteNumber :execrows
-- Keeps the mark, unless another person has the number verified, and that the directory gave it.
with given as (
    update directory_contacts d set destination = sqlc.arg(number)::text
    where d.user_id = @user_id and d.mode = @mode and d.destination = sqlc.arg(was)::text
)
update user_contacts c set destination = sqlc.arg(number)::text,
    verified_destination = case when c.verified_destination = c.destination and not exists (
        select from user_contacts o where o.user_id <> c.user_id and o.mode in ('sms', 'call') and o.verified_destination = o.destination
          and contact_key(o.mode, o.destination) = contact_key(c.mode, sqlc.arg(number)::text)
    ) then sqlc.arg(number)::text end
where c.user_id = @user_id and c.mode = @mode and c.destination = sqlc.arg(was)::text;

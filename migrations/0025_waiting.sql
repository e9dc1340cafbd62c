-- The indexes of the queue hold all messages that have not settled: waiting, taken or being sent. Taking and marking a
-- message change no indexed column and write the row only (HOT).

-- +goose Up

update messages set settled_at = null where state in ('pending', 'taken', 'sending') and settled_at is not null;
alter table messages add constraint messages_unsettled
    check (settled_at is null or state not in ('pending', 'taken', 'sending'));
create index messages_waiting on messages (bucket, mode, class, application_id, available_at, id) where settled_at is null;
drop index messages_pending, messages_claimed, messages_held, messages_digests;
create index messages_held on messages (plan_id, application_id, priority, user_id, id) where held_at is not null and batch is null;
create index messages_digests on messages (bucket) where batch is not null and incident_id is null and settled_at is null;
alter table messages set (fillfactor = 45); -- room for two more versions of each row, in addition to rows being taken

-- Calls that run, or whose outcome nobody recorded. Mails get no receipts, so they need no index by the vendor's id.
create index attempts_open on attempts (message_id) where finished_at is null;
drop index attempts_vendor_message;
create index attempts_vendor_message on attempts (vendor_message_id) where vendor_message_id is not null and vendor <> 'smtp';

-- +goose Down
drop index attempts_open, attempts_vendor_message;
create index attempts_vendor_message on attempts (vendor_message_id) where vendor_message_id is not null;
alter table messages set (fillfactor = 60);
drop index messages_waiting, messages_held, messages_digests;
alter table messages drop constraint messages_unsettled;
create index messages_pending on messages (bucket, mode, class, application_id, available_at, id) where state = 'pending';
create index messages_claimed on messages (bucket, claim_until) where state in ('taken', 'sending');
create index messages_held on messages (plan_id, application_id, priority, user_id, id)
    where state = 'aggregated' and batch is null;
create index messages_digests on messages (bucket)
    where batch is not null and incident_id is null and state in ('pending', 'taken');

-- +goose NO TRANSACTION
-- +goose Up

-- The index of late messages, which the checks of late messages read. Its condition contains id > 0, which is always true, so that no other
-- statement can read it: when the table's statistics said that no message was unsettled, the planner preferred messages_unsent to
-- messages_waiting for taking messages, and each bucket read every unsettled message of its application.
drop index concurrently if exists messages_late;
create index concurrently messages_late on messages (application_id, class, created_at) where settled_at is null and id > 0;
drop index concurrently if exists messages_unsent;
insert into schema_compatibility (version, oldest) values (148, 110) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 148;
create index concurrently if not exists messages_unsent on messages (application_id, class, created_at) where settled_at is null;
drop index concurrently if exists messages_late;

-- +goose Up

-- Pages that were not sent in time are found in every state, and are noted once on the timeline of their incident.
alter table messages add column late_at timestamptz;
comment on column messages.late_at is 'when the timeline was told that the message has not left in time; null = it was not';
create index messages_unsent on messages (application_id, class, created_at) where settled_at is null;
insert into schema_compatibility (version, oldest) values (50, 26);

-- +goose Down
delete from schema_compatibility where version = 50;
drop index messages_unsent;
alter table messages drop column late_at;

-- +goose Up

-- The calls of a process that has ended are over. They are repeated without waiting for the end of their claims.
alter table members add column ended_at timestamptz;
comment on column members.ended_at is 'when another member found out that the process has ended, by its closed gossip port; a later heartbeat withdraws it';
insert into schema_compatibility (version, oldest) values (72, 26);

-- +goose Down
delete from schema_compatibility where version = 72;
alter table members drop column ended_at;

-- +goose Up

-- No index has it, so that setting it updates only the row.
alter table incidents add column delivered_at timestamptz;
comment on column incidents.delivered_at is 'about when the source delivered last, at most a minute too early; null = not since the incident was opened';
insert into schema_compatibility (version, oldest) values (113, 110);

-- +goose Down
delete from schema_compatibility where version = 113;
alter table incidents drop column delivered_at;

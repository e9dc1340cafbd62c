-- +goose NO TRANSACTION
-- +goose Up

-- The incidents of an integration, newest first. An index that an interrupted run left invalid is made again.
drop index concurrently if exists incidents_integration;
create index concurrently incidents_integration on incidents (integration_id, id) where integration_id is not null;
insert into schema_compatibility (version, oldest) values (141, 110) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 141;
drop index concurrently if exists incidents_integration;

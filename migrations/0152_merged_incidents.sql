-- +goose NO TRANSACTION
-- +goose Up

-- The incidents that are merged into an incident. An index that an interrupted run left invalid is made again.
drop index concurrently if exists incidents_merged;
create index concurrently incidents_merged on incidents (merged_into, id) where merged_into is not null;
insert into schema_compatibility (version, oldest) values (152, 148) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 152;
drop index concurrently if exists incidents_merged;

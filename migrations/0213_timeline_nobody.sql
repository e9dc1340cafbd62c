-- +goose NO TRANSACTION
-- +goose Up

-- The notifications that reached nobody, for operators.
drop index concurrently if exists timeline_nobody;
create index concurrently timeline_nobody on timeline_entries (id) where kind = 'fallback' and text like '%this notification reaches NOBODY';
insert into schema_compatibility (version, oldest) values (213, 193) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 213;
drop index concurrently if exists timeline_nobody;

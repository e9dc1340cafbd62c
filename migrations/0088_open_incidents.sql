-- +goose NO TRANSACTION
-- +goose Up

-- Lists of open and of escalating incidents, newest first: there may be few of them among many others. An index that an interrupted run left
-- invalid is made again.
drop index concurrently if exists incidents_open;
create index concurrently incidents_open on incidents (created_at desc, id desc) where not resolved;
drop index concurrently if exists incidents_escalating;
create index concurrently incidents_escalating on incidents (created_at desc, id desc) where active;
insert into schema_compatibility (version, oldest) values (88, 72) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 88;
drop index concurrently if exists incidents_open;
drop index concurrently if exists incidents_escalating;

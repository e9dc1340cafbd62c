-- +goose NO TRANSACTION
-- +goose Up

-- Lists of open incidents leave out closed ones, of which there may be many. The lists of /v0 do not. PostgreSQL reads all entries of a list
-- from this index while they are few, and sorts them; otherwise it reads incidents_created. An index that an interrupted run left invalid
-- is made again.
drop index concurrently if exists incidents_open;
create index concurrently incidents_open on incidents (closed_at, created_at desc, id desc) where not resolved;
insert into schema_compatibility (version, oldest) values (112, 110);

-- +goose Down
delete from schema_compatibility where version = 112;
drop index concurrently if exists incidents_open;
create index concurrently incidents_open on incidents (created_at desc, id desc) where not resolved;

-- +goose NO TRANSACTION
-- +goose Up

-- The incidents that silences hide. An index that an interrupted run left invalid is made again.
drop index concurrently if exists incidents_silenced;
create index concurrently incidents_silenced on incidents (silenced_until) where silenced_until is not null;
drop index concurrently if exists incidents_silence;
create index concurrently incidents_silence on incidents (silence_id) where silence_id is not null;
insert into schema_compatibility (version, oldest) values (117, 110) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 117;
drop index concurrently if exists incidents_silenced;
drop index concurrently if exists incidents_silence;

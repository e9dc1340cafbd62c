-- +goose Up

-- The keys of calendar feeds are no longer stored in clear: a copy of the database would open the feeds with them. `key` of a sealed row is a
-- keyed hash, by which requests are looked up and which opens nothing itself. The release before still inserts clear keys.
alter table ical_keys add column key_sealed bytea;
comment on column ical_keys.key_sealed is 'the key, sealed; null = a release before wrote the row, and `key` is still the key in clear';
comment on column ical_keys.key is 'keyed hash of the key where key_sealed is set';
create index ical_keys_clear on ical_keys (key) where key_sealed is null;
insert into schema_compatibility (version, oldest) values (38, 26);

-- +goose Down
delete from schema_compatibility where version = 38;
-- An older release would take the hashes for keys.
delete from ical_keys where key_sealed is not null;
alter table ical_keys drop column key_sealed;

-- +goose Up

-- The beginning of the newest occurrence of a silence whose incidents are hidden. A processor applies a silence until this is the beginning of
-- the occurrence in force; so a restart does not apply all silences again. The release before neither reads nor writes it.
alter table silences add column applied_from timestamptz;
insert into schema_compatibility (version, oldest) values (240, 193);

-- +goose Down
delete from schema_compatibility where version = 240;
alter table silences drop column applied_from;

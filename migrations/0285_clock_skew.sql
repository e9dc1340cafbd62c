-- +goose Up

-- How far the clock of the processor is ahead of the clock of the database, in seconds; negative = behind. Null = it does not say: it is of
-- the release before, or has not measured yet.
alter table members add column clock_skew_seconds double precision;
insert into schema_compatibility (version, oldest) values (285, 193);

-- +goose Down
delete from schema_compatibility where version = 285;
alter table members drop column clock_skew_seconds;

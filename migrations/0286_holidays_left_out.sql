-- +goose Up
alter table holiday_calendars add column left_out text[] not null default '{}';
comment on column holiday_calendars.left_out is 'lines and events of the source that were not used, and why';
insert into schema_compatibility (version, oldest) values (286, 193);

-- +goose Down
delete from schema_compatibility where version = 286;
alter table holiday_calendars drop column left_out;

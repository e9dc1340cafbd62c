-- +goose Up

-- Oncall's time_zone may be null, and clients expect to read that null again. The default serves what the release before writes.
alter table users add column time_zone_given boolean not null default true;
comment on column users.time_zone_given is 'false: nobody chose time_zone, which is UTC then';
insert into schema_compatibility (version, oldest) values (60, 26);

-- +goose Down
delete from schema_compatibility where version = 60;
alter table users drop column time_zone_given;

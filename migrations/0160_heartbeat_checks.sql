-- +goose Up

alter table heartbeats add column check_at timestamptz not null default 'epoch';
comment on column heartbeats.check_at is 'the monitor need not read the heartbeat before, unless it is missed';
create index heartbeats_check on heartbeats (check_at) where missed_at is null;
create index heartbeats_missed on heartbeats (id) where missed_at is not null;
insert into schema_compatibility (version, oldest) values (160, 148);

-- +goose Down
delete from schema_compatibility where version = 160;
drop index heartbeats_missed;
drop index heartbeats_check;
alter table heartbeats drop column check_at;

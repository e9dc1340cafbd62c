-- +goose Up

alter table plans add column settings jsonb not null default '{}';
comment on column plans.settings is 'choices that hold for all versions of the name: repeat, delay_seconds, wait_for_on_call, notify_owner, resolved_notice';
alter table plans add column conditions jsonb not null default '[]';
comment on column plans.conditions is 'when steps apply: step (from 1), team_id, zone, windows (days, from, to); other steps always apply';
insert into schema_compatibility (version, oldest) values (149, 148);

-- +goose Down
delete from schema_compatibility where version = 149;
alter table plans drop column conditions;
alter table plans drop column settings;

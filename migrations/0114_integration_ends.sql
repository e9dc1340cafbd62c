-- +goose Up

alter table integrations
    add column resolve_after_seconds int check (resolve_after_seconds > 0),
    add column close_after_seconds int check (close_after_seconds >= 0);
comment on column integrations.resolve_after_seconds is 'an incident without a delivery for so long is resolved; null = never';
comment on column integrations.close_after_seconds is 'an incident without news for so long is closed; 0 = never, null = as configured (incidents.close_after)';
insert into schema_compatibility (version, oldest) values (114, 110);

-- +goose Down
delete from schema_compatibility where version = 114;
alter table integrations drop column close_after_seconds, drop column resolve_after_seconds;

-- +goose Up

alter table messages add column failed_for_good boolean not null default false;
comment on column messages.failed_for_good is 'it failed because nothing can reach the recipient (refused, no contact, switched off), not because of an outage';
insert into schema_compatibility (version, oldest) values (46, 26);

-- +goose Down
delete from schema_compatibility where version = 46;
alter table messages drop column failed_for_good;

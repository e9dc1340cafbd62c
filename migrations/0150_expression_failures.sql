-- +goose Up

alter table integration_activity add column failed_expressions bigint not null default 0;
alter table integration_activity add column last_failure text;
alter table integration_activity add column last_failure_at timestamptz;
comment on column integration_activity.failed_expressions is 'deliveries with a template expression that failed; the default was used instead';
alter table integration_payloads add column content_type text not null default '';
comment on column integration_payloads.content_type is 'the Content-Type of the delivery, for the preview';
insert into schema_compatibility (version, oldest) values (150, 148);

-- +goose Down
delete from schema_compatibility where version = 150;
alter table integration_payloads drop column content_type;
alter table integration_activity drop column last_failure_at;
alter table integration_activity drop column last_failure;
alter table integration_activity drop column failed_expressions;

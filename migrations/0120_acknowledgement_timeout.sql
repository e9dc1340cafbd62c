-- +goose Up

alter table plans add column acknowledgement_timeout int not null default 0 check (acknowledgement_timeout >= 0);
comment on column plans.acknowledgement_timeout is 'seconds after an acknowledgement after which the plan begins again unless the incident is resolved; 0 = never';
insert into schema_compatibility (version, oldest) values (120, 110);

-- +goose Down
delete from schema_compatibility where version = 120;
alter table plans drop column acknowledgement_timeout;

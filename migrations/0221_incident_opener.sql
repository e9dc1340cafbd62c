-- +goose Up

-- People and service tokens that open an incident of the application iris have quotas and dedup keys of their own.
alter table incidents add column opener text; -- 'user N' or 'token N'; null = the application opened it
comment on column incidents.plan_key is 'which incidents share a dedup_key: lower(name) of the plan and, if there is an opener, chr(29) || opener; or chr(31) || integration_id. A closed incident has chr(30) || id appended, so its dedup_key is free';
insert into schema_compatibility (version, oldest) values (221, 193);

-- +goose Down
delete from schema_compatibility where version = 221;
comment on column incidents.plan_key is 'which incidents share a dedup_key: lower(name) of the plan, or chr(31) || integration_id. A closed incident has chr(30) || id appended, so its dedup_key is free';
alter table incidents drop column opener;

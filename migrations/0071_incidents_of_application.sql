-- +goose Up

-- Lists of one application, newest first: it may have few of many incidents.
create index incidents_application_created on incidents (application_id, created_at desc, id desc);
insert into schema_compatibility (version, oldest) values (71, 26);

-- +goose Down
delete from schema_compatibility where version = 71;
drop index incidents_application_created;

-- +goose Up

create index audit_log_at on audit_log (at, id);
create index audit_log_actor on audit_log (lower(actor), at, id);
create index audit_log_object on audit_log (lower(object), at, id);
insert into schema_compatibility (version, oldest) values (177, 167);

-- +goose Down
delete from schema_compatibility where version = 177;
drop index audit_log_at, audit_log_actor, audit_log_object;

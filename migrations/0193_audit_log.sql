-- +goose Up

-- Who acted and from where, and the fields before and after. Entries of the release before have the defaults.
alter table audit_log
    add column actor_kind text not null default '',
    add column actor_id   bigint,
    add column through    text not null default '',
    add column token_id   bigint,
    add column address    text not null default '',
    add column request_id text not null default '',
    add column changes    jsonb;

create index audit_log_at on audit_log (at, id);
create index audit_log_actor on audit_log (lower(actor), at, id);
create index audit_log_object on audit_log (lower(object), at, id);
insert into schema_compatibility (version, oldest) values (193, 188);

-- +goose Down
delete from schema_compatibility where version = 193;
drop index audit_log_at, audit_log_actor, audit_log_object;
alter table audit_log drop column actor_kind, drop column actor_id, drop column through, drop column token_id, drop column address,
    drop column request_id, drop column changes;

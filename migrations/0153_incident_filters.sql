-- +goose NO TRANSACTION
-- +goose Up

-- The lists of the incidents of an integration, and of those of a severity, newest first. Indexes that an interrupted run left invalid are
-- made again.
drop index concurrently if exists incidents_integration_created;
create index concurrently incidents_integration_created on incidents (integration_id, created_at desc, id desc) where integration_id is not null;
drop index concurrently if exists incident_contexts_severity;
create index concurrently incident_contexts_severity on incident_contexts (severity, incident_id) where severity is not null;
insert into schema_compatibility (version, oldest) values (153, 148) on conflict do nothing;

-- +goose Down
delete from schema_compatibility where version = 153;
drop index concurrently if exists incidents_integration_created;
drop index concurrently if exists incident_contexts_severity;

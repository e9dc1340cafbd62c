-- +goose Up

-- Incidents that wait because an operator paused their plan or application ("p" of escalation.Progress). They are found by this index when it
-- is resumed; until then they are not due.
create index incidents_paused on incidents (plan_id, application_id, due_at) where active and progress ->> 'p' = 'true';
insert into schema_compatibility (version, oldest) values (28, 26);

-- +goose Down
delete from schema_compatibility where version = 28;
drop index incidents_paused;

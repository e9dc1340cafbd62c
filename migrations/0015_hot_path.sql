-- Checks of references that cost the engine more than a tenth of the database's work, and could never fail.
--
-- Incidents are never deleted, and a message is made in the transaction that holds its incident, or that makes its request;
-- a context in the statement that makes its incident. Applications cannot be deleted while incidents or requests name them
-- (that is still checked), and every message belongs to one or the other. Modes are a closed list.

-- +goose Up
alter table messages
    drop constraint messages_incident_id_fkey,
    drop constraint messages_request_id_fkey,
    drop constraint messages_application_id_fkey,
    drop constraint messages_mode_fkey,
    add constraint messages_mode check (mode in ('email', 'sms', 'call', 'slack', 'push', 'webhook', 'drop'));
alter table incident_contexts drop constraint incident_contexts_incident_id_fkey;

-- +goose Down
alter table incident_contexts
    add constraint incident_contexts_incident_id_fkey foreign key (incident_id) references incidents (id) on delete cascade;
alter table messages
    drop constraint messages_mode,
    add constraint messages_incident_id_fkey foreign key (incident_id) references incidents (id),
    add constraint messages_request_id_fkey foreign key (request_id) references notification_requests (id),
    add constraint messages_application_id_fkey foreign key (application_id) references applications (id),
    add constraint messages_mode_fkey foreign key (mode) references modes (name);

-- +goose Up

-- Incidents that page nobody for a reason besides an acknowledgement. Null columns take no space in the rows of other incidents, and no
-- index has them, so that setting them updates only the row.
alter table incidents
    add column snoozed_until timestamptz,
    add column silenced_until timestamptz,
    add column merged_into bigint,
    add column closed_at timestamptz;
comment on column incidents.snoozed_until is 'when escalation starts again; null = not snoozed';
comment on column incidents.silenced_until is 'when the silence that matches the incident ends; null = no silence matches';
comment on column incidents.merged_into is 'the incident that this one was merged into; null = not merged';
comment on column incidents.closed_at is 'when the incident was closed without a resolve, because there was no news; null = not closed';
comment on column incidents.exhausted_at is 'when the plan was exhausted; null = the state is not exhausted, or was reached in another way. Pages that were taken are still sent';
comment on column incidents.plan_key is 'which incidents share a dedup_key: lower(name) of the plan, or chr(31) || integration_id. A closed incident has chr(30) || id appended, so its dedup_key is free';

alter table incident_timers
    drop constraint incident_timers_reason_check,
    add constraint incident_timers_reason_check check (reason in ('late firing', 'new alert', 'snooze', 'silence', 'acknowledgement'));

insert into schema_compatibility (version, oldest) values (111, 110);

-- +goose Down
delete from schema_compatibility where version = 111;
delete from incident_timers where reason not in ('late firing', 'new alert');
alter table incident_timers
    drop constraint incident_timers_reason_check,
    add constraint incident_timers_reason_check check (reason in ('late firing', 'new alert'));
comment on column incidents.plan_key is 'which incidents share a dedup_key: lower(name) of the plan, or chr(31) || integration_id';
alter table incidents drop column closed_at, drop column merged_into, drop column silenced_until, drop column snoozed_until;

-- +goose Up

-- The alerts of each incident that a webhook opened, as its deliveries described them. Instants without further words are of the
-- sender's clock and are only compared with each other.
create table incident_alerts (
    incident_id bigint not null,
    fingerprint text not null,           -- the sender's name of the alert
    status      text not null check (status in ('firing', 'resolved')),
    starts_at   timestamptz,             -- null = the sender names none
    ends_at     timestamptz,
    changed_at  timestamptz not null default clock_timestamp(), -- our clock: when status or starts_at last changed
    labels      json,
    annotations json,
    primary key (incident_id, fingerprint)
);

-- The incident of each group that a delivery resolved last: a late firing delivery is held on it.
create table resolved_groups (
    application_id bigint not null,
    plan_key       text not null,
    dedup_key      text not null,
    incident_id    bigint not null,
    resolved_at    timestamptz not null default clock_timestamp(),
    primary key (application_id, plan_key, dedup_key)
);
create index resolved_groups_at on resolved_groups (resolved_at);

-- Incidents whose escalation starts again at due_at unless something happens before.
create table incident_timers (
    incident_id  bigint primary key,
    bucket       smallint not null generated always as ((incident_id & 255)::smallint) stored,
    due_at       timestamptz not null,
    reason       text not null check (reason in ('late firing', 'new alert')),
    fingerprints text[] not null default '{}'
);
create index incident_timers_due on incident_timers (bucket, due_at);

-- Restarts of the escalation of exhausted incidents. Rows older than a day have no effect.
create table incident_restarts (
    incident_id bigint not null,
    at          timestamptz not null default clock_timestamp(),
    primary key (incident_id, at)
);
create index incident_restarts_at on incident_restarts (at);

alter table incidents add column exhausted_at timestamptz;
comment on column incidents.exhausted_at is 'when the plan was exhausted; null = it is not, or was before this column existed';
alter table plans add column repage_after int not null default 3600 check (repage_after >= 0);
comment on column plans.repage_after is 'seconds after which a repeated alert starts an exhausted plan again; 0 = never';
alter table applications
    add column default_plan text,
    add column late_within int not null default 120 check (late_within >= 0),
    add column late_hold int not null default 360 check (late_hold >= 0);
comment on column applications.default_plan is 'name of the plan for alerts without a usable plan; null = none';
comment on column applications.late_within is 'seconds after a resolve in which a firing delivery of the same alerts is late; 0 = none is';
comment on column applications.late_hold is 'seconds for which a late firing delivery waits for its resolve; 0 = it never waits';

insert into schema_compatibility (version, oldest) values (40, 26);

-- +goose Down
delete from schema_compatibility where version = 40;
alter table applications drop column default_plan, drop column late_within, drop column late_hold;
alter table plans drop column repage_after;
alter table incidents drop column exhausted_at;
drop table incident_restarts, incident_timers, resolved_groups, incident_alerts;

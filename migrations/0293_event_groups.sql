-- +goose Up
-- Groups of events of a rule that take further events: those that come before takes_until are alerts of the incident. Rows
-- are deleted when they take none.
create table event_groups (
    integration_id bigint not null,
    key            text not null,                   -- of the rule and the values of its labels
    incident_id    bigint,                          -- null = none was opened yet
    members        int not null default 0,
    takes_until    timestamptz not null default clock_timestamp(),
    primary key (integration_id, key)
);
create index event_groups_until on event_groups (takes_until);

-- The events of an integration that are alerts of a common incident. A key that fires again in a later group moves there.
create table grouped_events (
    integration_id bigint not null,
    dedup_key      text not null,
    incident_id    bigint not null references incidents (id) on delete cascade,
    facts          jsonb,                           -- of its last delivery; null = the next one is news
    acknowledged   boolean not null default false,  -- at its source
    primary key (integration_id, dedup_key)
);
create index grouped_events_incident on grouped_events (incident_id);
insert into schema_compatibility (version, oldest) values (293, 193);

-- +goose Down
delete from schema_compatibility where version = 293;
drop table grouped_events;
drop table event_groups;

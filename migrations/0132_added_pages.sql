-- +goose Up

-- Pages that people ask for in addition to the plan: to further responders, or to a new owner. The owner of the bucket makes the messages.
create table added_pages (
    id          bigint primary key generated always as identity,
    incident_id bigint not null references incidents (id) on delete cascade,
    bucket      smallint not null generated always as ((incident_id & 255)::smallint) stored,
    number      smallint not null,         -- of the requests of the incident, from 1
    kind        text not null,             -- responders, owner
    targets     jsonb not null,            -- a list of {"Role", "Name", "TargetID"}
    priority    text not null,
    template    text,                      -- null = that of the incident's step
    actor       text not null,
    stopped     boolean not null,          -- the escalation had been stopped: an acknowledgement does not stop the page
    asked_at    timestamptz not null default clock_timestamp(),
    made_at     timestamptz,               -- null = the messages do not exist yet
    unique (incident_id, number)
);
create index added_pages_waiting on added_pages (bucket, id) where made_at is null;

insert into schema_compatibility (version, oldest) values (132, 110);

-- +goose Down
delete from schema_compatibility where version = 132;
drop table added_pages;

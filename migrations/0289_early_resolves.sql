-- +goose Up
-- Resolves that found no open incident, for two minutes: the firing delivery of the same occurrence may follow them.
create table early_resolves (
    application_id bigint not null,
    plan_key       text not null,
    dedup_key      text not null,
    fingerprints   text[] not null,
    starts_ats     timestamptz[] not null,          -- of the alerts; the epoch = the sender names none
    repeated       boolean not null,                -- the source resolved this key twice in two minutes
    incident_id    bigint,                          -- holds the firing delivery; null = none came
    resolved_at    timestamptz not null default clock_timestamp(),
    primary key (application_id, plan_key, dedup_key)
);
create index early_resolves_at on early_resolves (resolved_at);
insert into schema_compatibility (version, oldest) values (289, 193);

-- +goose Down
delete from schema_compatibility where version = 289;
drop table early_resolves;

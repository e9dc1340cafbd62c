-- Pages held for a digest, and counts of recent messages of people and applications.

-- +goose Up

alter table messages
    add column held_at    timestamptz, -- when it was held for a digest: it counts as sent for its step from then on
    add column batch      text,        -- the digest that it is part of, or is: 32 hexadecimal digits
    add column batch_size int;         -- of a digest: how many pages it stands for
create index messages_held on messages (plan_id, application_id, priority, user_id, id)
    where state = 'aggregated' and batch is null;
create index messages_batch on messages (batch) where batch is not null;
create index messages_digests on messages (bucket)
    where batch is not null and incident_id is null and state in ('pending', 'taken');
create unique index messages_once_digest on messages (batch, recipient, purpose) where batch is not null and incident_id is null;

alter table message_history add column batch text;
create index message_history_batch on message_history (batch) where batch is not null;

-- State of the pages of one plan, application, priority and person (escalation.Flood). `release_at` is when held pages are
-- sent; it is set while pages are held. The owner of `bucket` sends them.
create table aggregations (
    plan_id        bigint not null,
    application_id bigint not null,
    priority       text not null,
    user_id        bigint not null,
    bucket         smallint not null check (bucket between 0 and 255),
    flood          jsonb not null default '{}',
    release_at     timestamptz,
    touched_at     timestamptz not null default clock_timestamp(),
    primary key (plan_id, application_id, priority, user_id)
) with (fillfactor = 50);
create index aggregations_release on aggregations (bucket, release_at) where release_at is not null;
create index aggregations_touched on aggregations (touched_at);

-- A digest and its incidents: an answer to the digest answers all of them.
create table batches (
    id             text primary key,
    plan_id        bigint not null,
    application_id bigint not null,
    user_id        bigint not null,
    pages          int not null,
    created_at     timestamptz not null default clock_timestamp()
);
create index batches_created on batches (created_at);

create table batch_incidents (
    batch       text not null references batches (id) on delete cascade,
    incident_id bigint not null,
    primary key (batch, incident_id)
);
create index batch_incidents_incident on batch_incidents (incident_id);

-- Sliding counts: 'mode:USER/MODE' of a person's reprioritisation (messages.Window), 'quota:APPLICATION' of an application's
-- quota (messages.Usage). Rows are locked in the order of their keys.
create table sliding_counts (
    key        text primary key,
    state      jsonb not null default '{}',
    touched_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
create index sliding_counts_touched on sliding_counts (touched_at);


-- +goose Down
drop table sliding_counts, batch_incidents, batches, aggregations;
drop index message_history_batch;
alter table message_history drop column batch;
drop index messages_held, messages_batch, messages_digests, messages_once_digest;
update messages set state = 'dropped' where state = 'aggregated';
alter table messages drop column held_at, drop column batch, drop column batch_size;

-- The installation, the processes, and the owner of each bucket.

-- +goose Up

-- One row per installation. `secret` is the root of every derived key (encryption of stored secrets, signed links,
-- gossip); it is wrapped when the operator configures a key of their own. It is created by `iris migrate`.
create table installation (
    only_row   boolean primary key default true check (only_row),
    name       text not null,
    secret     bytea not null,
    wrapped    boolean not null default false,
    data_shape int not null default 1,
    created_at timestamptz not null default clock_timestamp()
);

-- Which programs can run on this schema. A program can run on a newer schema when the number of its own newest
-- migration is at least `oldest` of every newer migration.
create table schema_compatibility (
    version bigint primary key,
    oldest  bigint not null check (oldest <= version)
);
comment on table schema_compatibility is 'one row for each migration from 27 on, inserted by that migration';
comment on column schema_compatibility.oldest is
    'the newest migration of the oldest release that can run on this schema';

-- Processors that live, or lived until recently.
create table members (
    process_id         text primary key,
    host               text not null,
    gossip_addr        text not null default '',
    version            text not null,
    data_shape         int not null, -- highest shape of data it reads
    started_at         timestamptz not null default clock_timestamp(),
    heartbeat_at       timestamptz not null default clock_timestamp(),
    draining           boolean not null default false,
    modes              text[],
    -- The calls of a process that has ended are over. They are repeated without waiting for the end of their claims.
    ended_at           timestamptz,
    -- how far its clock is ahead of the clock of the database; negative = behind, null = it does not say
    clock_skew_seconds double precision
) with (fillfactor = 50, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);
comment on column members.modes is
    'modes that the processor has a vendor for; null = it is of a release that does not say';
comment on column members.ended_at is
    'when another member found out that the process has ended, by its closed gossip port; a later heartbeat '
    'withdraws it';

-- When a mode was last served by a processor whose row is gone. With the rows of members it tells how long no live
-- processor has served a mode. A trigger keeps it, because every release deletes rows of members.
create table served_modes (
    mode      text primary key,
    served_at timestamptz not null  -- the last heartbeat of the processor
);

-- +goose StatementBegin
create function note_served_modes() returns trigger
    language plpgsql as $$
begin
    insert into served_modes as s (mode, served_at)
    select m.mode, max(g.heartbeat_at)
    from gone g
    cross join unnest(g.modes) as m(mode)
    group by m.mode
    order by m.mode
    on conflict (mode) do update set served_at = greatest(s.served_at, excluded.served_at);
    return null;
end
$$;
-- +goose StatementEnd
create trigger members_gone after delete on members referencing old table as gone
    for each statement execute function note_served_modes();

-- The fence: changes only when a bucket is acquired or released; acquiring raises the epoch.
create table bucket_leases (
    bucket      smallint primary key check (bucket between 0 and 255),
    owner       text, -- members.process_id; null = free
    epoch       bigint not null default 0,
    acquired_at timestamptz,
    last_owner  text  -- who released it last, for the next row of handovers
) with (fillfactor = 50);
insert into bucket_leases (bucket) select generate_series(0, 255);

-- Which process took buckets from which, for operators.
create table handovers (
    id         bigint primary key generated always as identity,
    at         timestamptz not null default clock_timestamp(),
    owner      text not null,    -- members.process_id
    host       text not null,    -- of the owner
    previous   text not null,    -- members.process_id; '' = the buckets had no owner before
    taken_over boolean not null, -- the previous owner had stopped without a release
    buckets    smallint[] not null
);
create index handovers_owner on handovers (owner, id);
create index handovers_at on handovers (at);

-- Result of the process that checks the whole cluster, for the other processes.
create table watch_results (
    name       text primary key,
    claimed_at timestamptz not null,
    looked_at  timestamptz,
    result     jsonb
);
comment on column watch_results.claimed_at is 'when a process last began to look; the others read its result';

insert into schema_compatibility (version, oldest) values (276, 193);

-- +goose Down
drop table watch_results, handovers, bucket_leases, served_modes, members, schema_compatibility, installation;
drop function note_served_modes;

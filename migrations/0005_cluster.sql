-- Live processes, and the owner of each bucket.

-- +goose Up

create table members (
    process_id   text primary key,
    host         text not null,
    gossip_addr  text not null default '',
    version      text not null,
    data_shape   int not null,          -- highest shape of data it reads
    started_at   timestamptz not null default clock_timestamp(),
    heartbeat_at timestamptz not null default clock_timestamp(),
    draining     boolean not null default false
) with (fillfactor = 50, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);

-- The fence: changes only when a bucket is acquired or released; acquiring raises the epoch.
create table bucket_leases (
    bucket      smallint primary key check (bucket between 0 and 255),
    owner       text,                   -- members.process_id; null = free
    epoch       bigint not null default 0,
    acquired_at timestamptz
) with (fillfactor = 50);
insert into bucket_leases (bucket) select generate_series(0, 255);

-- +goose Down
drop table bucket_leases, members;

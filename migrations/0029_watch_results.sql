-- +goose Up

-- Result of the process that checks the whole cluster, for the other processes.
create table watch_results (
    name text primary key,
    claimed_at timestamptz not null,
    looked_at timestamptz,
    result jsonb
);
comment on column watch_results.claimed_at is 'when a process last began to look; the others read its result';
insert into schema_compatibility (version, oldest) values (29, 26);

-- +goose Down
delete from schema_compatibility where version = 29;
drop table watch_results;

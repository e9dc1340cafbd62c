-- Figures about incidents and messages, computed once an hour for all processes.

-- +goose Up

-- One row per hour for which somebody requested statistics. `body` is applications.Statistics; a newer release that does not know it computes anew.
create table statistics_snapshots (
    hour        timestamptz primary key,
    computed_at timestamptz not null default clock_timestamp(),
    body        jsonb not null
);

-- +goose Down
drop table statistics_snapshots;

-- +goose Up

-- Which programs can run on this schema. A program carries migrations up to a number of its own; it can run on a newer schema
-- when that number is at least "oldest" of every newer migration.
create table schema_compatibility (
    version bigint primary key,
    oldest bigint not null check (oldest <= version)
);
comment on table schema_compatibility is 'one row for each migration from 27 on, inserted by that migration';
comment on column schema_compatibility.oldest is 'the newest migration of the oldest release that can run on this schema';
insert into schema_compatibility (version, oldest) values (27, 26);

-- +goose Down
drop table schema_compatibility;

-- +goose Up

-- Quiet-time limits of people: at most so many calls and texts a day, and priorities that are sent on working days only.
create table user_quiet_limits (
    user_id      bigint primary key references users (id) on delete cascade,
    per_day      int check (per_day between 0 and 1000), -- null = the limit of the installation
    working_days text[] not null default '{}'            -- priorities
);

alter table messages add column quiet_until timestamptz;
comment on column messages.quiet_until is 'of a page that a quiet-time limit holds: when it is sent';

insert into schema_compatibility (version, oldest) values (128, 110);

-- +goose Down
delete from schema_compatibility where version = 128;
alter table messages drop column quiet_until;
drop table user_quiet_limits;

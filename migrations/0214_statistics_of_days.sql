-- +goose Up

-- The counts of a day in one value: a period of 30 days reads 120 values instead of 1,000,000 rows.
create table statistics_days (
    day  timestamptz not null,
    kind text not null,
    body bytea not null,
    primary key (day, kind)
);
alter table statistics_days alter column body set storage external;
comment on table statistics_days is 'the rows of statistics_rows of a day (UTC), packed; without its row, the day is read from statistics_rows';
comment on column statistics_days.body is 'written and read by internal/postgres/statistics';

-- One view of all counts. Each kind of count has the same columns.
create view statistics_rows as
    select 'incidents'::text as kind, at, 0::bigint as user_id, application_id, coalesce(plan_id, 0) as plan_id, ''::text as mode, ''::text as vendor, ''::text as account,
        incidents as first, claimed as second, 0 as third, claim_seconds, resolve_seconds from statistics_incidents
    union all
    select 'messages', at, 0, application_id, 0, mode, '', '', sent, delivered, failed, '{}', '{}' from statistics_messages
    union all
    select 'attempts', at, 0, application_id, 0, mode, vendor, account, attempts, failed, 0, '{}', '{}' from statistics_attempts
    union all
    select 'pages', at, user_id, application_id, coalesce(plan_id, 0), '', '', '', pages, interruptions, 0, '{}', '{}' from statistics_pages;

create function statistics_day(t timestamptz) returns timestamptz language sql immutable parallel safe as $$
    select date_bin('1 day', t - interval '1 microsecond', '2000-01-01 00:00+00')
$$;

-- When counts of a day change, the day is packed again. The trigger also covers the previous release, which has no packed days.
-- +goose StatementBegin
create function unpack_statistics_day() returns trigger language plpgsql as $$
begin
    delete from statistics_days d where d.kind = tg_argv[0] and d.day in (select distinct statistics_day(c.at) from changed c);
    return null;
end
$$;
-- +goose StatementEnd
create trigger statistics_incidents_added after insert on statistics_incidents referencing new table as changed for each statement execute function unpack_statistics_day('incidents');
create trigger statistics_incidents_gone after delete on statistics_incidents referencing old table as changed for each statement execute function unpack_statistics_day('incidents');
create trigger statistics_messages_added after insert on statistics_messages referencing new table as changed for each statement execute function unpack_statistics_day('messages');
create trigger statistics_messages_gone after delete on statistics_messages referencing old table as changed for each statement execute function unpack_statistics_day('messages');
create trigger statistics_attempts_added after insert on statistics_attempts referencing new table as changed for each statement execute function unpack_statistics_day('attempts');
create trigger statistics_attempts_gone after delete on statistics_attempts referencing old table as changed for each statement execute function unpack_statistics_day('attempts');
create trigger statistics_pages_added after insert on statistics_pages referencing new table as changed for each statement execute function unpack_statistics_day('pages');
create trigger statistics_pages_gone after delete on statistics_pages referencing old table as changed for each statement execute function unpack_statistics_day('pages');

-- For lists of the past messages of a person.
create index message_history_user on message_history (user_id, created_at desc, id desc) where user_id is not null;
insert into schema_compatibility (version, oldest) values (214, 193);

-- +goose Down
delete from schema_compatibility where version = 214;
drop index message_history_user;
drop trigger statistics_incidents_added on statistics_incidents;
drop trigger statistics_incidents_gone on statistics_incidents;
drop trigger statistics_messages_added on statistics_messages;
drop trigger statistics_messages_gone on statistics_messages;
drop trigger statistics_attempts_added on statistics_attempts;
drop trigger statistics_attempts_gone on statistics_attempts;
drop trigger statistics_pages_added on statistics_pages;
drop trigger statistics_pages_gone on statistics_pages;
drop function unpack_statistics_day, statistics_day;
drop view statistics_rows;
drop table statistics_days;

-- Counts of incidents, messages, calls and pages.

-- +goose Up

-- One row for each hour for which somebody requested statistics. `body` is applications.Statistics; a release that
-- does not know it computes anew.
create table statistics_snapshots (
    hour        timestamptz primary key,
    computed_at timestamptz not null default clock_timestamp(),
    body        jsonb not null
);

-- Statistics are counted by hour and summed up from these tables. A row has the events after the hour (or day) before
-- `at` up to `at`.
create table statistics_incidents (
    at              timestamptz not null,
    application_id  bigint not null,
    plan_id         bigint,
    incidents       int not null,
    claimed         int not null,
    claim_seconds   float8[] not null,
    resolve_seconds float8[] not null default '{}',
    -- During a rolling upgrade the release before migration 0212 writes rows without the new counts. This column
    -- marks them, so that their hours are counted again. Entries in statistics_changes could not: that release takes
    -- them.
    complete        boolean not null default false
);
comment on table statistics_incidents is
    'incidents by hour of their opening; by day when they are older than seven weeks';
comment on column statistics_incidents.claim_seconds is
    'from opening to acknowledgement, of each claimed incident; empty in days';
comment on column statistics_incidents.resolve_seconds is
    'from opening to the resolve, of each resolved incident; empty in days';
comment on column statistics_incidents.complete is
    'false = counted by a release before migration 0212, without resolve_seconds, attempts and pages; the hour '
    'is then counted again';
create index statistics_incidents_at on statistics_incidents (at);
create index statistics_incidents_part on statistics_incidents (at) where not complete;

create table statistics_messages (
    at             timestamptz not null,
    application_id bigint not null,
    mode           text not null,
    sent           int not null,
    delivered      int not null,
    failed         int not null,
    tried          int not null,
    complete       boolean not null default false
);
comment on table statistics_messages is
    'messages by hour in which they settled; by day when they are older than seven weeks';
comment on column statistics_messages.complete is 'as in statistics_incidents';
create index statistics_messages_at on statistics_messages (at);
create index statistics_messages_part on statistics_messages (at) where not complete;

create table statistics_attempts (
    at             timestamptz not null,
    application_id bigint not null,
    mode           text not null,
    vendor         text not null,
    account        text not null,
    attempts       int not null,
    failed         int not null
);
comment on table statistics_attempts is
    'calls of vendors by hour in which their message settled; by day when they are older than seven weeks';
create index statistics_attempts_at on statistics_attempts (at);

create table statistics_pages (
    at             timestamptz not null,
    user_id        bigint not null,
    application_id bigint not null,
    plan_id        bigint,
    pages          int not null,
    interruptions  int not null
);
comment on table statistics_pages is
    'sent messages of incidents by hour and person; by day when they are older than seven weeks';
comment on column statistics_pages.interruptions is 'pages by another mode than e-mail';
create index statistics_pages_at on statistics_pages (at);

create table statistics_progress (
    only_row   boolean primary key default true check (only_row),
    counted_to timestamptz not null,
    days_to    timestamptz not null
);
comment on table statistics_progress is
    'hours up to counted_to are counted, those up to days_to by day; without its row all hours are counted anew';

create table statistics_changes (
    due_at timestamptz not null default clock_timestamp(),
    at     timestamptz not null
);
comment on table statistics_changes is
    'hours to be counted again, because one of their incidents or messages has changed';

create function statistics_hour(t timestamptz) returns timestamptz language sql immutable parallel safe as $$
    select date_bin('1 hour', t - interval '1 microsecond', '2000-01-01 00:00+00') + interval '1 hour'
$$;

-- +goose StatementBegin
create function recount_incident() returns trigger language plpgsql as $$
begin
    insert into statistics_changes (at) values (statistics_hour(old.created_at));
    return null;
end
$$;
-- +goose StatementEnd
create trigger incidents_recounted after update of owner_id, updated_at, resolved on incidents
    for each row when ((old.owner_id is not null or new.owner_id is not null
            or old.resolved is distinct from new.resolved)
        and statistics_hour(old.created_at) <= clock_timestamp()
        and (old.owner_id is distinct from new.owner_id or old.updated_at <> new.updated_at
            or old.resolved is distinct from new.resolved))
    execute function recount_incident();

-- The counts of a day in one value: a period of 30 days reads 120 values instead of 1,000,000 rows.
create table statistics_days (
    day  timestamptz not null,
    kind text not null,
    body bytea not null,
    primary key (day, kind)
);
comment on table statistics_days is
    'the rows of statistics_rows of a day (UTC), packed; without its row, the day is read from statistics_rows';
comment on column statistics_days.body is 'written and read by internal/system/pg';
alter table statistics_days alter column body set storage external;

create function statistics_day(t timestamptz) returns timestamptz language sql immutable parallel safe as $$
    select date_bin('1 day', t - interval '1 microsecond', '2000-01-01 00:00+00')
$$;

-- When counts of a day change, the day is packed again. The trigger also covers the previous release, which has no
-- packed days.
-- +goose StatementBegin
create function unpack_statistics_day() returns trigger language plpgsql as $$
begin
    delete from statistics_days d where d.kind = tg_argv[0]
        and d.day in (select distinct statistics_day(c.at) from changed c);
    return null;
end
$$;
-- +goose StatementEnd
create trigger statistics_incidents_added after insert on statistics_incidents referencing new table as changed
    for each statement execute function unpack_statistics_day('incidents');
create trigger statistics_incidents_gone after delete on statistics_incidents referencing old table as changed
    for each statement execute function unpack_statistics_day('incidents');
create trigger statistics_messages_added after insert on statistics_messages referencing new table as changed
    for each statement execute function unpack_statistics_day('messages');
create trigger statistics_messages_gone after delete on statistics_messages referencing old table as changed
    for each statement execute function unpack_statistics_day('messages');
create trigger statistics_attempts_added after insert on statistics_attempts referencing new table as changed
    for each statement execute function unpack_statistics_day('attempts');
create trigger statistics_attempts_gone after delete on statistics_attempts referencing old table as changed
    for each statement execute function unpack_statistics_day('attempts');
create trigger statistics_pages_added after insert on statistics_pages referencing new table as changed
    for each statement execute function unpack_statistics_day('pages');
create trigger statistics_pages_gone after delete on statistics_pages referencing old table as changed
    for each statement execute function unpack_statistics_day('pages');

-- One view of all counts. Each kind of count has the same columns.
create view statistics_rows as
    select 'incidents'::text as kind, at, 0::bigint as user_id, application_id, coalesce(plan_id, 0) as plan_id,
        ''::text as mode, ''::text as vendor, ''::text as account,
        incidents as first, claimed as second, 0 as third, claim_seconds, resolve_seconds from statistics_incidents
    union all
    select 'messages', at, 0, application_id, 0, mode, '', '', sent, delivered, failed, '{}', '{}'
        from statistics_messages
    union all
    select 'attempts', at, 0, application_id, 0, mode, vendor, account, attempts, failed, 0, '{}', '{}'
        from statistics_attempts
    union all
    select 'pages', at, user_id, application_id, coalesce(plan_id, 0), '', '', '', pages, interruptions, 0, '{}', '{}'
        from statistics_pages;

-- The counts of a span, in parts of an hour or a day. The job stores them; the current hour is read with them.
create function counted_incidents(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, plan_id bigint, incidents int, claimed int,
    claim_seconds float8[], resolve_seconds float8[])
language sql stable as $$
    select x.at, x.application_id, x.plan_id, count(*)::int, count(x.owner_id)::int,
        coalesce(array_agg(x.claim) filter (where x.claim is not null), '{}'),
        coalesce(array_agg(x.resolve) filter (where x.resolve is not null), '{}')
    from (
        select i.application_id, i.plan_id, i.owner_id,
            date_bin(part * interval '1 second', i.created_at - interval '1 microsecond', '2000-01-01 00:00+00')
                + part * interval '1 second' as at,
            case when i.owner_id is not null and part = 3600 then greatest(0, extract(epoch from coalesce(
                (select min(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged'),
                    i.updated_at) - i.created_at))::float8 end as claim,
            case when i.resolved and part = 3600 then greatest(0, extract(epoch from coalesce(
                (select max(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'resolved'),
                    i.updated_at) - i.created_at))::float8 end as resolve
        from incidents i
        where i.created_at > after and i.created_at <= until
    ) x
    group by 1, 2, 3
$$;

create function counted_messages(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, mode text, sent int, delivered int, failed int, tried int)
language sql stable as $$
    select date_bin(part * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00')
            + part * interval '1 second',
        x.application_id, x.mode,
        (count(*) filter (where x.state in ('sent', 'delivered') or x.mode = 'drop' and x.state = 'dropped'))::int,
        (count(*) filter (where x.state = 'delivered'))::int,
        (count(*) filter (where x.state = 'failed' and x.attempt > 0))::int,
        (count(*) filter (where x.attempt > 0))::int
    from (
        select m.application_id, m.mode, m.state, m.attempt, m.settled_at as at from messages m
        where m.settled_at > after and m.settled_at <= until and m.state not in ('pending', 'taken', 'sending')
        union all
        select h.application_id, h.mode, h.state, h.attempt, coalesce(h.settled_at, h.created_at) from message_history h
        where coalesce(h.settled_at, h.created_at) > after and coalesce(h.settled_at, h.created_at) <= until
    ) x
    group by 1, 2, 3
$$;

create function counted_attempts(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, mode text, vendor text, account text, attempts int, failed int)
language sql stable as $$
    select date_bin(part * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00')
            + part * interval '1 second',
        x.application_id, x.mode, x.vendor, x.account, count(*)::int, (count(*) filter (where x.outcome <> 'sent'))::int
    from (
        select m.application_id, a.mode, a.vendor, a.account, a.outcome, m.settled_at as at
        from messages m join attempts a on a.message_id = m.id
        where m.settled_at > after and m.settled_at <= until and a.outcome <> 'cancelled'
        union all
        select h.application_id, a.value ->> 'mode', coalesce(a.value ->> 'vendor', ''),
            coalesce(a.value ->> 'account', ''), a.value ->> 'outcome', coalesce(h.settled_at, h.created_at)
        from message_history h cross join lateral jsonb_array_elements(h.attempts) a
        where coalesce(h.settled_at, h.created_at) > after and coalesce(h.settled_at, h.created_at) <= until
            and a.value ->> 'outcome' <> 'cancelled'
    ) x
    group by 1, 2, 3, 4, 5
$$;

create function counted_pages(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, user_id bigint, application_id bigint, plan_id bigint, pages int, interruptions int)
language sql stable as $$
    select date_bin(part * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00')
            + part * interval '1 second',
        x.user_id, x.application_id, x.plan_id, count(*)::int, (count(*) filter (where x.mode <> 'email'))::int
    from (
        select m.user_id, m.application_id, m.plan_id, m.mode, m.settled_at as at from messages m
        where m.settled_at > after and m.settled_at <= until and m.user_id is not null and m.incident_id is not null
            and m.state in ('sent', 'delivered')
        union all
        select h.user_id, h.application_id, h.plan_id, h.mode, coalesce(h.settled_at, h.created_at)
            from message_history h
        where coalesce(h.settled_at, h.created_at) > after and coalesce(h.settled_at, h.created_at) <= until
            and h.user_id is not null and h.incident_id is not null and h.state in ('sent', 'delivered')
    ) x
    group by 1, 2, 3, 4
$$;

insert into schema_compatibility (version, oldest) values (285, 193);

-- +goose Down
delete from schema_compatibility where version = 285;
drop trigger incidents_recounted on incidents;
drop view statistics_rows;
drop table statistics_days, statistics_changes, statistics_progress, statistics_pages, statistics_attempts,
    statistics_messages, statistics_incidents, statistics_snapshots;
drop function counted_pages, counted_attempts, counted_messages, counted_incidents, unpack_statistics_day,
    statistics_day, recount_incident, statistics_hour;

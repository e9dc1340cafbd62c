-- +goose Up

-- Further counts by hour: how long incidents lasted, the calls of vendors, and the pages of each person.
alter table statistics_incidents add column resolve_seconds float8[] not null default '{}';
comment on column statistics_incidents.resolve_seconds is 'from opening to the resolve, of each resolved incident; empty in days';

-- During a rolling upgrade, the previous release writes rows without the new counts. This column marks them, so that the hours are counted again.
-- The queue statistics_changes cannot mark them, because the previous release takes its entries.
alter table statistics_incidents add column complete boolean not null default false;
alter table statistics_messages add column complete boolean not null default false;
comment on column statistics_incidents.complete is 'false = counted by a release before migration 0212, without resolve_seconds, attempts and pages; the hour is then counted again';
comment on column statistics_messages.complete is 'as in statistics_incidents';
create index statistics_incidents_part on statistics_incidents (at) where not complete;
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
comment on table statistics_attempts is 'calls of vendors by hour in which their message settled; by day when they are older than seven weeks';
create index statistics_attempts_at on statistics_attempts (at);

create table statistics_pages (
    at             timestamptz not null,
    user_id        bigint not null,
    application_id bigint not null,
    plan_id        bigint,
    pages          int not null,
    interruptions  int not null
);
comment on table statistics_pages is 'sent messages of incidents by hour and person; by day when they are older than seven weeks';
comment on column statistics_pages.interruptions is 'pages by another mode than e-mail';
create index statistics_pages_at on statistics_pages (at);

-- The counts of a span, in parts of an hour or a day. The job stores them; the current hour is read with them.
-- +goose StatementBegin
create function counted_incidents(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, plan_id bigint, incidents int, claimed int, claim_seconds float8[], resolve_seconds float8[])
language sql stable as $$
    select x.at, x.application_id, x.plan_id, count(*)::int, count(x.owner_id)::int,
        coalesce(array_agg(x.claim) filter (where x.claim is not null), '{}'), coalesce(array_agg(x.resolve) filter (where x.resolve is not null), '{}')
    from (
        select i.application_id, i.plan_id, i.owner_id,
            date_bin(part * interval '1 second', i.created_at - interval '1 microsecond', '2000-01-01 00:00+00') + part * interval '1 second' as at,
            case when i.owner_id is not null and part = 3600 then greatest(0, extract(epoch from coalesce(
                (select min(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'acknowledged'), i.updated_at) - i.created_at))::float8 end as claim,
            case when i.resolved and part = 3600 then greatest(0, extract(epoch from coalesce(
                (select max(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'resolved'), i.updated_at) - i.created_at))::float8 end as resolve
        from incidents i
        where i.created_at > after and i.created_at <= until
    ) x
    group by 1, 2, 3
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function counted_messages(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, mode text, sent int, delivered int, failed int, tried int)
language sql stable as $$
    select date_bin(part * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00') + part * interval '1 second',
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
-- +goose StatementEnd

-- +goose StatementBegin
create function counted_attempts(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, mode text, vendor text, account text, attempts int, failed int)
language sql stable as $$
    select date_bin(part * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00') + part * interval '1 second',
        x.application_id, x.mode, x.vendor, x.account, count(*)::int, (count(*) filter (where x.outcome <> 'sent'))::int
    from (
        select m.application_id, a.mode, a.vendor, a.account, a.outcome, m.settled_at as at
        from messages m join attempts a on a.message_id = m.id
        where m.settled_at > after and m.settled_at <= until and a.outcome <> 'cancelled'
        union all
        select h.application_id, a.value ->> 'mode', coalesce(a.value ->> 'vendor', ''), coalesce(a.value ->> 'account', ''), a.value ->> 'outcome', coalesce(h.settled_at, h.created_at)
        from message_history h cross join lateral jsonb_array_elements(h.attempts) a
        where coalesce(h.settled_at, h.created_at) > after and coalesce(h.settled_at, h.created_at) <= until and a.value ->> 'outcome' <> 'cancelled'
    ) x
    group by 1, 2, 3, 4, 5
$$;
-- +goose StatementEnd

-- +goose StatementBegin
create function counted_pages(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, user_id bigint, application_id bigint, plan_id bigint, pages int, interruptions int)
language sql stable as $$
    select date_bin(part * interval '1 second', x.at - interval '1 microsecond', '2000-01-01 00:00+00') + part * interval '1 second',
        x.user_id, x.application_id, x.plan_id, count(*)::int, (count(*) filter (where x.mode <> 'email'))::int
    from (
        select m.user_id, m.application_id, m.plan_id, m.mode, m.settled_at as at from messages m
        where m.settled_at > after and m.settled_at <= until and m.user_id is not null and m.incident_id is not null and m.state in ('sent', 'delivered')
        union all
        select h.user_id, h.application_id, h.plan_id, h.mode, coalesce(h.settled_at, h.created_at) from message_history h
        where coalesce(h.settled_at, h.created_at) > after and coalesce(h.settled_at, h.created_at) <= until
            and h.user_id is not null and h.incident_id is not null and h.state in ('sent', 'delivered')
    ) x
    group by 1, 2, 3, 4
$$;
-- +goose StatementEnd

drop trigger incidents_recounted on incidents;
create trigger incidents_recounted after update of owner_id, updated_at, resolved on incidents for each row
    when ((old.owner_id is not null or new.owner_id is not null or old.resolved is distinct from new.resolved) and statistics_hour(old.created_at) <= clock_timestamp()
        and (old.owner_id is distinct from new.owner_id or old.updated_at <> new.updated_at or old.resolved is distinct from new.resolved))
    execute function recount_incident();

insert into schema_compatibility (version, oldest) values (212, 193);

-- +goose Down
delete from schema_compatibility where version = 212;
drop trigger incidents_recounted on incidents;
create trigger incidents_recounted after update of owner_id, updated_at on incidents for each row
    when ((old.owner_id is not null or new.owner_id is not null) and statistics_hour(old.created_at) <= clock_timestamp()
        and (old.owner_id is distinct from new.owner_id or old.updated_at <> new.updated_at))
    execute function recount_incident();
drop function counted_pages, counted_attempts, counted_messages, counted_incidents;
drop table statistics_pages, statistics_attempts;
alter table statistics_incidents drop column resolve_seconds, drop column complete;
alter table statistics_messages drop column complete;

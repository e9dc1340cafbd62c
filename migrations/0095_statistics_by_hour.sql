-- +goose Up

-- Statistics are counted by hour and summed up from these tables. A row has the events after the hour (or day) before `at` up to `at`.
create table statistics_incidents (
    at             timestamptz not null,
    application_id bigint not null,
    plan_id        bigint,
    incidents      int not null,
    claimed        int not null,
    claim_seconds  float8[] not null
);
comment on table statistics_incidents is 'incidents by hour of their opening; by day when they are older than seven weeks';
comment on column statistics_incidents.claim_seconds is 'from opening to acknowledgement, of each claimed incident; empty in days';
create index statistics_incidents_at on statistics_incidents (at);

create table statistics_messages (
    at             timestamptz not null,
    application_id bigint not null,
    mode           text not null,
    sent           int not null,
    delivered      int not null,
    failed         int not null,
    tried          int not null
);
comment on table statistics_messages is 'messages by hour in which they settled; by day when they are older than seven weeks';
create index statistics_messages_at on statistics_messages (at);

create table statistics_progress (
    only_row   boolean primary key default true check (only_row),
    counted_to timestamptz not null,
    days_to    timestamptz not null
);
comment on table statistics_progress is 'hours up to counted_to are counted, those up to days_to by day; without its row all hours are counted anew';

create table statistics_changes (
    due_at timestamptz not null default clock_timestamp(),
    at     timestamptz not null
);
comment on table statistics_changes is 'hours to be counted again, because one of their incidents or messages has changed';

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
create trigger incidents_recounted after update of owner_id, updated_at on incidents for each row
    when ((old.owner_id is not null or new.owner_id is not null) and statistics_hour(old.created_at) <= clock_timestamp()
        and (old.owner_id is distinct from new.owner_id or old.updated_at <> new.updated_at))
    execute function recount_incident();

create index message_history_settled on message_history
    using brin ((coalesce(settled_at, created_at)) timestamptz_minmax_multi_ops) with (autosummarize = on, pages_per_range = 64);
create index message_history_call_retries on message_history (created_at) where attempt > 1 and attempts @> '[{"mode": "call"}]';
create index attempts_call_retries on attempts (started_at) where mode = 'call' and attempt > 1;
insert into schema_compatibility (version, oldest) values (95, 72);

-- +goose Down
delete from schema_compatibility where version = 95;
drop index attempts_call_retries, message_history_call_retries, message_history_settled;
drop trigger incidents_recounted on incidents;
drop function recount_incident, statistics_hour;
drop table statistics_changes, statistics_progress, statistics_messages, statistics_incidents;

-- +goose Up

-- Which process took buckets from which, for operators. When a process releases a bucket, last_owner keeps its id for the next hand-over.
alter table bucket_leases add column last_owner text;
create table handovers (
    id         bigint primary key generated always as identity,
    at         timestamptz not null default clock_timestamp(),
    owner      text not null,           -- members.process_id
    host       text not null,           -- of the owner
    previous   text not null,           -- members.process_id; '' = the buckets had no owner before
    taken_over boolean not null,        -- the previous owner had stopped without a release
    buckets    smallint[] not null
);
create index handovers_owner on handovers (owner, id);
create index handovers_at on handovers (at);

-- How much of a limit is used: the slots granted in the minute that begins at minute_at, and in the minute before.
alter table limits
    add column interval_us   bigint not null default 0,
    add column minute_at     timestamptz not null default '-infinity',
    add column minute_used   int not null default 0,
    add column minute_before int not null default 0;
comment on column limits.interval_us is 'microseconds between two slots, as the process that used the limit last is configured';

-- The same function as before, which now also counts the granted slots.
-- +goose StatementBegin
create or replace function draw_slots(limit_key text, slot_us bigint, burst int, offsets bigint[], instants timestamptz[], tolerance bigint,
    only_within bigint, lead bigint)
    returns table (before timestamptz, clock timestamptz, next_free timestamptz, granted int[], slots timestamptz[], longest_lead bigint)
    language plpgsql as $$
declare
    us constant interval := interval '1 microsecond';
    free timestamptz;
    old_free timestamptz;
    old_lead bigint;
    old_at timestamptz;
    wanted timestamptz;
    this_minute timestamptz;
begin
    before := clock_timestamp();
    perform set_config('synchronous_commit', 'off', true);
    select l.next_at, l.lead_us, l.lead_at into free, old_lead, old_at from limits l where l.key = limit_key for no key update;
    if not found then
        insert into limits (key) values (limit_key) on conflict (key) do nothing;
        select l.next_at, l.lead_us, l.lead_at into free, old_lead, old_at from limits l where l.key = limit_key for no key update;
    end if;
    clock := clock_timestamp();
    granted := '{}';
    slots := '{}';
    old_free := free;
    longest_lead := old_lead;
    if lead >= old_lead or old_at < clock - interval '10 seconds' then
        longest_lead := lead;
    end if;
    if only_within is null or free <= clock + only_within * us then
        for i in 1 .. coalesce(array_length(offsets, 1), 0) loop
            wanted := coalesce(instants[i], clock + offsets[i] * us);
            if free > wanted + tolerance * us then
                continue;
            end if;
            free := greatest(free, wanted - (burst - 1) * slot_us * us);
            granted := granted || i;
            slots := slots || greatest(free, wanted);
            free := free + slot_us * us;
        end loop;
    end if;
    if free <> old_free or longest_lead <> old_lead then
        this_minute := date_trunc('minute', clock);
        update limits l set next_at = free, lead_us = longest_lead,
            lead_at = case when longest_lead = lead then clock else l.lead_at end,
            interval_us = slot_us, minute_at = this_minute,
            minute_used = cardinality(granted) + case when l.minute_at = this_minute then l.minute_used else 0 end,
            minute_before = case l.minute_at when this_minute then l.minute_before when this_minute - interval '1 minute' then l.minute_used else 0 end
        where l.key = limit_key;
    end if;
    next_free := free;
    return next;
end
$$;
-- +goose StatementEnd
insert into schema_compatibility (version, oldest) values (216, 193);

-- +goose Down
delete from schema_compatibility where version = 216;
-- +goose StatementBegin
create or replace function draw_slots(limit_key text, slot_us bigint, burst int, offsets bigint[], instants timestamptz[], tolerance bigint,
    only_within bigint, lead bigint)
    returns table (before timestamptz, clock timestamptz, next_free timestamptz, granted int[], slots timestamptz[], longest_lead bigint)
    language plpgsql as $$
declare
    us constant interval := interval '1 microsecond';
    free timestamptz;
    old_free timestamptz;
    old_lead bigint;
    old_at timestamptz;
    wanted timestamptz;
begin
    before := clock_timestamp();
    perform set_config('synchronous_commit', 'off', true);
    select l.next_at, l.lead_us, l.lead_at into free, old_lead, old_at from limits l where l.key = limit_key for no key update;
    if not found then
        insert into limits (key) values (limit_key) on conflict (key) do nothing;
        select l.next_at, l.lead_us, l.lead_at into free, old_lead, old_at from limits l where l.key = limit_key for no key update;
    end if;
    clock := clock_timestamp();
    granted := '{}';
    slots := '{}';
    old_free := free;
    longest_lead := old_lead;
    if lead >= old_lead or old_at < clock - interval '10 seconds' then
        longest_lead := lead;
    end if;
    if only_within is null or free <= clock + only_within * us then
        for i in 1 .. coalesce(array_length(offsets, 1), 0) loop
            wanted := coalesce(instants[i], clock + offsets[i] * us);
            if free > wanted + tolerance * us then
                continue;
            end if;
            free := greatest(free, wanted - (burst - 1) * slot_us * us);
            granted := granted || i;
            slots := slots || greatest(free, wanted);
            free := free + slot_us * us;
        end loop;
    end if;
    if free <> old_free or longest_lead <> old_lead then
        update limits l set next_at = free, lead_us = longest_lead,
            lead_at = case when longest_lead = lead then clock else l.lead_at end
        where l.key = limit_key;
    end if;
    next_free := free;
    return next;
end
$$;
-- +goose StatementEnd
alter table limits drop column interval_us, drop column minute_at, drop column minute_used, drop column minute_before;
drop table handovers;
alter table bucket_leases drop column last_owner;

-- +goose Up

-- The row of a limit has the longest recent lead: how far ahead its slowest process must reserve slots. All processes reserve beyond
-- that. Otherwise a slow process gets only slots that are too late for it.
alter table limits
    add column lead_us bigint not null default 0,
    add column lead_at timestamptz not null default '-infinity';
comment on column limits.lead_us is 'longest lead of the processes that reserved in the last 10 s';

-- As reserve_slots, which the release before uses on the same rows. instants are slots that are wanted exactly then, instead of
-- an offset from the clock.
-- +goose StatementBegin
create function draw_slots(limit_key text, slot_us bigint, burst int, offsets bigint[], instants timestamptz[], tolerance bigint,
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
insert into schema_compatibility (version, oldest) values (51, 26);

-- +goose Down
delete from schema_compatibility where version = 51;
drop function draw_slots;
alter table limits drop column lead_us, drop column lead_at;

-- +goose Up
-- An incident counts as acknowledged from its first acknowledgement on, also after it was escalated again. A person or
-- the source has acknowledged it.
-- +goose StatementBegin
create or replace function counted_incidents(after timestamptz, until timestamptz, part int)
returns table (at timestamptz, application_id bigint, plan_id bigint, incidents int, claimed int,
    claim_seconds float8[], resolve_seconds float8[])
language sql stable as $$
    select x.at, x.application_id, x.plan_id, count(*)::int, (count(*) filter (where x.acknowledged))::int,
        coalesce(array_agg(x.claim) filter (where x.claim is not null), '{}'),
        coalesce(array_agg(x.resolve) filter (where x.resolve is not null), '{}')
    from (
        select i.application_id, i.plan_id, i.owner_id is not null or i.source_acknowledged is not null or t.first is not null as acknowledged,
            date_bin(part * interval '1 second', i.created_at - interval '1 microsecond', '2000-01-01 00:00+00')
                + part * interval '1 second' as at,
            case when (i.owner_id is not null or i.source_acknowledged is not null or t.first is not null) and part = 3600 then
                greatest(0, extract(epoch from coalesce(t.first, i.updated_at) - i.created_at))::float8 end as claim,
            case when i.resolved and part = 3600 then greatest(0, extract(epoch from coalesce(
                (select max(t.at) from timeline_entries t where t.incident_id = i.id and t.kind = 'resolved'),
                    i.updated_at) - i.created_at))::float8 end as resolve
        from incidents i
        left join lateral (
            select min(e.at) as first from timeline_entries e
            where (i.owner_id is null or part = 3600) and e.incident_id = i.id and e.kind = 'acknowledged'
        ) t on true
        where i.created_at > after and i.created_at <= until
    ) x
    group by 1, 2, 3
$$;
-- +goose StatementEnd
create or replace trigger incidents_recounted after update of owner_id, source_acknowledged, updated_at, resolved on incidents
    for each row when ((old.owner_id is not null or new.owner_id is not null
            or old.source_acknowledged is distinct from new.source_acknowledged or old.resolved is distinct from new.resolved)
        and statistics_hour(old.created_at) <= clock_timestamp()
        and (old.owner_id is distinct from new.owner_id or old.updated_at <> new.updated_at
            or old.source_acknowledged is distinct from new.source_acknowledged or old.resolved is distinct from new.resolved))
    execute function recount_incident();
-- Hours with such incidents are counted again.
insert into statistics_changes (at)
select distinct statistics_hour(i.created_at) from incidents i
where i.owner_id is null
    and exists (select from timeline_entries e where e.incident_id = i.id and e.kind = 'acknowledged');
insert into schema_compatibility (version, oldest) values (292, 193);

-- +goose Down
delete from schema_compatibility where version = 292;
create or replace trigger incidents_recounted after update of owner_id, updated_at, resolved on incidents
    for each row when ((old.owner_id is not null or new.owner_id is not null
            or old.resolved is distinct from new.resolved)
        and statistics_hour(old.created_at) <= clock_timestamp()
        and (old.owner_id is distinct from new.owner_id or old.updated_at <> new.updated_at
            or old.resolved is distinct from new.resolved))
    execute function recount_incident();
-- +goose StatementBegin
create or replace function counted_incidents(after timestamptz, until timestamptz, part int)
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
-- +goose StatementEnd

-- Locks the row of events that are counted together, and makes it if there is none and the integration has fewer than the most.
-- name: LockHeldEvents :one
insert into held_events as g (integration_id, key)
select sqlc.arg(integration_id)::bigint, sqlc.arg(key)::text
where exists (select from held_events o where o.integration_id = sqlc.arg(integration_id)::bigint and o.key = sqlc.arg(key)::text)
   or (select count(*) from (select from held_events o where o.integration_id = sqlc.arg(integration_id)::bigint limit sqlc.arg(most)::int) known)
       < sqlc.arg(most)::int
on conflict (integration_id, key) do update set touched_at = clock_timestamp()
returning g.at, g.titles, statement_timestamp()::timestamptz as now;

-- name: SetHeldEvents :exec
update held_events
set at = sqlc.arg(at)::timestamptz[], titles = sqlc.arg(titles)::text[]
where integration_id = sqlc.arg(integration_id) and key = sqlc.arg(key);

-- name: HeldEvents :one
select g.at, g.titles, statement_timestamp()::timestamptz as now
from held_events g
where g.integration_id = sqlc.arg(integration_id) and g.key = sqlc.arg(key);

-- name: ForgetHeldEvents :execrows
delete from held_events g
where g.ctid = any(array(
    select o.ctid from held_events o where o.touched_at < statement_timestamp() - interval '2 days'
    limit 10000 for update skip locked));

-- Changes the plan of an incident, and forgets the targets that the incident gave to the plan before.
-- name: SetPlan :exec
with gone as (delete from incident_dynamic_targets t where t.incident_id = sqlc.arg(id))
update incidents i set plan_id = sqlc.arg(plan_id) where i.id = sqlc.arg(id);

-- name: AddDynamicTargets :exec
insert into incident_dynamic_targets (incident_id, dynamic_index, role, target_id)
select sqlc.arg(id)::bigint, unnest(sqlc.arg(indexes)::int[]), unnest(sqlc.arg(roles)::text[]), unnest(sqlc.arg(target_ids)::bigint[]);

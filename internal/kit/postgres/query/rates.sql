-- The number of incidents of an application on a plan, for limits on it.

-- name: ActiveIncidentsOf :one
select count(*) from (
    select from incidents i
    where i.application_id = sqlc.arg(application_id) and i.plan_id = sqlc.arg(plan_id) and i.active
      and i.opener is not distinct from nullif(sqlc.arg(opener)::text, '')
    limit sqlc.arg(most)::int
) x;

-- The clock of the statement, because an index cannot serve one that ticks.
-- name: RecentIncidentsOf :one
select count(*) from (
    select from incidents i
    where i.application_id = sqlc.arg(application_id) and i.plan_id = sqlc.arg(plan_id)
      and i.created_at > statement_timestamp() - sqlc.arg(lookback_us)::bigint * interval '1 microsecond'
      and i.opener is not distinct from nullif(sqlc.arg(opener)::text, '')
    limit sqlc.arg(most)::int
) x;

-- Sets the step of an incident. A new step begins again, and pages nobody twice, because a message exists once per decision. Reopen count
-- and tracking stay.
-- name: SetStep :exec
update incidents
set progress = case when current_step = sqlc.arg(step)::smallint then progress
        else jsonb_strip_nulls(jsonb_build_object('r', progress -> 'r', 't', progress -> 't')) end,
    step_at = case when current_step = sqlc.arg(step)::smallint then step_at else clock_timestamp() end,
    current_step = sqlc.arg(step)::smallint, due_at = clock_timestamp()
where id = sqlc.arg(id);

-- Those of its repeats too.
-- name: StepsOfPlan :one
select (coalesce((select max(n.step) from plan_notifications n where n.plan_id = p.id), 0) * (1 + coalesce((p.settings ->> 'repeat')::int, 0)))::int
from plans p where p.id = @plan_id;

-- name: PlanAggregation :many
select p.id, p.name, p.threshold_window, p.threshold_count, p.aggregation_window, p.aggregation_reset
from plan_active pa join plans p on p.id = pa.plan_id
order by p.id;

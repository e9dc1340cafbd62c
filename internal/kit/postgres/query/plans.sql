-- name: PlanByID :one
select p.*, u.name as creator, (pa.plan_id is not null)::bool as active,
       coalesce(o.id, 0)::bigint as team_id, coalesce(o.name, '')::text as team, coalesce(o.members, '{}')::bigint[] as members,
       coalesce(o.managers, '{}')::bigint[] as managers
from plans p
join users u on u.id = p.creator_id
left join (plan_owners po join owning_teams o on o.id = po.team_id) on po.name_key = lower(p.name)
left join plan_active pa on pa.plan_id = p.id
where p.id = @id;

-- name: PlanByName :one
-- The active version.
select p.*, u.name as creator, true::bool as active,
       coalesce(o.id, 0)::bigint as team_id, coalesce(o.name, '')::text as team, coalesce(o.members, '{}')::bigint[] as members,
       coalesce(o.managers, '{}')::bigint[] as managers
from plan_active pa
join plans p on p.id = pa.plan_id
join users u on u.id = p.creator_id
left join (plan_owners po join owning_teams o on o.id = po.team_id) on po.name_key = lower(p.name)
where pa.name_key = lower(rtrim(@name::text));

-- name: PlanFallback :one
select t.name from named_targets t join target_roles r on r.target_kind = t.kind
where r.name = @role::text and t.target_id = @target_id::bigint;

-- name: PlanConditions :many
-- When steps of plans apply, one row for each step that has a condition, with the team of the condition.
select p.id as plan_id, c.value::jsonb as condition, coalesce(t.name, '')::text as team, coalesce(t.time_zone, '')::text as time_zone
from plans p
cross join jsonb_array_elements(p.conditions) as c(value)
left join teams t on t.target_id = (c.value ->> 'team_target_id')::bigint
where p.id = any(@ids::bigint[]);

-- name: PlanNotifications :many
select n.id, n.step, n.position, n.priority, n.role, n.target_id, n.dynamic_index, n.template, n.wait_seconds, n.repeat,
       n.optional, coalesce(t.name, '')::text as target, (ta.template_id is not null)::bool as template_active
from plan_notifications n
left join target_roles r on r.name = n.role
left join named_targets t on t.target_id = n.target_id and t.kind = r.target_kind
left join template_active ta on ta.name_key = lower(n.template)
where n.plan_id = @plan_id
order by n.step, n.position;

-- name: InsertPlan :one
-- The settings of a plan's name are copied from its newest version. Its conditions too, if none are given and it has as many steps.
insert into plans (name, creator_id, description, threshold_window, threshold_count, aggregation_window,
                   aggregation_reset, tracking_type, tracking_key, tracking_template, repage_after, acknowledgement_timeout,
                   settings, conditions, fallback_role, fallback_target_id, paused)
select @name, @creator_id, @description, @threshold_window, @threshold_count, @aggregation_window,
    @aggregation_reset, sqlc.narg(tracking_type), sqlc.narg(tracking_key), sqlc.narg(tracking_template),
    coalesce(o.repage_after, 3600), coalesce(o.acknowledgement_timeout, 0), coalesce(o.settings, '{}'), coalesce(sqlc.narg(conditions)::jsonb, case when o.steps = @steps::int then o.conditions end, '[]'),
    o.fallback_role, o.fallback_target_id, coalesce(o.paused, false)
from (select) as new
left join lateral (
    select v.repage_after, v.acknowledgement_timeout, v.settings, v.conditions, v.fallback_role, v.fallback_target_id, v.paused,
        (select max(n.step) from plan_notifications n where n.plan_id = v.id)::int as steps
    from plans v where lower(v.name) = lower(@name) order by v.id desc limit 1
) o on true
returning id;

-- name: SetPlanSettings :execrows
-- Of all versions, so that they hold for incidents that are open. What is not given stays.
update plans
set repage_after = coalesce(sqlc.narg(repage_after)::int, repage_after),
    acknowledgement_timeout = coalesce(sqlc.narg(acknowledgement_timeout)::int, acknowledgement_timeout),
    settings = settings || @settings::jsonb
where lower(name) = lower(rtrim(@name::text));

-- name: SetPlanPaused :execrows
-- Of all versions, so that it holds for incidents that are open.
update plans set paused = @paused where lower(name) = lower(rtrim(@name::text));

-- name: PlanUses :many
-- How plans are used, by the number of a version. Incidents count for all versions of its name. Targets and templates that no longer exist are
-- those of the version. An on-call role is empty if the team has no shift of the role now. The newest 20,000 escalating incidents are counted once for all plans.
-- A comparison with plan_id alone would let the planner read the newest incidents of all plans until it finds one of the plan.
with escalating as materialized (
    select newest.plan_id, count(*) as n
    from (select i.plan_id from incidents i where i.active order by i.created_at desc, i.id desc limit 20000) newest group by newest.plan_id
)
select p.id, p.paused, (p.fallback_target_id is not null)::bool as has_fallback,
    coalesce((select max(r.created_at) from plans v
        cross join lateral (select i.plan_id, i.created_at from incidents i where (i.plan_id, i.created_at) <= (v.id, 'infinity'::timestamptz)
            order by i.plan_id desc, i.created_at desc limit 1) r
        where r.plan_id = v.id and lower(v.name) = lower(p.name)), 'epoch')::timestamptz as used_at,
    coalesce((select sum(e.n) from plans v join escalating e on e.plan_id = v.id where lower(v.name) = lower(p.name)), 0)::int as escalating,
    coalesce((select max(n.step) from plan_notifications n where n.plan_id = p.id), 0)::int as steps,
    array(select distinct n.template from plan_notifications n where n.plan_id = p.id
        and n.template <> '' and not exists (select from template_active a where a.name_key = lower(n.template)) order by 1)::text[] as lost_templates,
    array(select distinct concat(r.target_kind, ' ', t.name) from plan_notifications n join target_roles r on r.name = n.role
        left join named_targets t on t.target_id = n.target_id and t.kind = r.target_kind
        where n.plan_id = p.id and not exists (select from targets a where a.target_id = n.target_id and a.kind = r.target_kind and a.active)
        order by 1)::text[] as lost_targets,
    array(select distinct concat(n.role, ' of ', w.name) from plan_notifications n join teams w on w.target_id = n.target_id and w.active
        join oncall_roles o on n.role = concat('oncall-', o.name)
        where n.plan_id = p.id and not exists (select from shifts s where s.team_id = w.id and s.role_id = o.id
            and s.starts_at <= statement_timestamp() and s.ends_at > statement_timestamp())
        order by 1)::text[] as empty_roles
from plans p
where p.id = any(@ids::bigint[])
order by p.id;

-- name: SetPlanFallback :execrows
-- Of all versions, so that it holds for incidents that are open.
update plans set fallback_role = sqlc.narg(role), fallback_target_id = sqlc.narg(target_id) where lower(name) = lower(rtrim(@name::text));

-- name: InsertPlanNotification :batchexec
insert into plan_notifications (plan_id, step, position, priority, role, target_id, dynamic_index, template,
                                wait_seconds, repeat, optional)
values (@plan_id, @step, @position, @priority, sqlc.narg(role), sqlc.narg(target_id), sqlc.narg(dynamic_index), @template,
        @wait_seconds, @repeat, @optional);

-- name: ActivateNewestPlan :exec
-- Of two versions saved at once the newer one stays active.
insert into plan_active (name_key, plan_id)
select lower(p.name), p.id from plans p where p.id = @id
on conflict (name_key) do update set plan_id = excluded.plan_id where plan_active.plan_id < excluded.plan_id;

-- name: ActivateFirstPlan :execrows
-- Only while the name has no active version.
insert into plan_active (name_key, plan_id)
select lower(v.name), v.id from plans v where v.id = @id
on conflict (name_key) do nothing;

-- name: ReplaceActivePlan :execrows
-- Only while the replaced version is the active one.
update plan_active set plan_id = @id where plan_id = @replaced;

-- name: ActivatePlan :execrows
insert into plan_active (name_key, plan_id)
select lower(p.name), p.id from plans p where p.id = @id
on conflict (name_key) do update set plan_id = excluded.plan_id;

-- name: DeactivatePlan :execrows
delete from plan_active where plan_id = @id;

-- name: PlanVersions :many
select id from plans where lower(name) = lower(rtrim(@name::text)) order by id for update;

-- name: CountIncidentsOfPlans :one
select count(*) from incidents where plan_id = any(@ids::bigint[]);

-- name: DeletePlans :exec
delete from plans where id = any(@ids::bigint[]);

-- name: PlanHasText :one
-- Whether any version of any template that the plan names has text for the application.
select exists (
    select from plan_notifications n
    join templates t on lower(t.name) = lower(n.template)
    join template_contents c on c.template_id = t.id
    where n.plan_id = @plan_id and c.application_id = @application_id
)::bool;

-- The roles that a plan may name, or only those that /v0 lists.
-- name: TargetRoles :many
select name, target_kind from target_roles where in_v0 or not sqlc.arg(only_v0)::bool order by position, name;

-- name: ReachOfTargets :many
-- The targets of these names, the number of their people, and the number of those with a contact.
select asked.name::text as asked, t.kind, t.target_id, t.name, t.active,
       coalesce((select w.time_zone from teams w where t.kind = 'team' and w.id = t.kind_id), '')::text as zone,
       (select count(*) from users u
        where u.active and (t.kind = 'user' and u.id = t.kind_id
           or t.kind = 'team' and u.id in (select m.user_id from team_members m where m.team_id = t.kind_id)
           or t.kind = 'mailing-list' and u.id in (select m.user_id from mailing_list_members m where m.list_id = t.kind_id)))::int as people,
       (select count(*) from users u
        where u.active and (exists (select from user_contacts c where c.user_id = u.id)
           or exists (select from devices d where d.user_id = u.id and d.active))
          and (t.kind = 'user' and u.id = t.kind_id
           or t.kind = 'team' and u.id in (select m.user_id from team_members m where m.team_id = t.kind_id)
           or t.kind = 'mailing-list' and u.id in (select m.user_id from mailing_list_members m where m.list_id = t.kind_id)))::int as reachable,
       coalesce((select greatest(l.member_count, (select count(*) from mailing_list_members m where m.list_id = l.id))
        from mailing_lists l where t.kind = 'mailing-list' and l.id = t.kind_id), 0)::bigint as size
from (select unnest(@names::text[]) as name) asked
join targets t on lower(t.name) = lower(rtrim(asked.name))
order by t.kind desc, t.target_id;

-- name: ReachOfTemplates :many
select asked.name::text as asked, (select count(distinct c.application_id) from template_contents c where c.template_id = a.template_id)::int as applications
from (select unnest(@names::text[]) as name) asked
join template_active a on a.name_key = lower(rtrim(asked.name));

-- name: OwnPlan :exec
insert into plan_owners (name_key, team_id) values (lower(rtrim(@name::text)), @team_id)
on conflict (name_key) do update set team_id = excluded.team_id;

-- name: DisownPlan :exec
delete from plan_owners where name_key = lower(rtrim(@name::text));

-- name: OwnNewPlan :exec
-- A name that has an owner keeps it.
insert into plan_owners (name_key, team_id) values (lower(rtrim(@name::text)), @team_id) on conflict (name_key) do nothing;

-- People, teams, applications and plans as paging reads them: in batches, by number.

-- name: DirectoryTeams :many
-- A deleted team goes by the name that people know, not by the random one that it was given.
select t.id, t.target_id, t.oncall_id, coalesce(d.old_name, t.name)::text as name, t.time_zone, t.active, coalesce(t.manager_id, 0)::bigint as manager_id,
    coalesce(t.director_id, 0)::bigint as director_id,
    array(select m.user_id from team_members m where m.team_id = t.id and m.member order by m.position, m.user_id)::bigint[] as members
from teams t
left join deleted_teams d on d.team_id = t.id and not t.active
where t.target_id = any(sqlc.arg(target_ids)::bigint[]);

-- name: DirectoryUsers :many
select id, target_id, oncall_id, name, full_name, time_zone, admin, active
from users
where id = any(sqlc.arg(ids)::bigint[]);

-- name: DirectoryUsersByTarget :many
select id, target_id, oncall_id, name, full_name, time_zone, admin, active
from users
where target_id = any(sqlc.arg(target_ids)::bigint[]);

-- Contacts and choices of users as seen by applications, each as two arrays in the same order.
-- name: DirectoryResponders :many
select k.application_id::bigint as application_id, u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone,
    u.admin, u.active,
    contacts.modes::text[] as contact_modes, contacts.destinations::text[] as destinations,
    array(select m.priority from user_modes m where m.user_id = u.id order by m.priority)::text[] as own_priorities,
    array(select m.mode from user_modes m where m.user_id = u.id order by m.priority)::text[] as own_modes,
    array(select m.priority from user_application_modes m
        where m.user_id = u.id and m.application_id = k.application_id order by m.priority)::text[] as app_priorities,
    array(select m.mode from user_application_modes m
        where m.user_id = u.id and m.application_id = k.application_id order by m.priority)::text[] as app_modes,
    follow_ups.priorities::text[] as follow_up_priorities, follow_ups.modes::text[] as follow_up_modes, follow_ups.delays::int[] as follow_up_delays
from (
    select unnest(sqlc.arg(user_ids)::bigint[]) as user_id, unnest(sqlc.arg(application_ids)::bigint[]) as application_id
) k
join users u on u.id = k.user_id
cross join lateral (
    select coalesce(array_agg(c.mode order by c.mode), '{}') as modes, coalesce(array_agg(c.destination order by c.mode), '{}') as destinations
    from (
        select c.mode, c.destination from user_contacts c where c.user_id = u.id
        union all
        -- A person who registered a phone can be reached by push.
        select 'push', 'devices:' || u.name
        where exists (select from devices d where d.user_id = u.id and d.active)
          and not exists (select from user_contacts c where c.user_id = u.id and c.mode = 'push')
    ) c
) contacts
cross join lateral (
    select coalesce(array_agg(f.priority order by f.priority, f.position), '{}') as priorities,
        coalesce(array_agg(f.mode order by f.priority, f.position), '{}') as modes,
        coalesce(array_agg(f.delay_seconds order by f.priority, f.position), '{}') as delays
    from user_follow_ups f where f.user_id = u.id
) follow_ups;

-- name: DirectoryApplications :many
select a.id, a.name, a.fallback_role, a.fallback_target_id, coalesce(t.name, '')::text as fallback_name,
    array(select m.mode from application_modes m where m.application_id = a.id order by m.mode)::text[] as modes,
    array(select d.priority from application_default_modes d
        where d.application_id = a.id order by d.priority)::text[] as default_priorities,
    array(select d.mode from application_default_modes d
        where d.application_id = a.id order by d.priority)::text[] as default_modes,
    array(select p.name from priorities p order by p.id)::text[] as priorities,
    array(select p.default_mode from priorities p order by p.id)::text[] as priority_modes
from applications a
left join named_targets t on t.target_id = a.fallback_target_id
where a.id = any(sqlc.arg(ids)::bigint[]);

-- name: DirectoryPlans :many
select p.id, p.name, p.description, p.creator_id, u.name as creator, p.created_at, p.paused, p.threshold_window,
    p.threshold_count, p.aggregation_window, p.aggregation_reset, p.tracking_type, p.tracking_key, p.tracking_template,
    p.settings, p.conditions <> '[]' as has_conditions, p.fallback_role, p.fallback_target_id, coalesce(t.name, '')::text as fallback_name,
    exists (select 1 from plan_active a where a.plan_id = p.id) as active
from plans p
join users u on u.id = p.creator_id
left join named_targets t on t.target_id = p.fallback_target_id
where p.id = any(sqlc.arg(ids)::bigint[]);

-- name: DirectoryPlanNotifications :many
select n.id, n.plan_id, n.step, n.position, n.priority, n.role, n.target_id, coalesce(d.old_name, t.name, '')::text as target_name,
    n.dynamic_index, n.template, n.wait_seconds, n.repeat, n.optional
from plan_notifications n
left join targets t on t.target_id = n.target_id
left join teams gone on gone.target_id = n.target_id and not gone.active
left join deleted_teams d on d.team_id = gone.id
where n.plan_id = any(sqlc.arg(plan_ids)::bigint[])
order by n.plan_id, n.step, n.position;

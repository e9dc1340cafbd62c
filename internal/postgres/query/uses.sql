-- The objects that use a team, plan, template or person, as texts. An incident counts while it escalates.

-- name: UsesOfTarget :many
select concat('plan ', p.name)::text as used_by
from plan_active pa join plans p on p.id = pa.plan_id
where p.fallback_target_id = sqlc.arg(target_id)::bigint
   or exists (select from plan_notifications n where n.plan_id = p.id and n.target_id = sqlc.arg(target_id)::bigint)
union all
select concat('fallback of application ', a.name) from applications a where a.fallback_target_id = sqlc.arg(target_id)::bigint
union all
select concat('quota of application ', a.name) from application_quotas q join applications a on a.id = q.application_id
where q.target_id = sqlc.arg(target_id)::bigint
union all
select concat(count(*), ' escalating incidents') from incidents i
where i.active and (exists (select from plan_notifications n where n.plan_id = i.plan_id and n.target_id = sqlc.arg(target_id)::bigint)
    or exists (select from incident_dynamic_targets d where d.incident_id = i.id and d.target_id = sqlc.arg(target_id)::bigint))
having count(*) > 0
order by 1;

-- name: UsesOfTeam :many
select concat('service ', s.name)::text as used_by from team_services ts join services s on s.id = ts.service_id
where ts.team_id = @team_id
order by 1;

-- name: UsesOfPerson :many
select concat('plan ', p.name, ' as its creator')::text as used_by from plan_active pa join plans p on p.id = pa.plan_id where p.creator_id = @user_id
union all
select concat('roster ', r.name, ' of team ', t.name) from roster_members m join rosters r on r.id = m.roster_id join teams t on t.id = r.team_id
where m.user_id = @user_id and t.active
union all
select concat(count(*), ' shifts to come of team ', t.name) from shifts s join teams t on t.id = s.team_id
where s.user_id = @user_id and s.ends_at > statement_timestamp() and t.active
group by t.name
order by 1;

-- name: UsesOfPlan :many
select concat('quota of application ', a.name)::text as used_by from application_quotas q join applications a on a.id = q.application_id
where q.plan_key = lower(rtrim(sqlc.arg(name)::text))
union all
select concat('default plan of application ', a.name) from applications a
where lower(rtrim(a.default_plan)) = lower(rtrim(sqlc.arg(name)::text))
union all
select concat('integration ', i.name) from integrations i
where lower(rtrim(i.default_plan)) = lower(rtrim(sqlc.arg(name)::text))
    or exists (select from jsonb_array_elements(case when jsonb_typeof(i.rules) = 'array' then i.rules else '[]' end) r where lower(rtrim(r ->> 'plan')) = lower(rtrim(sqlc.arg(name)::text)))
union all
select concat(count(*), ' escalating incidents') from incidents i join plans p on p.id = i.plan_id
where i.active and lower(p.name) = lower(rtrim(sqlc.arg(name)::text))
having count(*) > 0
order by 1;

-- name: UsesOfTemplate :many
select distinct concat('plan ', p.name)::text as used_by
from plan_active pa join plans p on p.id = pa.plan_id join plan_notifications n on n.plan_id = p.id
where lower(n.template) = lower(rtrim(sqlc.arg(name)::text))
order by 1;

-- Adds a line to the timelines of the escalating incidents that refer to a target.
-- name: TellIncidentsOfTarget :execrows
insert into timeline_entries (incident_id, kind, actor, text)
select i.id, 'operator', sqlc.arg(actor)::text, sqlc.arg(text)::text
from incidents i join plans p on p.id = i.plan_id
where i.active and (p.fallback_target_id = sqlc.arg(target_id)::bigint
    or exists (select from plan_notifications n where n.plan_id = i.plan_id and n.target_id = sqlc.arg(target_id)::bigint)
    or exists (select from incident_dynamic_targets d where d.incident_id = i.id and d.target_id = sqlc.arg(target_id)::bigint));

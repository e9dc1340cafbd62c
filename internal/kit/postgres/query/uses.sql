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

-- A team and a mailing list are named alone, and with each plan that pages them.
-- name: UsesOfPerson :many
select concat('plan ', p.name, ' as its creator')::text as used_by from plan_active pa join plans p on p.id = pa.plan_id where p.creator_id = @user_id
union all
select concat('roster ', r.name, ' of team ', t.name) from roster_members m join rosters r on r.id = m.roster_id join teams t on t.id = r.team_id
where m.user_id = @user_id and t.active
union all
select concat(count(*), ' shifts to come of team ', t.name) from shifts s join teams t on t.id = s.team_id
where s.user_id = @user_id and s.ends_at > statement_timestamp() and t.active
group by t.name
union all
select concat('team ', t.name, case when m.admin and not m.member then ' as its administrator' when m.admin then ' as a member and administrator' else ' as a member' end)
from team_members m join teams t on t.id = m.team_id
where m.user_id = @user_id and (m.member or m.admin) and t.active
union all
select concat('team ', t.name, ' as its ', r.role) from teams t cross join (values ('manager'), ('director')) r (role)
where t.active and case r.role when 'manager' then t.manager_id else t.director_id end = sqlc.arg(user_id)::bigint
union all
select distinct concat('plan ', p.name, ' by ', g.name)
from plan_active pa join plans p on p.id = pa.plan_id
join lateral (select p.fallback_target_id as target_id union select n.target_id from plan_notifications n where n.plan_id = p.id) n on true
join (select t.target_id, 'team ' || t.name as name from team_members m join teams t on t.id = m.team_id where m.user_id = @user_id and m.member and t.active
    union select t.target_id, 'team ' || t.name from teams t where t.active and sqlc.arg(user_id)::bigint in (t.manager_id, t.director_id)
    union select l.target_id, 'mailing list ' || l.name from mailing_list_members m join mailing_lists l on l.id = m.list_id where m.user_id = @user_id) g
    on g.target_id = n.target_id
union all
select concat('mailing list ', l.name) from mailing_list_members m join mailing_lists l on l.id = m.list_id where m.user_id = @user_id
union all
select concat('application ', a.name, ' as its owner') from application_owners o join applications a on a.id = o.application_id where o.user_id = @user_id
union all
select concat(count(*), ' acknowledged incidents as their owner') from incidents i
where i.owner_id = sqlc.arg(user_id)::bigint and not i.resolved and i.closed_at is null and i.merged_into is null
having count(*) > 0
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

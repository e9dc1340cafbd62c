-- Updates about incidents, and the people who get them.

-- The incident of an update. No other update of it and no merge happens meanwhile.
-- name: LockIncidentForUpdate :many
select i.id, i.application_id, coalesce(i.merged_into, 0)::bigint as merged_into from incidents i where i.id = sqlc.arg(incident)::bigint
for no key update;

-- The people who get an update, each once: by the subscription to the incident, else to the application, else to a team. Incidents that are merged into this
-- one count as this one. A team's incidents are those that page it, and those of plans and applications that it owns.
-- name: UpdateReaders :many
select distinct on (s.user_id) s.user_id, u.name, s.mode,
    (case when s.incident_id is not null then 'incident' when s.application_id is not null then 'application' else 'team' end)::text as through
from incidents i
join applications a on a.id = i.application_id
join update_subscriptions s on s.incident_id = i.id
    or s.incident_id in (select c.id from incidents c where c.merged_into = i.id)
    or s.application_id = i.application_id
    or s.team_id = a.team_id
    or s.team_id in (select t.id from plan_notifications n join teams t on t.target_id = n.target_id where n.plan_id = i.plan_id)
    or s.team_id in (select o.team_id from plan_owners o join plans p on lower(p.name) = o.name_key where p.id = i.plan_id)
join users u on u.id = s.user_id and u.active
where i.id = sqlc.arg(incident)::bigint
order by s.user_id, (s.incident_id = i.id) desc nulls last, (s.incident_id is not null) desc, (s.application_id is not null) desc, s.id desc;

-- name: AddIncidentUpdate :one
insert into incident_updates (incident_id, state, body, author, recipients)
values (sqlc.arg(incident)::bigint, @state, @body, @author, @recipients)
returning id, created_at;

-- How many updates an incident had in the last seconds, and in how many seconds the oldest of them is older than that.
-- name: RecentUpdates :one
select count(*)::int as sent,
    coalesce(ceil(extract(epoch from min(created_at) - clock_timestamp()) + sqlc.arg(seconds)::float8), 0)::int as wait
from incident_updates
where incident_id = sqlc.arg(incident)::bigint and created_at > clock_timestamp() - make_interval(secs => sqlc.arg(seconds)::float8);

-- Updates of an incident, newest first.
-- name: IncidentUpdates :many
select id, incident_id, state, body, author, recipients, created_at from incident_updates
where incident_id = sqlc.arg(incident)::bigint and id < sqlc.arg(before)::bigint
order by id desc
limit sqlc.arg(most);

-- The subscriptions of a person, newest first; person 0 = of anybody, id 0 = all, about 0 = of any incident, application and team.
-- name: SubscriptionsToUpdates :many
select s.id, s.user_id, u.name as person, coalesce(s.incident_id, 0)::bigint as incident, coalesce(a.name, '')::text as application,
    coalesce(t.name, '')::text as team, s.mode, s.created_at
from update_subscriptions s
join users u on u.id = s.user_id
left join applications a on a.id = s.application_id
left join teams t on t.id = s.team_id
where (sqlc.arg(person)::bigint = 0 or s.user_id = sqlc.arg(person)::bigint) and (sqlc.arg(id)::bigint = 0 or s.id = sqlc.arg(id)::bigint)
  and (sqlc.arg(about)::bigint = 0 or s.incident_id = sqlc.arg(about)::bigint)
  and s.id < sqlc.arg(before)::bigint
order by s.id desc
limit sqlc.arg(most);

-- What the names of a subscription stand for, 0 = nothing, and whether the person has a contact for the mode. It locks the person.
-- name: PartsOfSubscription :one
select coalesce((select i.id from incidents i where i.id = sqlc.arg(incident)::bigint), 0)::bigint as incident_id,
    coalesce((select a.id from applications a where lower(a.name) = lower(sqlc.arg(application)::text)), 0)::bigint as application_id,
    coalesce((select t.id from teams t where lower(t.name) = lower(sqlc.arg(team)::text) and t.active), 0)::bigint as team_id,
    exists (select from user_contacts c where c.user_id = u.id and c.mode = sqlc.arg(mode)::text) as has_contact
from users u where u.id = sqlc.arg(person)::bigint
for no key update;

-- How many subscriptions a person has, and how many an object has, without that of the person to the object.
-- name: CountSubscriptions :one
select count(*) filter (where s.user_id = sqlc.arg(person)::bigint)::int as of_person,
    count(*) filter (where s.incident_id = sqlc.arg(incident)::bigint or s.application_id = sqlc.arg(application)::bigint
        or s.team_id = sqlc.arg(team)::bigint)::int as of_object
from update_subscriptions s
where (s.user_id = sqlc.arg(person)::bigint or s.incident_id = sqlc.arg(incident)::bigint
    or s.application_id = sqlc.arg(application)::bigint or s.team_id = sqlc.arg(team)::bigint)
  and not (s.user_id = sqlc.arg(person)::bigint and (s.incident_id = sqlc.arg(incident)::bigint
    or s.application_id = sqlc.arg(application)::bigint or s.team_id = sqlc.arg(team)::bigint) is true);

-- name: AddSubscriptionToUpdates :one
insert into update_subscriptions (user_id, incident_id, application_id, team_id, mode)
values (sqlc.arg(person)::bigint, nullif(sqlc.arg(incident)::bigint, 0), nullif(sqlc.arg(application)::bigint, 0), nullif(sqlc.arg(team)::bigint, 0), @mode)
on conflict (user_id, (coalesce(incident_id, 0)), (coalesce(application_id, 0)), (coalesce(team_id, 0))) do update set mode = excluded.mode
returning id;

-- name: RemoveSubscriptionToUpdates :exec
delete from update_subscriptions where id = sqlc.arg(id)::bigint;

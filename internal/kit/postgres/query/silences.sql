-- Silences, and the incidents that they hide.

-- name: SilenceVersion :one
select version from silence_version;

-- Ends running searches for silences: incidents are opened only under the present version.
-- name: ChangeSilences :exec
update silence_version set version = version + 1;

-- Silences, newest first. plan_ids has the versions of the plan, and of the plans that page the team. Hidden is counted for people only: the
-- processes read this each second, and a silence may hide many incidents.
-- name: Silences :many
select s.id, s.match, coalesce(s.application_id, 0)::bigint as application_id, coalesce(a.name, '')::text as application,
    coalesce(s.plan, '')::text as plan, coalesce(t.name, '')::text as team, s.starts_at, s.ends_at, s.recurrence, s.zone, s.comment, s.author,
    s.created_at, s.ended_at, s.applied_from,
    case when s.plan is null and s.team_id is null then '{}' else
    array(select p.id from plans p where s.plan is not null and lower(p.name) = lower(s.plan)
        union
        select n.plan_id from plan_notifications n
        join target_roles r on r.name = n.role and r.target_kind = 'team'
        join targets g on g.target_id = n.target_id and g.kind = 'team' and g.kind_id = s.team_id
        where s.team_id is not null) end::bigint[] as plan_ids,
    (case when sqlc.arg(counted)::boolean then (select count(*) from incidents i where i.silence_id = s.id) else 0 end)::bigint as hidden
from silences s
left join applications a on a.id = s.application_id
left join teams t on t.id = s.team_id
where (sqlc.arg(id)::bigint = 0 or s.id = sqlc.arg(id)::bigint)
  and (not sqlc.arg(kept)::boolean or s.ended_at is null and (s.recurrence <> '' or s.ends_at > statement_timestamp()))
  and s.id < sqlc.arg(before)::bigint
order by s.id desc
limit sqlc.arg(most);

-- How many other silences are in force or planned: all, and those with the same team, application or plan as a silence. The caller has the lock of
-- ChangeSilences.
-- name: OtherSilences :one
select count(*)::bigint as all_of_them, (count(*) filter (where s.team_id = nullif(sqlc.arg(team_id)::bigint, 0)))::bigint as of_team,
    (count(*) filter (where s.application_id = nullif(sqlc.arg(application_id)::bigint, 0)))::bigint as of_application,
    (count(*) filter (where lower(s.plan) = lower(nullif(sqlc.arg(plan)::text, ''))))::bigint as of_plan
from silences s
where s.ended_at is null and (s.recurrence <> '' or s.ends_at > statement_timestamp()) and s.id <> sqlc.arg(id)::bigint;

-- name: AddSilence :one
insert into silences (match, application_id, plan, team_id, starts_at, ends_at, recurrence, zone, comment, author)
values (@match, nullif(@application_id::bigint, 0), nullif(@plan::text, ''), nullif(@team_id::bigint, 0), @starts_at, @ends_at, @recurrence, @zone,
    @comment, @author)
returning id;

-- name: ReplaceSilence :execrows
update silences
set match = @match, application_id = nullif(@application_id::bigint, 0), plan = nullif(@plan::text, ''), team_id = nullif(@team_id::bigint, 0),
    starts_at = @starts_at, ends_at = @ends_at, recurrence = @recurrence, zone = @zone, comment = @comment, applied_from = null
where id = @id and ended_at is null;

-- name: EndSilence :execrows
update silences set ended_at = clock_timestamp() where id = @id and ended_at is null;

-- Notes that the incidents of occurrences are hidden, unless a silence was changed since the list of the version was read.
-- name: NoteApplied :exec
update silences s set applied_from = u.applied_from
from (select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(applied_froms)::timestamptz[]) as applied_from) u
where s.id = u.id and exists (select from silence_version v where v.version = sqlc.arg(version)::bigint);

-- name: NamesOfSilence :one
select coalesce((select a.id from applications a where lower(a.name) = lower(sqlc.arg(application)::text)), 0)::bigint as application_id,
    coalesce((select t.id from teams t where lower(t.name) = lower(sqlc.arg(team)::text) and t.active), 0)::bigint as team_id,
    coalesce((select p.name from plan_active pa join plans p on p.id = pa.plan_id where pa.name_key = lower(sqlc.arg(plan)::text)), '')::text as plan;

-- Makes the processors search the silences again for the incidents that a silence hides. Two seconds later, because they cache the silences
-- for one; and spread, so that they do not all page at once.
-- name: ReleaseOfSilence :execrows
update incidents
set silenced_until = clock_timestamp() + interval '2 seconds' + (id * 7919 % (sqlc.arg(spread_seconds)::bigint + 1)) * interval '1 second'
where silence_id = sqlc.arg(id)::bigint;

-- What silences know of incidents that escalate.
-- name: SubjectsOf :many
select i.id, i.application_id, i.plan_id, coalesce(c.severity, '')::text as severity, coalesce(c.context, '{}')::json as context
from incidents i
left join incident_contexts c on c.incident_id = i.id
where i.id = any (sqlc.arg(ids)::bigint[]) and i.active;

-- Escalating incidents that are about to page: they are due within seconds, or have messages to send.
-- name: AboutToPage :many
select i.id
from generate_series(0, 255) as b(bucket)
cross join lateral (
    select n.id from incidents n
    where n.bucket = b.bucket::smallint and n.due_at <= statement_timestamp() + interval '5 seconds' and n.active
      and (sqlc.arg(application_id)::bigint = 0 or n.application_id = sqlc.arg(application_id)::bigint)
      and (sqlc.arg(any_plan)::boolean or n.plan_id = any (sqlc.arg(plan_ids)::bigint[]))
    order by n.due_at
    limit 100
) i
union
select n.id
from generate_series(0, 255) as b(bucket)
cross join lateral (
    select m.incident_id from messages m where m.bucket = b.bucket::smallint and m.settled_at is null and m.incident_id is not null limit 200
) m
join incidents n on n.id = m.incident_id
where n.active and (sqlc.arg(application_id)::bigint = 0 or n.application_id = sqlc.arg(application_id)::bigint)
  and (sqlc.arg(any_plan)::boolean or n.plan_id = any (sqlc.arg(plan_ids)::bigint[]));

-- name: NewestEscalating :many
select i.id from incidents i
where i.active
  and (sqlc.arg(application_id)::bigint = 0 or i.application_id = sqlc.arg(application_id)::bigint)
  and (sqlc.arg(any_plan)::boolean or i.plan_id = any (sqlc.arg(plan_ids)::bigint[]))
order by i.created_at desc, i.id desc
limit sqlc.arg(most);

-- name: EndedSilences :many
select i.id, i.application_id, i.plan_id, coalesce(c.severity, '')::text as severity, coalesce(c.context, '{}')::json as context,
    (i.resolved or i.closed_at is not null or (exists (select from incident_alerts f where f.incident_id = i.id)
        and not exists (select from incident_alerts f where f.incident_id = i.id and f.status = 'firing')))::boolean as over,
    coalesce(g.resolves, true)::boolean as resolves, coalesce(g.repeat_seconds, 0)::int as repeat_seconds,
    extract(epoch from clock_timestamp() - coalesce(g.created_at, clock_timestamp()))::float8 as observed_seconds,
    extract(epoch from clock_timestamp() - coalesce(i.delivered_at, i.created_at))::float8 as undelivered_seconds
from incidents i
left join incident_contexts c on c.incident_id = i.id
left join integrations g on g.id = i.integration_id
where i.silenced_until <= statement_timestamp() and i.bucket = any (sqlc.arg(buckets)::smallint[])
order by i.silenced_until
limit sqlc.arg(most);

-- Makes the alerts of incidents count as over since the last delivery. A further delivery of the same alerts is news then.
-- name: EndAlerts :exec
with over as (
    update incident_alerts a set status = 'resolved', changed_at = coalesce(i.delivered_at, i.created_at)
    from incidents i where i.id = any (sqlc.arg(ids)::bigint[]) and a.incident_id = i.id and a.status = 'firing'
), events as (
    update grouped_events e set facts = null, acknowledged = false where e.incident_id = any (sqlc.arg(ids)::bigint[])
)
update incident_contexts c set dedup_facts = null where c.incident_id = any (sqlc.arg(ids)::bigint[]) and c.dedup_facts is not null;

-- Follows SetStates. The instants at which incidents are released are spread, see ReleaseOfSilence.
-- name: SetSilenceOf :exec
update incidents
set silence_id = sqlc.narg(silence_id)::bigint, silenced_until = silenced_until + (id * 7919 % 121) * interval '1 second'
where id = any (sqlc.arg(ids)::bigint[]);

-- Incidents that escalate, and those that were opened since an instant, with the application and the plans of a silence; the newest of each.
-- name: CandidatesOfSilence :many
with named as (
    select p.id from plans p where sqlc.arg(plan)::text <> '' and lower(p.name) = lower(sqlc.arg(plan)::text)
    union
    select n.plan_id from plan_notifications n
    join target_roles r on r.name = n.role and r.target_kind = 'team'
    join targets g on g.target_id = n.target_id and g.kind = 'team' and g.kind_id = sqlc.arg(team_id)::bigint
    where sqlc.arg(team_id)::bigint <> 0
), found as (
    (select i.id from incidents i
        where i.active and (sqlc.arg(application_id)::bigint = 0 or i.application_id = sqlc.arg(application_id)::bigint)
          and (sqlc.arg(plan)::text = '' and sqlc.arg(team_id)::bigint = 0 or i.plan_id in (select id from named))
        order by i.created_at desc, i.id desc limit sqlc.arg(most))
    union
    (select i.id from incidents i
        where i.created_at >= sqlc.arg(since) and (sqlc.arg(application_id)::bigint = 0 or i.application_id = sqlc.arg(application_id)::bigint)
          and (sqlc.arg(plan)::text = '' and sqlc.arg(team_id)::bigint = 0 or i.plan_id in (select id from named))
        order by i.created_at desc, i.id desc limit sqlc.arg(most))
)
select i.id, coalesce(c.severity, '')::text as severity, coalesce(c.context, '{}')::json as context, coalesce(i.active, false)::boolean as active,
    (i.created_at >= sqlc.arg(since))::boolean as recent
from found f
join incidents i on i.id = f.id
left join incident_contexts c on c.incident_id = i.id
order by i.id desc;

-- name: HiddenBySilence :many
select i.id from incidents i where i.silence_id = sqlc.arg(silence_id)::bigint and sqlc.arg(application_id)::bigint in (0, i.application_id) and i.id < sqlc.arg(before)::bigint order by i.id desc limit sqlc.arg(most);

-- name: RightsOfSilence :one
select exists (select from application_owners o join applications a on a.id = o.application_id
        where o.user_id = sqlc.arg(person)::bigint and lower(a.name) = lower(sqlc.arg(application)::text)) as owns_application,
    exists (select from teams t
        where lower(t.name) = lower(sqlc.arg(team)::text) and (t.id = any(sqlc.arg(teams)::bigint[])
            or exists (select from team_members m where m.team_id = t.id and m.user_id = sqlc.arg(person)::bigint))) as in_team,
    exists (select from plan_active pa join plans p on p.id = pa.plan_id
        where pa.name_key = lower(sqlc.arg(plan)::text) and (p.creator_id = sqlc.arg(person)::bigint or exists (
            select from plan_notifications n
            join target_roles r on r.name = n.role and r.target_kind = 'team'
            join targets g on g.target_id = n.target_id and g.kind = 'team'
            where n.plan_id = p.id and (g.kind_id = any(sqlc.arg(teams)::bigint[])
                or exists (select from team_members m where m.team_id = g.kind_id and m.user_id = sqlc.arg(person)::bigint))))) as owns_plan;

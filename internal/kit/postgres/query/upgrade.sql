-- What an upgrade takes away. The schema may be that of the release before, so the statement uses no column that is newer than migration 193.

-- Who did since an instant what only owners may do now. rule: 'reach' = an application that changed incidents of another one, 'open' = a person or
-- service token that opened incidents of an application, 'contacts' = an account or a used token that may only read.
-- name: LostByUpgrade :many
select x.rule::text as rule, x.who::text as who, x.object::text as object, x.times::bigint as times,
    coalesce(x.last_at, 'epoch')::timestamptz as last_at
from (
    select 'reach' as rule, t.actor as who, a.name as object, count(*) as times, max(t.at) as last_at
    from timeline_entries t
    join incidents i on i.id = t.incident_id
    join applications a on a.id = i.application_id
    where t.at > statement_timestamp() - sqlc.arg(days)::int * interval '1 day' and t.kind <> 'opened'
      and t.actor like 'application %' and t.actor <> 'application ' || a.name
    group by t.actor, a.name
    union all
    select 'open', t.actor, a.name, count(*), max(t.at)
    from timeline_entries t
    join incidents i on i.id = t.incident_id
    join applications a on a.id = i.application_id
    left join users u on u.name = t.actor
    where t.at > statement_timestamp() - sqlc.arg(days)::int * interval '1 day' and t.kind = 'opened' and a.name <> 'iris'
      and case when u.id is null then t.actor like 'service token % of team %' and not exists (
            select from teams m where m.id = a.team_id and t.actor like 'service token % of team ' || m.name)
        else not u.admin
          and not exists (select from application_owners o where o.application_id = a.id and o.user_id = u.id)
          and not exists (select from team_members m where m.team_id = a.team_id and m.user_id = u.id) end
    group by t.actor, a.name
    union all
    select 'contacts', u.name, '', 0, (select max(l.at) from audit_log l
        where l.actor = u.name and l.at > statement_timestamp() - sqlc.arg(days)::int * interval '1 day')
    from users u
    where u.read_only and u.active
    union all
    select 'contacts', u.name || ' with the token ' || k.name, '', 0, k.last_used_at
    from personal_tokens k
    join users u on u.id = k.user_id
    where k.scopes = '{read}' and not u.read_only and k.last_used_at > statement_timestamp() - sqlc.arg(days)::int * interval '1 day'
    union all
    select 'contacts', 'service token ' || k.name || coalesce(' of team ' || t.name, ' of the administrators'), '', 0, k.last_used_at
    from service_tokens k
    left join teams t on t.id = k.team_id
    where k.scopes = '{read}' and k.last_used_at > statement_timestamp() - sqlc.arg(days)::int * interval '1 day'
) x
order by x.rule desc, x.who, x.object
limit sqlc.arg(most)::int;

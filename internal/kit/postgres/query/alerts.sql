-- Alerts: the incidents of an integration, as its sender sees them.

-- The open incident with a key, else the newest of the last thousand incidents of the integration.
-- name: AlertOfKey :one
select coalesce(
    (select o.id from incidents o
        where o.application_id = sqlc.arg(application_id) and o.plan_key = chr(31) || sqlc.arg(integration_id)::bigint
          and o.dedup_key = sqlc.arg(dedup_key)::text and not o.resolved limit 1),
    (select o.id from grouped_events g join incidents o on o.id = g.incident_id
        where g.integration_id = sqlc.arg(integration_id)::bigint and g.dedup_key = sqlc.arg(dedup_key)::text
          and o.application_id = sqlc.arg(application_id) and not o.resolved and o.closed_at is null),
    (select r.id
        from (select n.id, n.dedup_key from incidents n where n.integration_id = sqlc.arg(integration_id)::bigint order by n.id desc limit 1000) r
        where r.dedup_key = sqlc.arg(dedup_key)::text order by r.id desc limit 1), 0)::bigint;

-- The newest alerts that match. Tags and priority are in the payload: the newest alerts up to searched that match
-- everything else are searched for them.
-- name: AlertIDs :many
select n.id
from (select i.id from incidents i
    where i.integration_id = sqlc.arg(integration_id)::bigint
      and (sqlc.narg(open)::boolean is null or (not i.resolved and i.closed_at is null) = sqlc.narg(open)::boolean)
      and (sqlc.narg(acknowledged)::boolean is null
        or (i.owner_id is not null or coalesce(i.source_acknowledged, false)) = sqlc.narg(acknowledged)::boolean)
      and (sqlc.arg(dedup_key)::text = '' or i.dedup_key = sqlc.arg(dedup_key)::text)
      and (sqlc.narg(created_from)::timestamptz is null or i.created_at >= sqlc.narg(created_from)::timestamptz)
      and (sqlc.narg(created_before)::timestamptz is null or i.created_at < sqlc.narg(created_before)::timestamptz)
    order by i.id desc limit sqlc.arg(searched)::int) n
where sqlc.arg(priority)::text = '' and cardinality(sqlc.arg(tags)::text[]) = 0
  or exists (select from incident_contexts c
    where c.incident_id = n.id
      and (sqlc.arg(priority)::text = ''
        or coalesce(nullif(btrim(c.context ->> 'priority'), ''), 'P3') = sqlc.arg(priority)::text)
      and sqlc.arg(tags)::text[] <@ array(select btrim(t.tag) from json_array_elements_text(
        case json_typeof(c.context -> 'tags') when 'array' then c.context -> 'tags' else '[]'::json end) as t(tag)))
order by n.id desc
limit sqlc.arg(most)::int offset sqlc.arg(skip)::int;

-- name: Alerts :many
select i.id, i.created_at, i.updated_at, (not i.resolved and i.closed_at is null)::boolean as open, i.snoozed_until, coalesce(i.source_acknowledged, false)::boolean as source_acknowledged,
    coalesce(u.name, '')::text as owner, coalesce(i.dedup_key, '')::text as dedup_key, c.context::text as context,
    coalesce(c.severity, '')::text as severity
from incidents i
join incident_contexts c on c.incident_id = i.id
left join users u on u.id = i.owner_id
where i.integration_id = sqlc.arg(integration_id)::bigint and i.id = any(sqlc.arg(ids)::bigint[])
order by i.id desc;

-- Changes the context of an incident unless somebody changed it since it was read.
-- name: EditContext :execrows
update incident_contexts set context = sqlc.arg(after)::text::json, severity = nullif(sqlc.arg(severity)::text, '')
where incident_id = sqlc.arg(id) and context::text = sqlc.arg(before)::text;

-- name: AddSourceComment :exec
insert into comments (incident_id, source, content) values (sqlc.arg(incident_id), sqlc.arg(source)::text, sqlc.arg(content));

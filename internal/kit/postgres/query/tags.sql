-- Tags that operators attach to objects, to filter by.

-- name: TagsOf :many
select object_id, name, array_agg(value order by lower(value) collate "C", value collate "C")::text[] as values
from tags
where kind = sqlc.arg(kind) and object_id = any(sqlc.arg(ids)::bigint[])
group by object_id, name
order by object_id, name;

-- name: TagObjectExists :one
select (case sqlc.arg(kind)::text
    when 'incident' then exists (select from incidents i where i.id = sqlc.arg(id)::bigint)
    when 'application' then exists (select from applications a where a.id = sqlc.arg(id)::bigint)
    when 'plan' then exists (select from plans p where p.id = sqlc.arg(id)::bigint)
    when 'template' then exists (select from templates t where t.id = sqlc.arg(id)::bigint)
    when 'target' then exists (select from targets t where t.target_id = sqlc.arg(id)::bigint)
    else false
end)::boolean as there;

-- name: ClearTag :exec
delete from tags where kind = sqlc.arg(kind) and object_id = sqlc.arg(object_id) and name = sqlc.arg(name);

-- name: AddTag :exec
insert into tags (kind, object_id, name, value)
select sqlc.arg(kind), sqlc.arg(object_id), sqlc.arg(name), unnest(sqlc.arg(values)::text[])
on conflict do nothing;

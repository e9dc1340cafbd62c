-- name: TemplateByID :one
select t.id, t.name, t.created_at, u.name as creator, t.creator_id, (ta.template_id is not null)::bool as active,
       coalesce(o.id, 0)::bigint as team_id, coalesce(o.name, '')::text as team, coalesce(o.members, '{}')::bigint[] as members,
       coalesce(o.managers, '{}')::bigint[] as managers
from templates t
join users u on u.id = t.creator_id
left join (template_owners po join owning_teams o on o.id = po.team_id) on po.name_key = lower(t.name)
left join template_active ta on ta.template_id = t.id
where t.id = @id;

-- name: TemplateByName :one
-- The active version.
select t.id, t.name, t.created_at, u.name as creator, t.creator_id, true::bool as active,
       coalesce(o.id, 0)::bigint as team_id, coalesce(o.name, '')::text as team, coalesce(o.members, '{}')::bigint[] as members,
       coalesce(o.managers, '{}')::bigint[] as managers
from template_active ta
join templates t on t.id = ta.template_id
join users u on u.id = t.creator_id
left join (template_owners po join owning_teams o on o.id = po.team_id) on po.name_key = lower(t.name)
where ta.name_key = lower(rtrim(@name::text));

-- name: TemplateContents :many
select a.name as application, c.mode, c.subject, c.body, c.email_html
from template_contents c
join applications a on a.id = c.application_id
where c.template_id = @template_id
order by lower(a.name), c.mode;

-- name: PlansOfTemplate :many
select p.id, p.name
from plan_active pa
join plans p on p.id = pa.plan_id
where exists (select from plan_notifications n where n.plan_id = p.id and lower(n.template) = lower(@name::text))
order by p.id;

-- name: InsertTemplate :one
insert into templates (name, creator_id) values (@name, @creator_id) returning id;

-- name: InsertTemplateContent :execrows
insert into template_contents (template_id, application_id, mode, subject, body, email_html)
select @template_id, a.id, @mode, @subject, @body, @email_html
from applications a where lower(a.name) = lower(rtrim(@application::text));

-- name: ActivateNewestTemplate :exec
-- Of two versions saved at once the newer one stays active.
insert into template_active (name_key, template_id)
select lower(t.name), t.id from templates t where t.id = @id
on conflict (name_key) do update set template_id = excluded.template_id
where template_active.template_id < excluded.template_id;

-- name: ActivateFirstTemplate :execrows
-- Only while the name has no active version.
insert into template_active (name_key, template_id)
select lower(v.name), v.id from templates v where v.id = @id
on conflict (name_key) do nothing;

-- name: ReplaceActiveTemplate :execrows
-- Only while the replaced version is the active one.
update template_active set template_id = @id where template_id = @replaced;

-- name: ActivateTemplate :execrows
insert into template_active (name_key, template_id)
select lower(t.name), t.id from templates t where t.id = @id
on conflict (name_key) do update set template_id = excluded.template_id;

-- name: DeactivateTemplate :execrows
delete from template_active where template_id = @id;

-- name: OwnTemplate :exec
insert into template_owners (name_key, team_id) values (lower(rtrim(@name::text)), @team_id)
on conflict (name_key) do update set team_id = excluded.team_id;

-- name: DisownTemplate :exec
delete from template_owners where name_key = lower(rtrim(@name::text));

-- name: OwnNewTemplate :exec
-- A name that has an owner keeps it.
insert into template_owners (name_key, team_id) values (lower(rtrim(@name::text)), @team_id) on conflict (name_key) do nothing;

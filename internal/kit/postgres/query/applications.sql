-- Applications: what they may do, their sealed keys, variables and modes.

-- The version of an application is the transaction that last changed its row. A trigger changes the row with the variables.
-- name: ApplicationByName :one
select id, name, key_sealed, secondary_key_sealed, auth_only, allow_other_app_incidents, allow_authenticating_users,
    allow_oncall, relay, pending_cap, paused, coalesce(default_plan, '')::text as default_plan, late_within, late_hold,
    xmin::text::bigint as version,
    array(select v.name from application_variables v where v.application_id = applications.id
        order by v.required desc, v.name)::text[] as variables
from applications
where lower(name) = lower(rtrim(@name::text));

-- name: CreateApplication :one
insert into applications (name) values (@name) returning id;

-- name: AllowDefaultModes :exec
insert into application_modes (application_id, mode)
select @application_id, name from modes where name <> 'drop'
on conflict do nothing;

-- name: LockApplication :one
select id, name, key_sealed, secondary_key_sealed from applications where id = @id for no key update;

-- name: SetApplicationKeys :exec
update applications set key_sealed = @key_sealed, secondary_key_sealed = @secondary_key_sealed where id = @id;

-- name: SetApplicationFlags :execrows
update applications
set auth_only = @auth_only, allow_other_app_incidents = @allow_other_app_incidents,
    allow_authenticating_users = @allow_authenticating_users, allow_oncall = @allow_oncall, relay = @relay, pending_cap = @pending_cap,
    paused = @paused
where id = @id;

-- name: SetApplicationIntake :execrows
update applications set default_plan = nullif(@default_plan::text, ''), late_within = @late_within, late_hold = @late_hold where id = @id;

-- name: ApplicationSettings :one
select a.id, a.name, coalesce(a.context_template, '')::text as context_template,
    coalesce(a.summary_template, '')::text as summary_template, coalesce(a.mobile_template, '')::text as mobile_template,
    coalesce(a.sample_context, '')::text as sample_context, coalesce(a.title_variable, '')::text as title_variable,
    coalesce(a.fallback_role, '')::text as fallback_role, coalesce(t.name, '')::text as fallback_target,
    array(select v.name from application_variables v where v.application_id = a.id
        order by v.required desc, v.name)::text[] as variables,
    array(select v.name from application_variables v where v.application_id = a.id and v.required
        order by v.name)::text[] as required_variables,
    array(select m.mode from application_modes m join modes o on o.name = m.mode where m.application_id = a.id
        order by o.id)::text[] as modes,
    array(select d.priority from application_default_modes d where d.application_id = a.id
        order by d.priority)::text[] as default_priorities,
    array(select d.mode from application_default_modes d where d.application_id = a.id
        order by d.priority)::text[] as default_modes,
    array(select u.name from application_owners o join users u on u.id = o.user_id where o.application_id = a.id
        order by lower(u.name))::text[] as owners
from applications a
left join named_targets t on t.target_id = a.fallback_target_id
where a.id = @id;

-- name: SetApplicationFallback :execrows
update applications set fallback_role = sqlc.narg(role), fallback_target_id = sqlc.narg(target_id) where id = @id;

-- name: UpdateApplicationSettings :execrows
update applications
set context_template = nullif(@context_template::text, ''), summary_template = nullif(@summary_template::text, ''),
    mobile_template = nullif(@mobile_template::text, ''), sample_context = nullif(@sample_context::text, ''),
    title_variable = nullif(@title_variable::text, ''), fallback_role = sqlc.narg(fallback_role),
    fallback_target_id = sqlc.narg(fallback_target_id)
where id = @id;

-- name: ClearApplicationVariables :exec
delete from application_variables where application_id = @application_id;

-- name: AddApplicationVariables :exec
insert into application_variables (application_id, name, required)
select sqlc.arg(application_id), v.name, bool_or(v.required)
from (select unnest(sqlc.arg(names)::text[]) as name, unnest(sqlc.arg(required)::boolean[]) as required) v
group by v.name;

-- name: ClearApplicationModes :exec
delete from application_modes where application_id = @application_id;

-- name: AddApplicationModes :exec
insert into application_modes (application_id, mode)
select sqlc.arg(application_id), unnest(sqlc.arg(modes)::text[]) on conflict do nothing;

-- name: ClearApplicationDefaultModes :exec
delete from application_default_modes where application_id = @application_id;

-- A default must be a mode that the application may use.
-- name: AddApplicationDefaultModes :exec
insert into application_default_modes (application_id, priority, mode)
select m.application_id, d.priority, d.mode
from (select unnest(sqlc.arg(priorities)::text[]) as priority, unnest(sqlc.arg(modes)::text[]) as mode) d
join application_modes m on m.application_id = sqlc.arg(application_id) and m.mode = d.mode;

-- name: ClearApplicationOwners :exec
delete from application_owners where application_id = @application_id;

-- name: AddApplicationOwners :exec
insert into application_owners (application_id, user_id)
select sqlc.arg(application_id), u.id from users u
where lower(u.name) = any(select lower(rtrim(n)) from unnest(sqlc.arg(names)::text[]) as n)
on conflict do nothing;

-- name: ApplicationNames :many
select name from applications where not auth_only or @with_auth_only::boolean order by lower(name);

-- name: SetApplicationMarkup :execrows
update applications set markup = @markup where id = @id;

-- name: SetApplicationTeam :exec
update applications set team_id = sqlc.narg(team_id) where lower(name) = lower(rtrim(@name::text));

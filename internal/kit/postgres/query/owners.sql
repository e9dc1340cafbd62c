-- name: LockOwnedPlan :one
-- The active team that owns the plan, 0 = none. The lock is on the active version.
select coalesce((select o.id from plan_owners po join owning_teams o on o.id = po.team_id where po.name_key = pa.name_key), 0)::bigint as team_id
from plan_active pa where pa.name_key = lower(rtrim(@name::text)) for update;

-- name: LockOwnedTemplate :one
select coalesce((select o.id from template_owners po join owning_teams o on o.id = po.team_id where po.name_key = ta.name_key), 0)::bigint as team_id
from template_active ta where ta.name_key = lower(rtrim(@name::text)) for update;

-- name: LockOwnedApplication :one
select coalesce((select o.id from owning_teams o where o.id = a.team_id), 0)::bigint as team_id
from applications a where lower(a.name) = lower(rtrim(@name::text)) for update;

-- name: OwningTeam :one
select t.id, t.name, coalesce(t.members, '{}')::bigint[] as members, coalesce(t.managers, '{}')::bigint[] as managers
from owning_teams t where t.id = @id::bigint or lower(t.name) = lower(rtrim(@name::text));

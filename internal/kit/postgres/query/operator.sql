-- Reads for the operator's command.

-- name: ListUsers :many
select u.name, u.full_name, u.admin, u.active,
       coalesce(array_agg(c.mode order by c.mode) filter (where c.mode is not null), '{}')::text[] as modes,
       coalesce(array_agg(c.destination order by c.mode) filter (where c.mode is not null), '{}')::text[] as destinations
from users u
left join user_contacts c on c.user_id = u.id
group by u.id
order by lower(u.name);

-- name: KnownNames :many
-- The names that a wrong name may have meant.
select name from teams where active and @kind::text = 'team'
union all select name from services where @kind = 'service'
union all select p.name from plan_active a join plans p on p.id = a.plan_id where @kind = 'plan'
union all select name from applications where @kind = 'application';

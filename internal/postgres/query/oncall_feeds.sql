-- Calendar feeds: the shifts that they show, and those that they show as cancelled.

-- name: FeedShifts :many
select f.feed_id, f.team_id, t.name as team, r.name as role, f.user_id, u.name as user_name, u.full_name, f.starts_at, f.ends_at, f.sequence,
    f.changed_at, f.cancelled
from (
    select s.feed_id, s.team_id, s.role_id, s.user_id, s.starts_at, s.ends_at, s.sequence, s.changed_at, false as cancelled
    from shifts s
    where s.ends_at > @since
        and (sqlc.narg(user_id)::bigint is null or s.user_id = sqlc.narg(user_id))
        and (sqlc.narg(team_id)::bigint is null or s.team_id = sqlc.narg(team_id)
            or (sqlc.arg(subscribed)::boolean and exists (select 1 from team_subscriptions b
                where b.team_id = sqlc.narg(team_id) and b.subscription_id = s.team_id and b.role_id = s.role_id)))
    union all
    select c.feed_id, c.team_id, c.role_id, c.user_id, c.starts_at, c.ends_at, c.sequence, c.changed_at, true
    from cancelled_shifts c
    where c.ends_at > @since
        and (sqlc.narg(user_id)::bigint is null or c.user_id = sqlc.narg(user_id))
        and (sqlc.narg(team_id)::bigint is null or c.team_id = sqlc.narg(team_id)
            or (sqlc.arg(subscribed)::boolean and exists (select 1 from team_subscriptions b
                where b.team_id = sqlc.narg(team_id) and b.subscription_id = c.team_id and b.role_id = c.role_id)))
        and not exists (select 1 from shifts l where l.feed_id = c.feed_id
            and (sqlc.narg(user_id)::bigint is null or l.user_id = sqlc.narg(user_id)))
) f
join teams t on t.id = f.team_id
join oncall_roles r on r.id = f.role_id
join users u on u.id = f.user_id
where (sqlc.narg(roles)::text[] is null or r.name = any(sqlc.narg(roles)::text[]))
    and not (t.name = any(sqlc.arg(excluded)::text[]))
order by f.starts_at desc, f.feed_id desc, f.sequence desc
limit sqlc.arg(max_rows)::int;

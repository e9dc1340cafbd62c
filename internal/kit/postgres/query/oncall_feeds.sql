-- Calendar feeds: the shifts that they show, and those that they show as cancelled because nobody of the feed has them any more.

-- name: UserFeed :many
select f.feed_id, f.team_id, t.name as team, r.name as role, f.user_id, u.name as user_name, u.full_name, f.starts_at, f.ends_at, f.sequence,
    f.changed_at, f.cancelled
from feed_shifts f
join teams t on t.id = f.team_id
join oncall_roles r on r.id = f.role_id
join users u on u.id = f.user_id
where f.user_id = @user_id and f.ends_at > @since
    and not (f.cancelled and exists (select 1 from shifts l where l.feed_id = f.feed_id and l.user_id = f.user_id))
    and (sqlc.narg(roles)::text[] is null or r.name = any(sqlc.narg(roles)::text[]))
    and not (t.name = any(sqlc.arg(excluded)::text[]))
order by f.starts_at desc, f.feed_id desc, f.sequence desc
limit sqlc.arg(max_rows)::int;

-- The team's own shifts, and of other_ids those that it subscribes to.
-- name: TeamFeed :many
select f.feed_id, f.team_id, t.name as team, r.name as role, f.user_id, u.name as user_name, u.full_name, f.starts_at, f.ends_at, f.sequence,
    f.changed_at, f.cancelled
from feed_shifts f
join teams t on t.id = f.team_id
join oncall_roles r on r.id = f.role_id
join users u on u.id = f.user_id
where (f.team_id = @team_id or f.team_id = any(sqlc.arg(other_ids)::bigint[])) and f.ends_at > @since
    and (f.team_id = @team_id or exists (select 1 from team_subscriptions b
        where b.team_id = @team_id and b.subscription_id = f.team_id and b.role_id = f.role_id))
    and not (f.cancelled and exists (select 1 from shifts l where l.feed_id = f.feed_id))
    and (sqlc.narg(roles)::text[] is null or r.name = any(sqlc.narg(roles)::text[]))
    and not (t.name = any(sqlc.arg(excluded)::text[]))
order by f.starts_at desc, f.feed_id desc, f.sequence desc
limit sqlc.arg(max_rows)::int;

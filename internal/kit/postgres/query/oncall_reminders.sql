-- Reminders of shifts and notices of changes.

-- name: TeamsToNotify :many
select distinct team_id::bigint as team_id from notices where bucket = any(sqlc.arg(buckets)::smallint[]) limit sqlc.arg(max_rows)::int;

-- name: TeamsToRemind :many
select distinct team_id::bigint as team_id from reminders_due where (team_id & 255) = any(sqlc.arg(buckets)::int[]) limit sqlc.arg(max_rows)::int;

-- Teams with open swap requests whose shifts have changed or begun. SwapRequest.stale has the rule.
-- name: TeamsWithOverSwaps :many
select distinct w.team_id::bigint as team_id
from swap_requests w
where w.state = 'open'
    and (sqlc.narg(team_id)::bigint is null or w.team_id = sqlc.narg(team_id))
    and (sqlc.narg(buckets)::int[] is null or (w.team_id & 255) = any(sqlc.narg(buckets)::int[]))
    and cardinality(w.give) + cardinality(w.take) <> (select count(*) from shifts s
        where s.id = any(w.give || w.take) and s.starts_at > statement_timestamp()
            and s.user_id = case when s.id = any(w.give) then w.from_id else w.to_id end)
limit sqlc.arg(max_rows)::int;

-- name: RemindersDue :many
select feed_id, user_id, user_name, user_zone, team, role, type, mode, time_before::int as time_before, edge::timestamptz as edge,
    due_at::timestamptz as due_at
from reminders_due
where team_id = @team_id
order by edge, feed_id, user_id, mode
limit sqlc.arg(max_rows)::int;

-- name: ClaimReminder :execrows
insert into reminders_made (feed_id, user_id, type, mode, due_at) values (@feed_id, @user_id, @type, @mode, @due_at) on conflict do nothing;

-- name: NoticesOfTeam :many
select n.id, t.name as team, n.kind, n.roles, n.user_ids, n.facts, n.by_id, n.note, n.unless
from notices n
join teams t on t.id = n.team_id
where n.team_id = @team_id
order by n.id
limit sqlc.arg(max_rows)::int
for update of n;

-- name: DeleteNotices :exec
delete from notices where id = any(sqlc.arg(ids)::bigint[]);

-- name: NoticeReaders :many
select distinct n.user_id, u.name, u.time_zone, n.mode
from notice_settings n
join users u on u.id = n.user_id and u.active
join notice_setting_roles nr on nr.setting_id = n.id
join oncall_roles r on r.id = nr.role_id
where n.team_id = @team_id and n.type = @kind and r.name = any(sqlc.arg(roles)::text[])
    and (n.only_if_involved is false or n.user_id = any(sqlc.arg(user_ids)::bigint[]))
order by n.user_id, n.mode;

-- name: PeopleToCheck :many
select u.id, u.name
from users u
where u.active and (u.id & 255) = any(sqlc.arg(buckets)::int[])
    and not exists (select 1 from user_contacts c where c.user_id = u.id and c.mode = 'call')
    and exists (select 1 from shifts s join oncall_roles r on r.id = s.role_id
        where s.user_id = u.id and s.ends_at > now() and s.starts_at > now() and r.name not in ('vacation', 'unavailable'))
    and not exists (select 1 from phone_checks p where p.user_id = u.id and p.told_at > clock_timestamp() - make_interval(secs => sqlc.arg(every_seconds)::float8))
order by u.id
limit sqlc.arg(max_rows)::int;

-- name: ClaimPhoneCheck :execrows
insert into phone_checks (user_id) values (@user_id)
on conflict (user_id) do update set told_at = clock_timestamp()
where phone_checks.told_at <= clock_timestamp() - make_interval(secs => sqlc.arg(every_seconds)::float8);

-- A reminder that was made long before its shift must not be made again.
-- name: ForgetReminders :execrows
delete from reminders_made where due_at < now() - interval '400 days' and made_at < now() - interval '400 days';

-- name: ForgetCancelledShifts :execrows
delete from cancelled_shifts where ends_at < now() - interval '90 days';

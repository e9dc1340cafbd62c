-- Calendars from elsewhere that became shifts.

-- name: TakenShifts :many
select k.uid, k.occurs_at, k.user_id, k.shift_id, s.starts_at, s.ends_at, s.edited, s.note, s.link_id, s.covers_id, s.schedule_id
from taken_shifts k
join oncall_roles r on r.id = k.role_id
left join shifts s on s.id = k.shift_id and s.team_id = k.team_id and s.role_id = k.role_id and s.user_id = k.user_id
where k.team_id = @team_id and r.name = @role and (k.uid = any(sqlc.arg(uids)::text[]) or k.subscription_id = sqlc.narg(subscription_id))
    and (coalesce(s.ends_at, k.occurs_at + interval '366 days') > @since)
order by k.occurs_at, k.uid, k.user_id;

-- name: NoteTakenShift :exec
insert into taken_shifts (team_id, role_id, uid, occurs_at, user_id, shift_id, subscription_id)
select @team_id, r.id, @uid, @occurs_at, @user_id, @shift_id, sqlc.narg(subscription_id) from oncall_roles r where r.name = @role
on conflict (team_id, role_id, uid, occurs_at, user_id) do update set shift_id = excluded.shift_id, subscription_id = excluded.subscription_id;

-- name: ForgetTakenShift :exec
delete from taken_shifts k using oncall_roles r
where r.id = k.role_id and r.name = @role and k.team_id = @team_id and k.uid = @uid and k.occurs_at = @occurs_at and k.user_id = @user_id;

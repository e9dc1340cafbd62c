-- The choices of people: modes, overrides, reprioritisation, categories, devices.

-- name: UserByTarget :one
select id, target_id, oncall_id, name, full_name, time_zone, admin, read_only, active, login_epoch
from users
where target_id = @target_id;

-- name: TeamsOfUser :many
select t.name from team_members m join teams t on t.id = m.team_id
where m.user_id = @user_id and m.member and t.active
order by lower(t.name);

-- name: ModesOfUser :many
select priority, mode from user_modes where user_id = @user_id;

-- name: RemoveUserMode :exec
delete from user_modes where user_id = @user_id and priority = @priority;

-- name: QuietLimitsOfUser :one
select per_day, working_days from user_quiet_limits where user_id = @user_id;

-- name: SetQuietLimits :exec
insert into user_quiet_limits (user_id, per_day, working_days) values (@user_id, sqlc.narg(per_day), @working_days)
on conflict (user_id) do update set per_day = excluded.per_day, working_days = excluded.working_days;

-- name: RemoveQuietLimits :exec
delete from user_quiet_limits where user_id = @user_id;

-- name: FollowUpsOfUser :many
select priority, mode, delay_seconds from user_follow_ups where user_id = @user_id order by priority, position;

-- name: RemoveFollowUps :exec
delete from user_follow_ups where user_id = @user_id;

-- name: AddFollowUps :exec
insert into user_follow_ups (user_id, priority, position, mode, delay_seconds)
select @user_id::bigint, unnest(sqlc.arg(priorities)::text[]), unnest(sqlc.arg(positions)::smallint[]), unnest(sqlc.arg(modes)::text[]),
    unnest(sqlc.arg(delays)::int[]);

-- name: ApplicationModesOfUser :many
select a.id as application_id, a.name as application, m.priority, m.mode
from user_application_modes m join applications a on a.id = m.application_id join priorities p on p.name = m.priority
where m.user_id = @user_id
order by lower(a.name), p.id;

-- name: SetUserApplicationMode :exec
insert into user_application_modes (user_id, application_id, priority, mode) values (@user_id, @application_id, @priority, @mode)
on conflict (user_id, application_id, priority) do update set mode = excluded.mode;

-- name: RemoveUserApplicationMode :exec
delete from user_application_modes where user_id = @user_id and application_id = @application_id and priority = @priority;

-- name: ApplicationID :one
select id from applications where lower(name) = lower(rtrim(@name::text));

-- The clock is a setting of the pages, which clients of Iris do not know.
-- name: SettingsOfUser :many
select name, value from user_settings where user_id = @user_id and name <> 'clock';

-- name: FixedTextsOfUser :many
select o.mode from user_template_overrides o join modes m on m.name = o.mode where o.user_id = @user_id order by m.id;

-- name: AddFixedText :exec
insert into user_template_overrides (user_id, mode) values (@user_id, @mode) on conflict do nothing;

-- name: RemoveFixedText :exec
delete from user_template_overrides where user_id = @user_id and mode = @mode;

-- name: ReprioritisationsOfUser :many
select r.source_mode, r.destination_mode, r.count, r.window_seconds
from user_reprioritizations r join modes m on m.name = r.source_mode
where r.user_id = @user_id
order by m.id;

-- name: SetReprioritisation :exec
insert into user_reprioritizations (user_id, source_mode, destination_mode, count, window_seconds)
values (@user_id, @source_mode, @destination_mode, @count, @window_seconds)
on conflict (user_id, source_mode) do update
set destination_mode = excluded.destination_mode, count = excluded.count, window_seconds = excluded.window_seconds;

-- name: RemoveReprioritisation :execrows
delete from user_reprioritizations where user_id = @user_id and source_mode = @source_mode;

-- An empty name of an application means all of them.
-- name: CategoryChoicesOfUser :many
select a.name as application, c.name as category, o.mode
from category_overrides o
join notification_categories c on c.id = o.category_id
join applications a on a.id = c.application_id
where o.user_id = @user_id and (@application::text = '' or lower(a.name) = lower(rtrim(@application::text)))
order by c.id;

-- name: CategoryID :one
select c.id from notification_categories c join applications a on a.id = c.application_id
where lower(a.name) = lower(rtrim(@application::text)) and lower(c.name) = lower(rtrim(@category::text));

-- name: SetCategoryChoice :exec
insert into category_overrides (user_id, category_id, mode) values (@user_id, @category_id, @mode)
on conflict (user_id, category_id) do update set mode = excluded.mode;

-- name: RemoveCategoryChoice :exec
delete from category_overrides where user_id = @user_id and category_id = @category_id;

-- name: RemoveCategoryChoices :exec
delete from category_overrides o
using notification_categories c, applications a
where o.category_id = c.id and c.application_id = a.id and o.user_id = @user_id
  and lower(a.name) = lower(rtrim(@application::text));

-- name: DevicesOfUser :many
select registration_id, platform from devices where user_id = @user_id and active order by id;

-- Registers a phone again that now belongs to another person or was deactivated.
-- name: RegisterDevice :exec
insert into devices (registration_id, user_id, platform) values (@registration_id, @user_id, @platform)
on conflict (registration_id) do update set user_id = excluded.user_id, platform = excluded.platform, active = true;


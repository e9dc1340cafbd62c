-- Teams as the on-call API shows them: settings, members, administrators, services, subscriptions.

-- name: OncallTeams :many
select id, oncall_id, name, coalesce(email, '')::text as email, active from teams where active = @active order by id;

-- name: OncallTeamByName :one
select id, target_id, oncall_id, name, description, time_zone, active, email, slack_channel, slack_channel_notifications, iris_plan,
    iris_enabled, override_phone, api_managed
from teams
where lower(name) = lower(@name);

-- name: OncallTeamByID :one
select id, target_id, oncall_id, name, description, time_zone, active, email, slack_channel, slack_channel_notifications, iris_plan,
    iris_enabled, override_phone, api_managed
from teams
where id = @id;

-- name: CreateOncallTeam :one
insert into teams (name, description, time_zone, email, slack_channel, slack_channel_notifications, iris_plan, iris_enabled,
    override_phone, api_managed)
values (@name, @description, @time_zone, sqlc.narg(email), sqlc.narg(slack_channel), sqlc.narg(slack_channel_notifications),
    sqlc.narg(iris_plan), @iris_enabled, sqlc.narg(override_phone), @api_managed)
returning id, oncall_id;

-- name: UpdateOncallTeam :execrows
update teams
set name = @name, description = @description, time_zone = @time_zone, email = sqlc.narg(email),
    slack_channel = sqlc.narg(slack_channel), slack_channel_notifications = sqlc.narg(slack_channel_notifications),
    iris_plan = sqlc.narg(iris_plan), iris_enabled = @iris_enabled, override_phone = sqlc.narg(override_phone),
    api_managed = @api_managed, calendar_version = nextval('calendar_versions')
where id = @id;

-- name: RetireTeam :execrows
update teams set active = false, name = @new_name, calendar_version = nextval('calendar_versions') where id = @id and active;

-- name: RememberDeletedTeam :exec
insert into deleted_teams (team_id, old_name, new_name) values (@team_id, @old_name, @new_name);

-- name: DeleteFutureShifts :exec
delete from shifts where team_id = @team_id and starts_at > statement_timestamp();

-- name: TeamPeople :many
select u.id, u.name, m.member, m.admin, u.active,
    exists (select from managed_members x where x.team_id = m.team_id and x.user_id = m.user_id)::bool as managed
from team_members m
join users u on u.id = m.user_id
where m.team_id = @team_id
order by m.position, m.user_id;

-- name: AllTeamUsers :many
select t.name as team, u.name as user_name
from team_members m
join teams t on t.id = m.team_id
join users u on u.id = m.user_id
where m.member
order by t.id, m.position, u.id;

-- name: JoinTeam :execrows
insert into team_members (team_id, user_id, position)
select @team_id, @user_id, coalesce(max(position), 0) + 1 from team_members where team_id = @team_id
on conflict (team_id, user_id) do update set member = true where not team_members.member;

-- name: MakeTeamAdmin :execrows
insert into team_members (team_id, user_id, position, admin)
select @team_id, @user_id, coalesce(max(position), 0) + 1, true from team_members where team_id = @team_id
on conflict (team_id, user_id) do update set admin = true, member = true where not team_members.admin;

-- name: LeaveTeam :execrows
update team_members set member = false where team_id = @team_id and user_id = @user_id and member;

-- name: UnmakeTeamAdmin :execrows
update team_members set admin = false where team_id = @team_id and user_id = @user_id and admin;

-- name: TidyTeamMembers :exec
delete from team_members where team_id = @team_id and not member and not admin;

-- Removes those of the people who are in no roster of the team and do not administer it. Returns the removed people.
-- name: LeaveTeamIfNothing :many
delete from team_members m
where m.team_id = @team_id and m.user_id = any(sqlc.arg(user_ids)::bigint[]) and not m.admin
    and not exists (select from managed_members x where x.team_id = m.team_id and x.user_id = m.user_id)
    and not exists (select 1 from roster_members rm join rosters r on r.id = rm.roster_id
        where r.team_id = m.team_id and rm.user_id = m.user_id)
returning m.user_id;

-- name: DropNoticeSettings :exec
delete from notice_settings where team_id = @team_id and user_id = any(sqlc.arg(user_ids)::bigint[]);

-- name: HasNoticeSettings :one
select exists (select 1 from notice_settings where team_id = @team_id and user_id = @user_id)::boolean;

-- name: Memberships :many
select team_id, member, admin from team_members where user_id = @user_id;

-- name: TeamServices :many
select s.name from team_services ts join services s on s.id = ts.service_id where ts.team_id = @team_id order by s.id;

-- name: AllTeamServices :many
select t.name as team, s.name as service
from team_services ts
join teams t on t.id = ts.team_id
join services s on s.id = ts.service_id
order by t.id, s.id;

-- name: TeamSubscriptions :many
select s.subscription_id, t.name as subscription, r.name as role
from team_subscriptions s
join teams t on t.id = s.subscription_id
join oncall_roles r on r.id = s.role_id
where s.team_id = any(sqlc.arg(team_ids)::bigint[]) and t.active
order by s.team_id, t.name, r.display_order;

-- name: Subscribe :execrows
insert into team_subscriptions (team_id, subscription_id, role_id) values (@team_id, @subscription_id, @role_id)
on conflict do nothing;

-- name: Unsubscribe :execrows
delete from team_subscriptions where team_id = @team_id and subscription_id = @subscription_id and role_id = @role_id;

-- name: AppendOncallAudit :exec
insert into oncall_audit (owner, team, action, context) values (@owner, @team, @action, @context);

-- name: OncallAudit :many
select owner, team, action, at, context
from oncall_audit
where (sqlc.narg(teams)::text[] is null or team = any(sqlc.narg(teams)::text[]))
    and (sqlc.narg(owners)::text[] is null or owner = any(sqlc.narg(owners)::text[]))
    and (sqlc.narg(actions)::text[] is null or action = any(sqlc.narg(actions)::text[]))
    and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
    and (sqlc.narg(until)::timestamptz is null or at <= sqlc.narg(until))
order by id
limit sqlc.arg(max_rows)::int;

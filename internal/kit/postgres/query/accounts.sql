-- People as administrators see them: accounts, roles, and who can be reached.

-- In the order of the names as bytes, as Go compares them.
-- name: PeoplePage :many
select u.id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active,
    array(select c.mode from user_contacts c join modes m on m.name = c.mode where c.user_id = u.id order by m.id)::text[] as modes,
    coalesce((select d.source from directory_people d where d.user_id = u.id), '')::text as managed_by,
    coalesce(greatest((select max(s.created_at) from sessions s where s.user_id = u.id),
        (select max(k.logged_in_at) from known_addresses k where k.user_id = u.id)), 'epoch')::timestamptz as logged_in_at
from users u
where (@name::text = '' and u.active = @active and u.name collate "C" > @after::text or lower(u.name) = lower(rtrim(@name)))
    and (@keyword::text = '' or position(lower(@keyword) in lower(u.name)) > 0 or position(lower(@keyword) in lower(u.full_name)) > 0)
    and (@role::text = '' or @role = case when u.admin then 'admin' when u.read_only then 'read_only' else 'member' end)
    and (@team::text = '' or exists (select from team_members m join teams t on t.id = m.team_id
        where m.user_id = u.id and m.member and t.active and lower(t.name) = lower(@team)))
    and (@without::text = '' or not exists (select from user_contacts c
        where c.user_id = u.id and (@without = 'contact' or c.mode in ('sms', 'call'))))
order by u.name collate "C"
limit @most;

-- The first row counts all active people; the others those of each team, which may have none.
-- name: Reachability :many
with reached as (
    select u.id, array(select c.mode from user_contacts c where c.user_id = u.id)::text[] as modes from users u where u.active
), grouped as (
    select ''::text as team, r.modes from reached r
    union all
    select t.name, r.modes from teams t left join (team_members m join reached r on r.id = m.user_id and m.member) on m.team_id = t.id where t.active
)
select team, count(modes)::int as people, count(*) filter (where not modes && '{sms,call}'::text[])::int as without_phone,
    count(*) filter (where modes = '{}')::int as without_contact, count(*) filter (where 'email' = any(modes))::int as email,
    count(*) filter (where 'sms' = any(modes))::int as sms, count(*) filter (where 'call' = any(modes))::int as call,
    count(*) filter (where 'slack' = any(modes))::int as slack, count(*) filter (where 'push' = any(modes))::int as push,
    count(*) filter (where 'webhook' = any(modes))::int as webhook
from grouped group by team order by team <> '', lower(team);

-- name: ManagedBy :one
select coalesce((select d.source from directory_people d where d.user_id = @user_id), '')::text;

-- name: SetUserSetting :exec
insert into user_settings (user_id, name, value) values (@user_id, @name, @value)
on conflict (user_id, name) do update set value = excluded.value;

-- name: RemoveUserSetting :exec
delete from user_settings where user_id = @user_id and name = @name;

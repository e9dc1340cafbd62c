-- About which changes of shifts people are notified, and the secret addresses of calendar feeds.

-- name: NoticeTypes :many
select name, is_reminder from notice_types order by position;

-- name: NoticeSettings :many
select n.id, n.user_id, u.name as user_name, n.team_id, t.name as team, n.mode, n.type, y.is_reminder, n.time_before, n.only_if_involved,
    array(select r.name from notice_setting_roles nr join oncall_roles r on r.id = nr.role_id
        where nr.setting_id = n.id order by r.display_order, r.id)::text[] as roles
from notice_settings n
join teams t on t.id = n.team_id
join users u on u.id = n.user_id
join notice_types y on y.name = n.type
where (sqlc.narg(id)::bigint is null or n.id = sqlc.narg(id))
    and (sqlc.narg(user_id)::bigint is null or n.user_id = sqlc.narg(user_id))
order by n.id;

-- name: CreateNoticeSetting :one
insert into notice_settings (user_id, team_id, mode, type, time_before, only_if_involved)
values (@user_id, @team_id, @mode, @type, sqlc.narg(time_before), sqlc.narg(only_if_involved))
returning id;

-- name: UpdateNoticeSetting :execrows
update notice_settings
set team_id = @team_id, mode = @mode, type = @type, time_before = sqlc.narg(time_before), only_if_involved = sqlc.narg(only_if_involved)
where id = @id;

-- name: LockNoticeSetting :one
select id from notice_settings where id = @id for no key update;

-- name: DeleteNoticeSetting :execrows
delete from notice_settings where id = @id;

-- name: ClearNoticeRoles :exec
delete from notice_setting_roles where setting_id = @setting_id;

-- name: AddNoticeRoles :execrows
insert into notice_setting_roles (setting_id, role_id)
select @setting_id, r.id from oncall_roles r where lower(r.name) = any(sqlc.arg(roles)::text[]);

-- Queues notices in the order of a JSON list.
-- name: QueueNotices :exec
insert into notices (team_id, kind, roles, user_ids, facts, by_id, note, unless)
select (n.value ->> 'team_id')::bigint, n.value ->> 'kind', array(select jsonb_array_elements_text(n.value -> 'roles')),
    array(select jsonb_array_elements_text(n.value -> 'user_ids')::bigint), n.value -> 'facts', nullif((n.value ->> 'by_id')::bigint, 0),
    n.value ->> 'note', nullif(n.value ->> 'unless', '')
from jsonb_array_elements(sqlc.arg(notices)::jsonb) with ordinality n (value, place)
order by n.place;

-- The key of a person who is switched off is not valid. The column key of a sealed row holds a hash, which is not a valid key.
-- name: IcalKeys :many
select k.key, k.key_sealed, k.requester_id, q.name as requester, k.user_id, k.team_id, coalesce(u.name, t.name, '')::text as name, k.created_at
from ical_keys k
join users q on q.id = k.requester_id
left join users u on u.id = k.user_id
left join teams t on t.id = k.team_id
where (sqlc.narg(key)::text is null
        or (k.key = sqlc.narg(key) and k.key_sealed is null or k.key = sqlc.narg(hash)::text and k.key_sealed is not null) and q.active)
    and (sqlc.narg(requester_id)::bigint is null or k.requester_id = sqlc.narg(requester_id))
    and (sqlc.narg(user_id)::bigint is null or k.user_id = sqlc.narg(user_id))
    and (sqlc.narg(team_id)::bigint is null or k.team_id = sqlc.narg(team_id))
order by k.created_at, k.key;

-- name: DropIcalKey :exec
delete from ical_keys
where requester_id = @requester_id
    and (user_id = sqlc.narg(user_id) or team_id = sqlc.narg(team_id));

-- name: CreateIcalKey :exec
insert into ical_keys (key, key_sealed, requester_id, user_id, team_id)
values (@hash, @key_sealed, @requester_id, sqlc.narg(user_id), sqlc.narg(team_id));

-- name: DeleteIcalKey :execrows
delete from ical_keys where key = @key and key_sealed is null or key = @hash and key_sealed is not null;

-- name: ClearIcalKeys :many
select key from ical_keys where key_sealed is null order by key limit sqlc.arg(max_rows)::int;

-- Seals rows that hold one of the keys in clear, or only a hash yet.
-- name: SealIcalKeys :execrows
update ical_keys k set key = n.hash, key_sealed = n.key_sealed
from (select unnest(sqlc.arg(keys)::text[]) as key, unnest(sqlc.arg(hashes)::text[]) as hash, unnest(sqlc.arg(sealed)::bytea[]) as key_sealed) n
where k.key = n.key and k.key_sealed is null and not exists (select from ical_keys o where o.key = n.hash and o.key <> k.key);

-- name: DeleteIcalKeysOf :execrows
delete from ical_keys where requester_id = @requester_id;

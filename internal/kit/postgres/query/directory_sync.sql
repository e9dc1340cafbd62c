-- People and mailing lists as a directory gave them.

-- name: DirectoryPeople :many
select u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active, u.login_epoch, u.photo_url,
    coalesce(d.source, '')::text as source, coalesce(d.stable_id, '')::text as stable_id, coalesce(d.switched_off, false)::bool as switched_off,
    array(select c.mode from user_contacts c where c.user_id = u.id order by c.mode)::text[] as contact_modes,
    array(select c.destination from user_contacts c where c.user_id = u.id order by c.mode)::text[] as destinations,
    array(select g.mode from directory_contacts g where g.user_id = u.id order by g.mode)::text[] as given_modes,
    array(select g.destination from directory_contacts g where g.user_id = u.id order by g.mode)::text[] as given_destinations
from users u
left join directory_people d on d.user_id = u.id
where sqlc.narg(name)::text is null or lower(u.name) = lower(rtrim(sqlc.narg(name)::text))
    or d.stable_id = @stable_id::text and d.source = @source::text
order by u.id;

-- name: KeepDirectoryPerson :exec
insert into directory_people (user_id, source, switched_off, stable_id) values (@user_id, @source, @switched_off, nullif(@stable_id::text, ''))
on conflict (user_id) do update set source = excluded.source, switched_off = excluded.switched_off,
    stable_id = coalesce(excluded.stable_id, case when directory_people.source = excluded.source then directory_people.stable_id end);

-- name: DropDirectoryContacts :exec
delete from directory_contacts where user_id = @user_id;

-- name: KeepDirectoryContact :exec
insert into directory_contacts (user_id, mode, destination) values (@user_id, @mode, @destination);

-- name: KnownMailingLists :many
select l.id, l.name, l.active, l.member_count, (d.list_id is not null)::bool as kept,
    array(select u.name from mailing_list_members m join users u on u.id = m.user_id where m.list_id = l.id order by u.name)::text[] as members
from mailing_lists l
left join directory_lists d on d.list_id = l.id
order by l.id;

-- name: CreateMailingList :one
insert into mailing_lists (name, member_count) values (@name, @member_count) returning id;

-- name: UpdateMailingList :execrows
update mailing_lists set active = true, member_count = @member_count where id = @id;

-- name: SwitchOffMailingList :execrows
update mailing_lists set active = false where id = @id;

-- name: KeepDirectoryList :exec
insert into directory_lists (list_id) values (@list_id) on conflict do nothing;

-- name: TrimMailingList :exec
delete from mailing_list_members m
using users u
where m.list_id = @list_id and u.id = m.user_id and lower(u.name) <> all(select lower(n) from unnest(sqlc.arg(names)::text[]) as n);

-- name: FillMailingList :exec
insert into mailing_list_members (list_id, user_id)
select @list_id, u.id from users u where lower(u.name) = any(select lower(n) from unnest(sqlc.arg(names)::text[]) as n)
on conflict do nothing;

-- name: DirectoryAskedLately :one
select exists (
    select from directory_syncs s
    where s.source = @source
        and s.tried_at > clock_timestamp() - make_interval(secs => case when s.problem = '' then @every_seconds::float8 else least(@every_seconds::float8, @again_seconds::float8) end)
)::bool;

-- name: NoteDirectorySync :exec
insert into directory_syncs (source, succeeded_at, problem)
values (@source, case when @problem::text = '' then clock_timestamp() end, @problem::text)
on conflict (source) do update set tried_at = clock_timestamp(), problem = excluded.problem,
    succeeded_at = coalesce(excluded.succeeded_at, directory_syncs.succeeded_at);

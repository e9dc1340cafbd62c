-- Mailing lists.

-- name: DirectoryLists :many
select l.target_id, l.name, l.active, l.member_count,
    array(select m.user_id from mailing_list_members m where m.list_id = l.id order by m.user_id)::bigint[] as members
from mailing_lists l
where l.target_id = any(sqlc.arg(target_ids)::bigint[]);

-- Whether a person is on any of the lists of these names.
-- name: OnAnyList :one
select exists (
    select from mailing_list_members m
    join mailing_lists l on l.id = m.list_id
    join users u on u.id = m.user_id
    where lower(u.name) = lower(rtrim(@name::text)) and lower(l.name) = any(select lower(rtrim(n)) from unnest(sqlc.arg(lists)::text[]) as n)
)::bool;

-- Lists of targets, which plans may name.

-- Names over all kinds, each once, in the order of the predecessor's database: letters before underscores.
-- name: TargetNames :many
select name from (
    select distinct on (lower(name)) name from targets
    where lower(name) like lower(@pattern::text)
    order by lower(name), target_id
) t
order by upper(name) collate "C", name;

-- name: TargetExists :one
select exists (select from targets where lower(name) = lower(rtrim(@name::text)))::bool;

-- The modes that priorities mean where nobody chose one.

-- name: PriorityModes :many
select p.name, p.default_mode from priorities p order by p.id;

-- name: SetPriorityMode :execrows
update priorities set default_mode = @mode where name = @name;

-- name: ServerClock :one
select clock_timestamp()::timestamptz as now;

-- name: LockIdempotencyKey :exec
-- Waits for another request with the same key; the database releases it when the process dies. Different keys that share a hash only wait
-- for each other.
select pg_advisory_xact_lock(hashtextextended(concat_ws(' ', 'idempotency', @application_id::bigint, @route::text, @key::text), 0));

-- name: IdempotentAnswer :one
select body_hash, status, location, body from idempotency_keys
where application_id = @application_id and route = @route and key = @key
  and created_at >= statement_timestamp() - make_interval(secs => @keep_seconds::float8);

-- name: KeepIdempotentAnswer :exec
-- Replaces an answer that was too old to be given.
insert into idempotency_keys (application_id, route, key, body_hash, status, location, body)
values (@application_id, @route, @key, @body_hash, @status, @location, @body)
on conflict (application_id, route, key) do update
set body_hash = excluded.body_hash, status = excluded.status, location = excluded.location, body = excluded.body,
    created_at = clock_timestamp();

-- name: ExpireIdempotencyKeys :execrows
delete from idempotency_keys
where (application_id, route, key) in (
    select k.application_id, k.route, k.key from idempotency_keys k
    where k.created_at < statement_timestamp() - make_interval(secs => @keep_seconds::float8)
    order by k.created_at limit @most::int);

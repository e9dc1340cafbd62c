-- name: ClaimIdempotencyKey :execrows
-- Takes the key for a request that is about to run. A claim whose request never finished, and an answer that is too
-- old, are taken over.
insert into idempotency_keys (application_id, route, key, body_hash)
values (@application_id, @route, @key, @body_hash)
on conflict (application_id, route, key) do update
set body_hash = excluded.body_hash, status = null, location = null, body = null, opened = null, created_at = clock_timestamp()
where idempotency_keys.created_at < clock_timestamp() - make_interval(secs => @keep_seconds::float8)
   or (idempotency_keys.status is null
       and idempotency_keys.opened is null
       and idempotency_keys.created_at < clock_timestamp() - make_interval(secs => @abandoned_seconds::float8)
       and idempotency_keys.body_hash = excluded.body_hash);

-- name: IdempotencyKey :one
select body_hash, status, location, body, opened from idempotency_keys
where application_id = @application_id and route = @route and key = @key;

-- name: StoreIdempotentAnswer :exec
update idempotency_keys set status = @status, location = @location, body = @body
where application_id = @application_id and route = @route and key = @key and body_hash = @body_hash and status is null;

-- One that opened an incident stays, whatever its request was told: the commit may have been answered by nobody.
-- name: ReleaseIdempotencyKey :exec
delete from idempotency_keys
where application_id = @application_id and route = @route and key = @key and body_hash = @body_hash and status is null and opened is null;

-- name: ExpireIdempotencyKeys :execrows
delete from idempotency_keys
where (application_id, route, key) in (
    select k.application_id, k.route, k.key from idempotency_keys k
    where k.created_at < clock_timestamp() - make_interval(secs => @keep_seconds::float8)
    order by k.created_at limit 5000);

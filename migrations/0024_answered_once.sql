-- +goose Up

-- The answer to a request with an Idempotency-Key is written in the transaction of what the request did, so a row is an answer:
-- no request holds its key by a row while it runs. What an older release opened but did not live to answer gets its answer here.
update idempotency_keys set status = 201, location = '/incidents/' || opened, body = convert_to(opened::text, 'UTF8')
where status is null and opened is not null;
delete from idempotency_keys where status is null;
alter table idempotency_keys drop column opened, alter column status set not null;
comment on table idempotency_keys is 'answers kept for the Idempotency-Key header, for 24 hours';

-- +goose Down
alter table idempotency_keys add column opened bigint, alter column status drop not null;

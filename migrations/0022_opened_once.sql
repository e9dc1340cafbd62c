-- +goose Up

-- What a request with an Idempotency-Key opened is known from the instant of its commit on, even if the process that served it
-- did not live to store the answer.
alter table idempotency_keys add column opened bigint;
comment on column idempotency_keys.opened is 'incident that the request opened, written with it; null = none. Such a request is not run again';

-- +goose Down
alter table idempotency_keys drop column opened;

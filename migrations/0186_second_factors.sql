-- +goose Up

-- The second factors of people who log in with a password: time-based codes (RFC 6238) of an authenticator.
create table second_factors (
    user_id    bigint primary key references users (id) on delete cascade,
    secret     bytea not null,
    last_step  bigint not null,
    failures   int not null default 0,
    retry_at   timestamptz,
    created_at timestamptz not null default clock_timestamp()
);
comment on column second_factors.secret is 'encrypted with a key of the installation';
comment on column second_factors.last_step is 'the newest period of 30 s whose code was used; codes of this and earlier periods are refused';
comment on column second_factors.failures is 'wrong codes since the last right one';
comment on column second_factors.retry_at is 'codes before this instant are refused; null = none are';

-- Codes that replace the authenticator. A used code has no row.
create table recovery_codes (
    user_id bigint not null references second_factors (user_id) on delete cascade,
    hash    bytea not null,
    primary key (user_id, hash)
);
comment on column recovery_codes.hash is 'keyed hash';
insert into schema_compatibility (version, oldest) values (186, 167);

-- +goose Down
delete from schema_compatibility where version = 186;
drop table recovery_codes, second_factors;

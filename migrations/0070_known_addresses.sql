-- +goose Up

-- An address from which somebody logged in is not slowed down by wrong passwords. Addresses are stored as keyed hashes.
create table known_addresses (
    user_id bigint not null references users (id) on delete cascade,
    address bytea not null,
    logged_in_at timestamptz not null default clock_timestamp(),
    primary key (user_id, address)
);
comment on table known_addresses is 'where people logged in during the last 90 days: the newest 20 addresses of each';
comment on column known_addresses.address is 'HMAC of the address with a key of the installation';
create index known_addresses_logged_in on known_addresses (logged_in_at);
insert into schema_compatibility (version, oldest) values (70, 26);

-- +goose Down
delete from schema_compatibility where version = 70;
drop table known_addresses;

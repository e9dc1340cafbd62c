-- +goose Up

-- Links with which people set a new password.
create table password_resets (
    hash        bytea primary key,
    user_id     bigint not null references users (id) on delete cascade,
    destination text not null,
    login_epoch int not null,
    created_at  timestamptz not null default clock_timestamp(),
    expires_at  timestamptz not null,
    used_at     timestamptz
);
create index password_resets_user on password_resets (user_id, created_at);
create index password_resets_age on password_resets (created_at);
comment on column password_resets.hash is 'SHA-256 of the token in the link';
comment on column password_resets.destination is 'the e-mail contact that got the link; the link is void when the contact changes';
comment on column password_resets.login_epoch is 'that of the person when the link was made; another password makes the link void';
insert into schema_compatibility (version, oldest) values (187, 167);

-- +goose Down
delete from schema_compatibility where version = 187;
drop table password_resets;

-- +goose Up

create table token_grants (
    hash       bytea primary key,
    user_id    bigint not null references users (id) on delete cascade,
    name       text not null,
    scopes     text[] not null,
    challenge  text not null,
    expires_at timestamptz not null
);
comment on table token_grants is 'tokens that people allowed to a command line, until it exchanges the code for the token';
comment on column token_grants.hash is 'SHA-256 of the code';
comment on column token_grants.challenge is 'SHA-256 of the verifier that the command line keeps (RFC 7636), base64url';
create index token_grants_user on token_grants (user_id);
create index token_grants_age on token_grants (expires_at);
insert into schema_compatibility (version, oldest) values (171, 167);

-- +goose Down
delete from schema_compatibility where version = 171;
drop table token_grants;

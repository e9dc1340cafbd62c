-- Tokens that people allowed to a command line.

-- name: AddTokenGrant :exec
insert into token_grants (hash, user_id, name, scopes, challenge, expires_at)
values (@hash, @user_id, @name, @scopes, @challenge, clock_timestamp() + sqlc.arg(life_seconds)::bigint * interval '1 second');

-- name: TakeTokenGrant :one
delete from token_grants g
where g.hash = @hash
returning g.user_id, (select u.name from users u where u.id = g.user_id)::text as user_name, g.name, g.scopes, g.challenge,
    (g.expires_at > statement_timestamp() and exists (select 1 from users u where u.id = g.user_id and u.active))::boolean as valid;

-- name: DeleteExpiredTokenGrants :exec
delete from token_grants where expires_at < statement_timestamp();

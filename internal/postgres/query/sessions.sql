-- Web sessions. Tokens are stored hashed.

-- name: FindSession :one
select data from sessions where token = @token and expiry > clock_timestamp();

-- name: CommitSession :exec
insert into sessions (token, data, expiry) values (@token, @data, @expiry)
on conflict (token) do update set data = excluded.data, expiry = excluded.expiry;

-- name: DeleteSession :exec
delete from sessions where token = @token;

-- name: DeleteExpiredSessions :execrows
delete from sessions where expiry <= clock_timestamp();

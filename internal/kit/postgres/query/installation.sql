-- name: CreateInstallation :exec
insert into installation (name, secret) values (@name, @secret) on conflict do nothing;

-- name: Installation :one
select name, secret, wrapped, data_shape from installation;

-- name: LockInstallation :one
select name, secret, wrapped, data_shape from installation for update;

-- name: WrapInstallation :exec
update installation set secret = @secret, wrapped = @wrapped;

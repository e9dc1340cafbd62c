-- Second factors of log-ins with a password. A used recovery code has no row.

-- name: SecondFactor :one
select secret, last_step, failures, coalesce(retry_at, 'epoch')::timestamptz as retry_at, created_at,
    array(select c.hash from recovery_codes c where c.user_id = f.user_id)::bytea[] as recovery
from second_factors f
where f.user_id = @user_id;

-- name: LockSecondFactor :exec
select user_id from second_factors where user_id = @user_id for update;

-- name: SaveSecondFactor :exec
insert into second_factors (user_id, secret, last_step) values (@user_id, @secret, @last_step)
on conflict (user_id) do update
set secret = excluded.secret, last_step = excluded.last_step, failures = 0, retry_at = null, created_at = clock_timestamp();

-- name: RecordSecondFactor :exec
update second_factors set last_step = @last_step, failures = @failures, retry_at = sqlc.narg(retry_at) where user_id = @user_id;

-- name: UseRecoveryCode :execrows
delete from recovery_codes where user_id = @user_id and hash = @hash;

-- name: DeleteRecoveryCodes :exec
delete from recovery_codes where user_id = @user_id;

-- name: AddRecoveryCodes :exec
insert into recovery_codes (user_id, hash) select @user_id, unnest(sqlc.arg(hashes)::bytea[]);

-- name: DeleteSecondFactor :execrows
delete from second_factors where user_id = @user_id;

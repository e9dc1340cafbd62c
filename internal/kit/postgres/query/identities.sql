-- Accounts of people at identity providers, and what follows from them.

-- name: LinkedUser :one
select u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active, u.login_epoch, i.granted_role
from user_identities i join users u on u.id = i.user_id
where i.issuer = @issuer and i.subject = @subject;

-- name: UserByCanonicalName :one
select id, target_id, oncall_id, name, full_name, time_zone, admin, read_only, active, login_epoch
from users
where canonical_name = @canonical_name::text or lower(name) = lower(@name::text)
order by id limit 1;

-- name: UserByVerifiedEmail :one
-- The person who proved the address, or to whom a directory gives it. One that others set links nobody.
select u.id, u.target_id, u.oncall_id, u.name, u.full_name, u.time_zone, u.admin, u.read_only, u.active, u.login_epoch,
    exists (select from user_identities i where i.user_id = u.id)::bool as linked
from user_contacts c join users u on u.id = c.user_id
where c.mode = 'email' and c.verified_destination = c.destination and contact_key(c.mode, c.destination) = contact_key('email', @email::text)
    and (c.recovery_destination = c.destination
        or exists (select from directory_contacts d where d.user_id = c.user_id and d.mode = c.mode and d.destination = c.destination))
limit 1;

-- name: LinkIdentity :one
insert into user_identities (user_id, provider, issuer, subject) values (@user_id, @provider, @issuer, @subject)
returning id;

-- The last administrator keeps the role, and also the mark that groups gave it.
-- name: LoggedInWith :exec
update user_identities i set last_login_at = clock_timestamp(),
    granted_role = case when @granted_role::text = '' and i.granted_role = 'admin' and u.admin then 'admin' else @granted_role::text end
from users u
where u.id = i.user_id and i.issuer = @issuer and i.subject = @subject;

-- name: ForgetRefusedIdentity :exec
delete from refused_identities where issuer = @issuer and subject = @subject;

-- name: RefuseIdentity :exec
insert into refused_identities as r (provider, issuer, subject, name, email, reason) values (@provider, @issuer, @subject, @name, @email, @reason)
on conflict (issuer, subject) do update
set provider = excluded.provider, name = excluded.name, email = excluded.email, reason = excluded.reason, attempts = r.attempts + 1,
    last_at = clock_timestamp();

-- name: ForgetOldRefusedIdentities :exec
delete from refused_identities where last_at < statement_timestamp() - interval '30 days';

-- The last active administrator stays one.
-- name: SetRole :execrows
update users u set read_only = @read_only,
    admin = @admin or u.admin and not exists (select from users o where o.admin and o.active and o.id <> u.id)
where u.id = @id and (u.admin, u.read_only) is distinct from (@admin::bool, @read_only::bool);

-- name: LockAdmins :exec
select pg_advisory_xact_lock(hashtextextended('iris administrators', 0));

-- name: TeamsByName :many
select id, name from teams where active and lower(name) = any (select lower(n) from unnest(@names::text[]) n);

-- name: ManagedTeams :many
select m.team_id, t.name from managed_members m join teams t on t.id = m.team_id where m.user_id = @user_id and m.issuer = @issuer;

-- name: ManageMember :exec
insert into managed_members (team_id, user_id, issuer) values (@team_id, @user_id, @issuer) on conflict (team_id, user_id, issuer) do nothing;

-- name: UnmanageMember :exec
delete from managed_members where team_id = @team_id and user_id = @user_id and issuer = @issuer;

-- name: IsManagedMember :one
select exists (select from managed_members where team_id = @team_id and user_id = @user_id)::bool;

-- name: Identities :many
select i.id, i.provider, i.issuer, i.subject, u.name as user_name, i.created_at, i.last_login_at
from user_identities i join users u on u.id = i.user_id
where i.id > @after and (@user_name::text = '' or lower(u.name) = lower(@user_name))
order by i.id limit sqlc.arg(most)::int;

-- name: IdentityOf :one
select id from user_identities where user_id = @user_id and issuer = @issuer and subject = @subject;

-- name: UnlinkIdentity :one
with gone as (delete from user_identities where user_identities.id = @id returning user_id, provider, issuer, subject)
select u.id as user_id, u.name, g.provider, g.issuer, g.subject from gone g join users u on u.id = g.user_id;

-- name: RefusedIdentities :many
select id, provider, issuer, subject, name, email, reason, attempts, last_at from refused_identities
where id > @after order by id limit sqlc.arg(most)::int;

-- name: UseOnce :execrows
insert into used_values (value, expires_at) values (@value, clock_timestamp() + make_interval(secs => sqlc.arg(keep_seconds)::float8))
on conflict (value) do nothing;

-- name: ForgetUsedValues :exec
delete from used_values where expires_at < statement_timestamp();

-- name: LinkSession :exec
insert into session_identities (token, issuer, subject, sid, id_token) values (@token, @issuer, @subject, @sid, @id_token);

-- name: SessionIdentity :one
select issuer, subject, sid, id_token from session_identities where token = @token;

-- A token without a session number ends all sessions of the account.
-- name: EndSessionsOf :execrows
delete from sessions s using session_identities i
where i.token = s.token and i.issuer = @issuer
    and case when @sid::text <> '' then i.sid = @sid and (@subject::text = '' or i.subject = @subject) else i.subject = @subject end;

-- Integrations, their tokens, counts and payloads.

-- name: IntegrationByToken :one
select i.id, i.name, i.type, i.application_id, a.name as application, coalesce(i.default_plan, '')::text as default_plan,
    coalesce(i.default_severity, '')::text as default_severity, i.rules, i.settings, i.rate_per_minute, i.enabled, t.id as token_id,
    array(select s.sealed from integration_secrets s where s.integration_id = i.id order by s.id)::bytea[] as secrets
from integration_tokens t
join integrations i on i.id = t.integration_id
join applications a on a.id = i.application_id
where t.hash = @hash;

-- name: Integrations :many
select i.id, i.name, i.type, i.application_id, a.name as application, coalesce(o.name, '')::text as team, coalesce(i.default_plan, '')::text as default_plan,
    coalesce(i.default_severity, '')::text as default_severity, i.rules, i.settings, i.rate_per_minute, i.enabled, i.resolve_after_seconds, i.close_after_seconds, i.created_by,
    i.created_at, coalesce(c.accepted, 0)::bigint as accepted, coalesce(c.refused, 0)::bigint as refused, c.last_accepted_at,
    c.last_refused_at, coalesce(c.last_refusal, '')::text as last_refusal, coalesce(c.failed_expressions, 0)::bigint as failed_expressions,
    c.last_failure_at, coalesce(c.last_failure, '')::text as last_failure,
    array(select s.created_at from integration_secrets s where s.integration_id = i.id order by s.id)::timestamptz[] as secrets_set_at
from integrations i
join applications a on a.id = i.application_id
left join owning_teams o on o.id = a.team_id
left join integration_activity c on c.integration_id = i.id
where (sqlc.arg(name)::text = '' or lower(i.name) = lower(sqlc.arg(name)::text))
  and (sqlc.arg(after)::text = '' or (lower(i.name) collate "C") > (lower(sqlc.arg(after)::text) collate "C"))
  and (sqlc.arg(team)::text = '' or lower(o.name) = lower(sqlc.arg(team)::text))
  and (sqlc.arg(application)::text = '' or lower(a.name) = lower(sqlc.arg(application)::text))
  and (not sqlc.arg(refused)::boolean or c.refused > 0 or c.failed_expressions > 0)
  and (sqlc.arg(part)::text = '' or strpos(lower(i.name), lower(sqlc.arg(part)::text)) > 0 or strpos(lower(a.name), lower(sqlc.arg(part)::text)) > 0
    or strpos(lower(o.name), lower(sqlc.arg(part)::text)) > 0 or i.type = lower(sqlc.arg(part)::text))
order by lower(i.name) collate "C"
limit sqlc.arg(most);

-- name: IntegrationTokens :many
select id, integration_id, created_at, last_used_at from integration_tokens
where integration_id = any(sqlc.arg(integrations)::bigint[]) order by id;

-- name: AddIntegration :one
insert into integrations (application_id, name, type, default_plan, default_severity, rules, settings, rate_per_minute, enabled,
    resolve_after_seconds, close_after_seconds, created_by)
values (@application_id, @name, @type, nullif(@default_plan::text, ''), nullif(@default_severity::text, ''), @rules, @settings,
    @rate_per_minute, @enabled, sqlc.narg(resolve_after_seconds), sqlc.narg(close_after_seconds), @created_by)
returning id;

-- name: ReplaceIntegration :execrows
update integrations
set name = @name, default_plan = nullif(@default_plan::text, ''), default_severity = nullif(@default_severity::text, ''),
    rules = @rules, settings = @settings, rate_per_minute = @rate_per_minute, enabled = @enabled,
    resolve_after_seconds = sqlc.narg(resolve_after_seconds), close_after_seconds = sqlc.narg(close_after_seconds)
where id = @id;

-- name: LockIntegration :one
select name, type, coalesce(default_plan, '')::text as default_plan, coalesce(default_severity, '')::text as default_severity, rules,
    settings, rate_per_minute, enabled, resolve_after_seconds, close_after_seconds
from integrations where id = @id for update;

-- name: DeleteIntegration :execrows
delete from integrations where id = @id;

-- name: AddIntegrationToken :exec
insert into integration_tokens (integration_id, hash) values (@integration_id, @hash);

-- The tokens of an integration except the newest.
-- name: DeleteOldIntegrationTokens :execrows
delete from integration_tokens t
where t.integration_id = @integration_id
  and t.id < (select max(n.id) from integration_tokens n where n.integration_id = @integration_id);

-- Adds counts of deliveries. Integrations that were deleted since are skipped.
-- name: CountDeliveries :exec
insert into integration_activity as c (integration_id, accepted, refused, last_accepted_at, last_refused_at, last_refusal,
    failed_expressions, last_failure_at, last_failure)
select i.id, u.accepted, u.refused, case when u.accepted > 0 then clock_timestamp() end,
    case when u.refused > 0 then clock_timestamp() end, nullif(u.refusal, ''),
    u.failed, case when u.failed > 0 then clock_timestamp() end, nullif(u.failure, '')
from (
    select unnest(sqlc.arg(ids)::bigint[]) as id,
        unnest(sqlc.arg(accepted)::bigint[]) as accepted,
        unnest(sqlc.arg(refused)::bigint[]) as refused,
        unnest(sqlc.arg(refusals)::text[]) as refusal,
        unnest(sqlc.arg(failed)::bigint[]) as failed,
        unnest(sqlc.arg(failures)::text[]) as failure
) u
join integrations i on i.id = u.id
order by i.id
on conflict (integration_id) do update
set accepted = c.accepted + excluded.accepted, refused = c.refused + excluded.refused,
    last_accepted_at = coalesce(excluded.last_accepted_at, c.last_accepted_at),
    last_refused_at = coalesce(excluded.last_refused_at, c.last_refused_at),
    last_refusal = coalesce(excluded.last_refusal, c.last_refusal),
    failed_expressions = c.failed_expressions + excluded.failed_expressions,
    last_failure_at = coalesce(excluded.last_failure_at, c.last_failure_at), last_failure = coalesce(excluded.last_failure, c.last_failure);

-- name: UseIntegrationTokens :exec
update integration_tokens set last_used_at = clock_timestamp()
where id = any(sqlc.arg(ids)::bigint[]) and (last_used_at is null or last_used_at < clock_timestamp() - interval '10 seconds');

-- name: AddPayloads :exec
insert into integration_payloads (integration_id, at, outcome, body, content_type)
select i.id, u.at, u.outcome, u.body, u.content_type
from (
    select unnest(sqlc.arg(ids)::bigint[]) as id,
        unnest(sqlc.arg(ats)::timestamptz[]) as at,
        unnest(sqlc.arg(outcomes)::text[]) as outcome,
        unnest(sqlc.arg(bodies)::text[]) as body,
        unnest(sqlc.arg(content_types)::text[]) as content_type
) u
join integrations i on i.id = u.id;

-- name: DropPayloads :exec
delete from integration_payloads p
using unnest(sqlc.arg(ids)::bigint[]) as u(id)
where p.integration_id = u.id and p.id < (
    select min(k.id) from (
        select n.id from integration_payloads n where n.integration_id = u.id order by n.id desc limit sqlc.arg(keep)) k);

-- name: ExpirePayloads :execrows
delete from integration_payloads p
where p.ctid = any(array(
    select o.ctid from integration_payloads o where o.at < statement_timestamp() - interval '7 days' limit 10000));

-- name: Payloads :many
select at, outcome, body, content_type from integration_payloads where integration_id = @integration_id order by id desc limit @most;

-- name: DeleteIntegrationSecrets :execrows
delete from integration_secrets where integration_id = @integration_id;

-- name: AddIntegrationSecrets :exec
insert into integration_secrets (integration_id, sealed) select @integration_id, unnest(sqlc.arg(sealed)::bytea[]);

-- Integrations whose incidents end in another way than configured.
-- name: IntegrationEnds :many
select id, resolve_after_seconds, close_after_seconds from integrations
where resolve_after_seconds is not null or close_after_seconds is not null
order by id;

-- Takes a part of the allowance of an integration: at most the wanted number of deliveries. The allowance grows with time up to the burst. The
-- answer is how many were granted, and how many are left (less than one when there are none).
-- name: TakeAllowance :one
with input as materialized (
    select sqlc.arg(id)::bigint as id, sqlc.arg(burst)::float8 as burst, sqlc.arg(wanted)::int as wanted, sqlc.arg(per_second)::float8 as per_second
)
insert into integration_rates as r (integration_id, tokens, taken_at, granted)
select i.id, i.burst - least(i.wanted, floor(i.burst)), statement_timestamp(), least(i.wanted, floor(i.burst))::int from input i
on conflict (integration_id) do update
set granted = least((select i.wanted from input i), floor(least((select i.burst from input i), r.tokens + (select i.per_second from input i) * greatest(0, extract(epoch from statement_timestamp() - r.taken_at)))))::int,
    tokens = least((select i.burst from input i), r.tokens + (select i.per_second from input i) * greatest(0, extract(epoch from statement_timestamp() - r.taken_at)))
        - least((select i.wanted from input i), floor(least((select i.burst from input i), r.tokens + (select i.per_second from input i) * greatest(0, extract(epoch from statement_timestamp() - r.taken_at))))),
    taken_at = greatest(r.taken_at, statement_timestamp())
returning granted, tokens;

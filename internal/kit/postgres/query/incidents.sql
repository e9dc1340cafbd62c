-- Opening, answering and reading incidents. Rows are locked in ascending order of their ids.

-- Opens many incidents in one statement: rows, contexts, dynamic targets and the first lines of their timelines.
-- Rows with a key are inserted in the order of their keys, so that two statements that bring the same keys wait for each
-- other in one direction only. A row whose key is open already is left out of the answer. A row whose application has another version
-- than the given one (0 = any) opens nothing and is answered with the id -1; one whose silences were changed since, with -2.
-- name: OpenIncidents :many
with input as materialized (
    select nextval('incidents_id_seq')::bigint as id, u.ord, u.plan_id, u.application_id, u.dedup_key, u.actor, u.remark, u.context,
        u.facts, nullif(u.integration_id, 0) as integration_id, nullif(u.severity, '') as severity, p.name as plan_name,
        coalesce(chr(31) || nullif(u.integration_id, 0), lower(p.name) || coalesce(chr(29) || nullif(u.opener, ''), '')) as plan_key,
        nullif(u.opener, '') as opener,
        case when u.version <> 0 and a.xmin::text::bigint is distinct from u.version then 1
            when u.silences <> 0 and u.silences <> (select version from silence_version) then 2 else 0 end as changed,
        nullif(u.silence_id, 0) as silence_id, u.silence_reason, nullif(u.silenced_until, 'epoch') as silenced_until
    from (
        select unnest(sqlc.arg(ords)::int[]) as ord,
            unnest(sqlc.arg(plan_ids)::bigint[]) as plan_id,
            unnest(sqlc.arg(application_ids)::bigint[]) as application_id,
            unnest(sqlc.arg(versions)::bigint[]) as version,
            unnest(sqlc.arg(dedup_keys)::text[]) as dedup_key,
            unnest(sqlc.arg(actors)::text[]) as actor,
            unnest(sqlc.arg(remarks)::text[]) as remark,
            unnest(sqlc.arg(contexts)::text[]) as context,
            unnest(sqlc.arg(facts)::text[]) as facts,
            unnest(sqlc.arg(integration_ids)::bigint[]) as integration_id,
            unnest(sqlc.arg(openers)::text[]) as opener,
            unnest(sqlc.arg(severities)::text[]) as severity,
            unnest(sqlc.arg(silences_versions)::bigint[]) as silences,
            unnest(sqlc.arg(silence_ids)::bigint[]) as silence_id,
            unnest(sqlc.arg(silenced_untils)::timestamptz[]) as silenced_until,
            unnest(sqlc.arg(silence_reasons)::text[]) as silence_reason
    ) u
    left join plans p on p.id = u.plan_id
    left join applications a on a.id = u.application_id
),
keyless as (
    -- a separate insert, because checking for conflicts costs time
    insert into incidents (id, plan_id, application_id, opener, due_at, integration_id, active, silence_id, silenced_until)
    select n.id, n.plan_id, n.application_id, n.opener, case when n.silence_id is null then clock_timestamp() end, n.integration_id,
        n.silence_id is null, n.silence_id,
        n.silenced_until + (n.id * 7919 % 121) * interval '1 second' -- see ReleaseOfSilence
    from input n
    where n.dedup_key = '' and n.changed = 0
    order by n.id
    returning id, bucket
),
keyed as (
    insert into incidents (id, plan_id, application_id, opener, due_at, dedup_key, plan_key, integration_id, active, silence_id, silenced_until)
    select n.id, n.plan_id, n.application_id, n.opener, case when n.silence_id is null then clock_timestamp() end, n.dedup_key, n.plan_key, n.integration_id,
        n.silence_id is null, n.silence_id,
        n.silenced_until + (n.id * 7919 % 121) * interval '1 second' -- see ReleaseOfSilence
    from input n
    where n.dedup_key <> '' and n.changed = 0
    order by n.application_id, n.plan_key, n.dedup_key, n.id
    on conflict (application_id, plan_key, dedup_key) where dedup_key is not null and not resolved do nothing
    returning id, bucket
),
made as (
    select id, bucket from keyless union all select id, bucket from keyed
),
words as (
    insert into incident_contexts (incident_id, context, dedup_facts, severity)
    select n.id, n.context::json, nullif(n.facts, '')::jsonb, n.severity
    from input n join made on made.id = n.id
    returning 1
),
targets as (
    insert into incident_dynamic_targets (incident_id, dynamic_index, role, target_id)
    select n.id, t.dynamic_index, t.role, t.target_id
    from (
        select unnest(sqlc.arg(target_ords)::int[]) as ord,
            unnest(sqlc.arg(target_indexes)::int[]) as dynamic_index,
            unnest(sqlc.arg(target_roles)::text[]) as role,
            unnest(sqlc.arg(target_ids)::bigint[]) as target_id
    ) t
    join input n on n.ord = t.ord
    join made on made.id = n.id
    returning 1
),
alerts as (
    insert into incident_alerts (incident_id, fingerprint, status, starts_at, ends_at, labels, annotations)
    select n.id, a.fingerprint, a.status, nullif(a.starts_at, 'epoch'), nullif(a.ends_at, 'epoch'), nullif(a.labels, '')::json,
        nullif(a.annotations, '')::json
    from (
        select unnest(sqlc.arg(alert_ords)::int[]) as ord,
            unnest(sqlc.arg(fingerprints)::text[]) as fingerprint,
            unnest(sqlc.arg(statuses)::text[]) as status,
            unnest(sqlc.arg(starts_ats)::timestamptz[]) as starts_at,
            unnest(sqlc.arg(ends_ats)::timestamptz[]) as ends_at,
            unnest(sqlc.arg(labels)::text[]) as labels,
            unnest(sqlc.arg(annotations)::text[]) as annotations
    ) a
    join input n on n.ord = a.ord
    join made on made.id = n.id
    returning 1
),
lines as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select n.id, 'opened', n.actor, 'opened by ' || n.actor || ' with plan ' || n.plan_name || case when n.remark <> '' then '; ' || n.remark else '' end
    from input n join made on made.id = n.id
    union all
    select n.id, 'silenced', '', n.silence_reason
    from input n join made on made.id = n.id where n.silence_id is not null
    returning 1
)
select n.ord::int as ord, made.id, made.bucket from made join input n on n.id = made.id
union all
select n.ord::int, -n.changed, 0 from input n where n.changed > 0;

-- name: OpenIncidentOfPlan :one
select i.id from incidents i
where i.application_id = sqlc.arg(application_id) and i.plan_key = lower(rtrim(sqlc.arg(plan)::text))
  and i.dedup_key = sqlc.arg(dedup_key)::text and not i.resolved;

-- name: LockForChange :many
select sqlc.embed(i)
from incidents i
where i.id = any(sqlc.arg(ids)::bigint[])
order by i.id
for no key update of i;

-- name: TextsOfChange :many
select i.id, a.name as application, coalesce(u.name, '')::text as owner
from incidents i
join applications a on a.id = i.application_id
left join users u on u.id = i.owner_id
where i.id = any(sqlc.arg(ids)::bigint[]);

-- Writes the state that locked incidents have after a transition, and clears what the transition ended. Of an owner, an instant or a parent
-- that is not given, the stored one stays. An incident that is open again gives up its key if another one was opened with the key meanwhile.
-- name: SetStates :exec
update incidents i
set active = sqlc.arg(active)::boolean, resolved = sqlc.arg(resolved)::boolean,
    owner_id = case when sqlc.arg(owned)::boolean then coalesce(sqlc.narg(owner_id)::bigint, i.owner_id) end,
    source_acknowledged = case when sqlc.arg(owned)::boolean then coalesce(sqlc.narg(by_source)::boolean, i.source_acknowledged) end,
    snoozed_until = case when sqlc.arg(snoozed)::boolean then coalesce(sqlc.narg(snoozed_until)::timestamptz, i.snoozed_until) end,
    silenced_until = case when sqlc.arg(silenced)::boolean then coalesce(sqlc.narg(silenced_until)::timestamptz, i.silenced_until) end,
    merged_into = case when sqlc.arg(merged)::boolean then coalesce(sqlc.narg(merged_into)::bigint, i.merged_into) end,
    closed_at = case when sqlc.arg(closed)::boolean then coalesce(i.closed_at, clock_timestamp()) end,
    exhausted_at = case when sqlc.arg(was_exhausted)::boolean then i.exhausted_at end,
    plan_key = split_part(i.plan_key, chr(30), 1) || case when sqlc.arg(closed)::boolean then chr(30) || i.id else '' end,
    dedup_key = case when sqlc.arg(opens)::boolean and exists (
        select 1 from incidents o
        where o.application_id = i.application_id and o.plan_key = split_part(i.plan_key, chr(30), 1) and o.dedup_key = i.dedup_key
          and not o.resolved and o.id <> i.id
    ) then null else i.dedup_key end,
    reopen_count = i.reopen_count + sqlc.arg(starts)::int,
    due_at = case when sqlc.arg(due)::boolean then coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) else i.due_at end,
    version = i.version + 1, updated_at = clock_timestamp()
where i.id = any(sqlc.arg(ids)::bigint[]);

-- Locks the incidents that are merged into some.
-- name: LockMerged :many
select sqlc.embed(i)
from incidents i
where i.merged_into = any(sqlc.arg(parents)::bigint[])
order by i.id
for no key update of i;

-- An incident of some that another one is merged into; 0 = none.
-- name: WithMerged :one
select coalesce(min(i.merged_into), 0)::bigint from incidents i where i.merged_into = any(sqlc.arg(parents)::bigint[]);

-- name: AddEntries :exec
insert into timeline_entries (incident_id, kind, actor, text)
select unnest(sqlc.arg(incident_ids)::bigint[]), sqlc.arg(kind), sqlc.arg(actor), unnest(sqlc.arg(texts)::text[]);

-- name: AddComment :one
insert into comments (incident_id, author_id, content) values (@incident_id, sqlc.arg(author_id)::bigint, @content) returning id;

-- name: Comments :many
select c.id, coalesce(u.name, c.source, '')::text as author, c.content, c.created_at
from comments c
left join users u on u.id = c.author_id
where c.incident_id = @incident_id
order by c.id;

-- name: TimelineEntries :many
select coalesce(id, 0)::bigint as id, at, kind, actor, text, detail
from timeline_entries
where incident_id = @incident_id
order by at, id;

-- Vendor calls for an incident's messages and their digests that are not in history yet. Two branches instead
-- of an "or", and an array instead of a sub-select: each branch reads its own index and never all history.
-- name: TimelineAttempts :many
select a.message_id, a.attempt, m.target, a.mode, a.vendor, a.account, a.started_at, a.finished_at, a.outcome, a.in_doubt,
    a.late, a.detail
from (
    select o.id, o.target from messages o where o.incident_id = sqlc.arg(incident_id)::bigint
    union all
    select d.id, d.target from messages d where d.incident_id is null
      and d.batch = any (array(select b.batch from batch_incidents b where b.incident_id = sqlc.arg(incident_id)::bigint))
) m
join attempts a on a.message_id = m.id
order by a.started_at, a.message_id;

-- name: TimelineHistory :many
select o.id, o.target, o.attempts from message_history o where o.incident_id = sqlc.arg(incident_id)::bigint
union all
select d.id, d.target, d.attempts from message_history d where d.incident_id is null
  and d.batch = any (array(select b.batch from batch_incidents b where b.incident_id = sqlc.arg(incident_id)::bigint))
order by id;

-- name: TimelineReceipts :many
select r.id, r.at, r.message_id, r.vendor, r.status, r.outcome, r.detail, m.target, m.mode
from receipts r
join (
    select q.id, q.target, q.mode from messages q where q.incident_id = sqlc.arg(incident_id)::bigint
    union all
    select h.id, h.target, h.mode from message_history h where h.incident_id = sqlc.arg(incident_id)::bigint
) m on m.id = r.message_id
order by r.at, r.id;

-- name: AlertsOf :many
select fingerprint, status, starts_at, ends_at, changed_at, labels, annotations
from incident_alerts
where incident_id = sqlc.arg(incident_id) and fingerprint > sqlc.arg(after)::text
order by fingerprint
limit sqlc.arg(most)::int;

-- Locks open incidents without news since an instant: no change, delivery or comment, no snooze, and no open incident that is merged into
-- them. Those that another transaction has locked are left out. They are those of an integration, or if it is 0, those of no integration and of integrations that are not excepted.
-- name: LockWithoutNews :many
select sqlc.embed(i)
from incidents i
where not i.resolved and i.closed_at is null and i.snoozed_until is null and i.created_at < sqlc.arg(since)::timestamptz
  and i.updated_at < sqlc.arg(since)::timestamptz and coalesce(i.delivered_at, i.created_at) < sqlc.arg(since)::timestamptz
  and not exists (select from comments c where c.incident_id = i.id and c.created_at >= sqlc.arg(since)::timestamptz)
  and not exists (select from incidents m where m.merged_into = i.id and not m.resolved and m.closed_at is null)
  and case when sqlc.arg(integration)::bigint = 0 then i.integration_id is null or i.integration_id <> all(sqlc.arg(excepted)::bigint[])
      else i.integration_id = sqlc.arg(integration)::bigint end
order by i.created_at
limit sqlc.arg(most)::int
for no key update of i skip locked;

-- Locks open incidents of an integration without a delivery since an instant, and without an open incident that is merged into them. Those
-- that another transaction has locked are left out.
-- name: LockWithoutDelivery :many
select sqlc.embed(i)
from incidents i
where not i.resolved and i.closed_at is null and i.created_at < sqlc.arg(since)::timestamptz
  and coalesce(i.delivered_at, i.created_at) < sqlc.arg(since)::timestamptz and i.integration_id = sqlc.arg(integration)::bigint
  and not exists (select from incidents m where m.merged_into = i.id and not m.resolved and m.closed_at is null)
order by i.created_at
limit sqlc.arg(most)::int
for no key update of i skip locked;

-- Makes the plans of acknowledged incidents begin again later, if their plans say so.
-- name: SetAcknowledgementTimers :exec
insert into incident_timers (incident_id, due_at, reason, fingerprints)
select i.id, statement_timestamp() + make_interval(secs => p.acknowledgement_timeout), 'acknowledgement', '{}'
from incidents i
join plans p on p.id = i.plan_id
where i.id = any (sqlc.arg(ids)::bigint[]) and p.acknowledgement_timeout > 0 and i.owner_id is not null and not i.resolved
on conflict (incident_id) do nothing;

-- How many alerts incidents have. Incidents without alerts are left out.
-- name: AlertCounts :many
select a.incident_id, count(*) as known, count(*) filter (where a.status = 'firing') as firing
from incident_alerts a where a.incident_id = any(sqlc.arg(ids)::bigint[]) group by a.incident_id;

-- The applications and plans of a person's teams: owned by them, or paging them. All versions of a plan count.
-- name: ConcernsOfPerson :one
with mine as (select m.team_id from team_members m where m.user_id = @person::bigint and (m.member or m.admin))
select array(select a.id from applications a where a.team_id in (select team_id from mine))::bigint[] as applications,
    array(
        select p.id from plan_owners o join plans p on lower(p.name) = o.name_key where o.team_id in (select team_id from mine)
        union
        select n.plan_id from plan_notifications n join teams t on t.target_id = n.target_id where t.id in (select team_id from mine)
    )::bigint[] as plans;

-- The counts of the navigation of every page.
-- name: OpenCounts :one
select (select count(*) from (select from incidents where not resolved and closed_at is null limit @most) a)::int as everyone,
    (select count(*) from (select from incidents where owner_id = @owner::bigint and not resolved and closed_at is null limit @most) m)::int as mine;

-- The applications and plans that a team owns. If none is true: the applications that no team owns, and no plans.
-- name: OwnedByTeam :one
with team as (select t.id from teams t where lower(t.name) = lower(@team::text) and not @none::boolean)
select array(select a.id from applications a where a.team_id in (select id from team) or a.team_id is null and @none::boolean)::bigint[] as applications,
    array(
        select p.id from plan_owners o join plans p on lower(p.name) = o.name_key where o.team_id in (select id from team)
    )::bigint[] as plans;

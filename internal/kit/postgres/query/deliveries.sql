-- Statements of webhook deliveries: open incidents by their key, alerts, held deliveries, restarts.

-- The open incident of each key, or else the one that a delivery resolved last. The limits make PostgreSQL look up each key by index.
-- name: FindByKeys :many
select u.ord::int as ord, coalesce(o.id, 0)::bigint as open_id, coalesce(o.dedup_facts, 'null')::jsonb as dedup_facts, coalesce(o.severity, '')::text as severity,
    coalesce(o.repage, false)::boolean as repage, coalesce(o.untouched, false)::boolean as untouched,
    coalesce(o.grouped, false)::boolean as grouped, coalesce(g.incident_id, 0)::bigint as resolved_id,
    coalesce(extract(epoch from statement_timestamp() - g.resolved_at), 0)::float8 as resolved_seconds,
    (e.dedup_key is not null)::boolean as early, coalesce(e.fingerprints, '{}')::text[] as early_fingerprints,
    coalesce(e.starts_ats, '{}')::timestamptz[] as early_starts, coalesce(e.repeated, false)::boolean as early_repeated,
    coalesce(e.incident_id, 0)::bigint as early_incident, coalesce(e.resolved_at, 'epoch')::timestamptz as early_at,
    coalesce(extract(epoch from statement_timestamp() - e.resolved_at), 0)::float8 as early_seconds
from (
    select k.ord, k.application_id, k.dedup_key, k.integration_id,
        coalesce(chr(31) || nullif(k.integration_id, 0), lower(p.name) || coalesce(chr(29) || nullif(k.opener, ''), '')) as plan_key
    from (
        select unnest(sqlc.arg(ords)::int[]) as ord,
            unnest(sqlc.arg(plan_ids)::bigint[]) as plan_id,
            unnest(sqlc.arg(application_ids)::bigint[]) as application_id,
            unnest(sqlc.arg(dedup_keys)::text[]) as dedup_key,
            unnest(sqlc.arg(integration_ids)::bigint[]) as integration_id,
            unnest(sqlc.arg(openers)::text[]) as opener
    ) k
    left join plans p on p.id = k.plan_id
) u
left join lateral (
    select i.id, case when k.grouped then k.facts else c.dedup_facts end as dedup_facts, c.severity, k.grouped,
        coalesce(i.delivered_at, i.created_at) < statement_timestamp() - interval '1 minute' as untouched,
        not i.active and i.owner_id is null and i.source_acknowledged is null and v.repage_after > 0
            and i.exhausted_at <= statement_timestamp() - make_interval(secs => v.repage_after) as repage
    from (
        select i.id, false as grouped, null::jsonb as facts from incidents i
        where i.application_id = u.application_id and i.plan_key = u.plan_key and i.dedup_key = u.dedup_key and not i.resolved
        union all
        select i.id, true, e.facts from grouped_events e
        join incidents i on i.id = e.incident_id
        where e.integration_id = u.integration_id and e.dedup_key = u.dedup_key and i.application_id = u.application_id
          and not i.resolved and i.closed_at is null
        limit 1
    ) k
    join incidents i on i.id = k.id
    join plans v on v.id = i.plan_id
    left join incident_contexts c on c.incident_id = i.id
) o on true
left join lateral (
    select r.incident_id, r.resolved_at
    from resolved_groups r
    where o.id is null and r.application_id = u.application_id and r.plan_key = u.plan_key and r.dedup_key = u.dedup_key
    limit 1
) g on true
left join lateral (
    select r.*
    from early_resolves r
    where o.id is null and r.application_id = u.application_id and r.plan_key = u.plan_key and r.dedup_key = u.dedup_key
    limit 1
) e on true
where o.id is not null or g.incident_id is not null or e.dedup_key is not null;

-- Notes deliveries, and how often their integrations repeat one without news. It waits for no lock: the next delivery of an incident that is
-- being changed is noted instead.
-- name: NoteDeliveries :exec
with delivered as (
    select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(facts)::text[]) as facts
), locked as materialized (
    select i.id, i.integration_id, extract(epoch from clock_timestamp() - coalesce(i.delivered_at, i.created_at)) as gap
    from incidents i where i.id = any(sqlc.arg(ids)::bigint[]) order by i.id for no key update skip locked
), noted as (
    update incidents i set delivered_at = clock_timestamp() from locked l where i.id = l.id
), longest as (
    select l.integration_id, least(max(l.gap), 2147483647)::int as gap
    from locked l
    join delivered d on d.id = l.id
    join incident_contexts c on c.incident_id = l.id and c.dedup_facts = nullif(d.facts, '')::jsonb
    where l.integration_id is not null and not exists (select from grouped_events e where e.incident_id = l.id)
    group by l.integration_id
), rarer as materialized (
    select g.id, t.gap from integrations g join longest t on t.integration_id = g.id where g.repeat_seconds < t.gap
    order by g.id for no key update of g skip locked
)
update integrations g set repeat_seconds = r.gap from rarer r where g.id = r.id;

-- name: LockForDelivery :one
select sqlc.embed(i), p.name as plan, p.repage_after, p.settings
from incidents i
join plans p on p.id = i.plan_id
where i.id = @id
for no key update of i;

-- name: KnownAlerts :many
select a.fingerprint, a.status, a.starts_at, extract(epoch from statement_timestamp() - a.changed_at)::float8 as unchanged_seconds
from incident_alerts a
where a.incident_id = @incident_id;

-- name: Facts :one
select dedup_facts from incident_contexts where incident_id = @incident_id;

-- name: PutAlerts :exec
insert into incident_alerts as known (incident_id, fingerprint, status, starts_at, ends_at, labels, annotations)
select sqlc.arg(incident_id), a.fingerprint, a.status, nullif(a.starts_at, 'epoch'), nullif(a.ends_at, 'epoch'),
    nullif(a.labels, '')::json, nullif(a.annotations, '')::json
from (
    select unnest(sqlc.arg(fingerprints)::text[]) as fingerprint,
        unnest(sqlc.arg(statuses)::text[]) as status,
        unnest(sqlc.arg(starts_ats)::timestamptz[]) as starts_at,
        unnest(sqlc.arg(ends_ats)::timestamptz[]) as ends_at,
        unnest(sqlc.arg(labels)::text[]) as labels,
        unnest(sqlc.arg(annotations)::text[]) as annotations
) a
on conflict (incident_id, fingerprint) do update
set status = excluded.status, starts_at = excluded.starts_at, ends_at = excluded.ends_at, labels = excluded.labels,
    annotations = excluded.annotations, changed_at = excluded.changed_at
where (known.status, known.starts_at) is distinct from (excluded.status, excluded.starts_at);

-- Ends the alerts of an incident that its source resolved as a whole, except those that the delivery names as firing.
-- name: ResolveAlerts :execrows
update incident_alerts a
set status = 'resolved', changed_at = clock_timestamp(), ends_at = least(a.ends_at, clock_timestamp())
where a.incident_id = sqlc.arg(incident_id) and a.status = 'firing' and a.fingerprint <> all (sqlc.arg(still_firing)::text[]);

-- name: SetFacts :execrows
update incident_contexts
set context = sqlc.arg(context)::text::json, dedup_facts = nullif(sqlc.arg(facts)::text, '')::jsonb,
    severity = coalesce(nullif(sqlc.arg(severity)::text, ''), severity)
where incident_id = sqlc.arg(id)
  and (dedup_facts is distinct from nullif(sqlc.arg(facts)::text, '')::jsonb
    or severity is distinct from coalesce(nullif(sqlc.arg(severity)::text, ''), severity));

-- Makes the next delivery of an incident bring something new.
-- name: ForgetFacts :exec
update incident_contexts set dedup_facts = null where incident_id = @incident_id and dedup_facts is not null;

-- name: TouchIncident :exec
update incidents set updated_at = clock_timestamp() where id = @id;

-- name: NoteDelivery :exec
update incidents set delivered_at = clock_timestamp() where id = @id;

-- Notes that the source of an incident resolves what it reports.
-- name: NoteSourceResolves :exec
update integrations g set resolves = true
from incidents i where i.id = @id and g.id = i.integration_id and not g.resolves;

-- Notes for the key of an incident, and for those of its events, that a delivery resolved it, and that its source resolves.
-- name: NoteResolvedGroup :exec
with source as (
    update integrations g set resolves = true
    from incidents i where i.id = @id and g.id = i.integration_id and not g.resolves
)
insert into resolved_groups (application_id, plan_key, dedup_key, incident_id)
select i.application_id, i.plan_key, k.dedup_key, i.id
from incidents i
cross join lateral (
    select i.dedup_key where i.dedup_key is not null
    union
    select e.dedup_key from grouped_events e where e.incident_id = i.id
) k
where i.id = @id
order by k.dedup_key
on conflict (application_id, plan_key, dedup_key) do update
set incident_id = excluded.incident_id, resolved_at = excluded.resolved_at;

-- name: LastResolvedOfPlan :one
select g.incident_id from resolved_groups g
where g.application_id = sqlc.arg(application_id) and g.plan_key = lower(rtrim(sqlc.arg(plan)::text))
  and g.dedup_key = sqlc.arg(dedup_key)::text;

-- Remembers a resolve that found no open incident, unless the integration or plan has so many already.
-- name: RememberResolve :exec
with said as (
    select sqlc.arg(application_id)::bigint as application_id, lower(rtrim(sqlc.arg(plan)::text)) as plan_key,
        sqlc.arg(dedup_key)::text as dedup_key, statement_timestamp() - make_interval(secs => sqlc.arg(keep_seconds)::float8) as since
)
insert into early_resolves as e (application_id, plan_key, dedup_key, fingerprints, starts_ats, repeated)
select s.application_id, s.plan_key, s.dedup_key, sqlc.arg(fingerprints)::text[], sqlc.arg(starts_ats)::timestamptz[],
    exists (select from resolved_groups g where g.application_id = s.application_id and g.plan_key = s.plan_key
        and g.dedup_key = s.dedup_key and g.resolved_at >= s.since)
from said s
where (left(s.plan_key, 1) = chr(31) or exists (select from plans p where lower(p.name) = s.plan_key))
    and (select count(*) from (select from early_resolves o where o.application_id = s.application_id and o.plan_key = s.plan_key
        and o.dedup_key <> s.dedup_key limit sqlc.arg(most)::int) others) < sqlc.arg(most)::int
on conflict (application_id, plan_key, dedup_key) do update
set fingerprints = excluded.fingerprints, starts_ats = excluded.starts_ats, resolved_at = excluded.resolved_at,
    repeated = excluded.repeated or e.resolved_at >= (select since from said),
    incident_id = case when e.resolved_at >= (select since from said) then e.incident_id end;

-- name: ForgetEarlyResolves :execrows
delete from early_resolves e
where e.ctid = any(array(
    select o.ctid from early_resolves o where o.resolved_at < statement_timestamp() - make_interval(secs => sqlc.arg(keep_seconds)::float8)
    limit 10000 for update skip locked));

-- Notes which incident holds the firing delivery that followed an early resolve; no row = another one holds it.
-- name: HoldOnIncident :execrows
update early_resolves e set incident_id = i.id
from incidents i
where i.id = @id and e.application_id = i.application_id and e.plan_key = i.plan_key and e.dedup_key = i.dedup_key
  and e.incident_id is null;

-- name: ForgetResolvedGroups :execrows
delete from resolved_groups g
where g.ctid = any(array(
    select o.ctid from resolved_groups o where o.resolved_at < statement_timestamp() - interval '2 days' limit 10000));

-- name: ForgetRestarts :execrows
delete from incident_restarts r
where r.ctid = any(array(
    select o.ctid from incident_restarts o where o.at < statement_timestamp() - interval '2 days' limit 10000));

-- name: Restarts :many
select at from incident_restarts
where incident_id = @incident_id and at > statement_timestamp() - interval '1 day'
order by at;

-- Makes the plan of an incident begin again at step 1. A tracking message that was sent is not repeated. The reopen count has been increased.
-- name: RestartPlan :exec
with started as (
    update incidents
    set current_step = 0, step_at = null, progress = jsonb_build_object('t', coalesce((progress ->> 't')::boolean, false), 'r', reopen_count)
    where id = sqlc.arg(id)
    returning id
)
insert into incident_restarts (incident_id) select id from started;

-- name: SetTimer :execrows
insert into incident_timers as t (incident_id, due_at, reason, fingerprints)
values (sqlc.arg(incident_id), statement_timestamp() + make_interval(secs => sqlc.arg(seconds)::float8), sqlc.arg(reason),
    sqlc.arg(fingerprints)::text[])
on conflict (incident_id) do update
set fingerprints = t.fingerprints || excluded.fingerprints
where t.reason = 'late firing' and excluded.reason = 'late firing' and not t.fingerprints @> excluded.fingerprints;

-- The late events that wait for the timer of an incident of several events; no row = none does.
-- name: HeldEventsOfGroup :one
select t.fingerprints from incident_timers t
where t.incident_id = sqlc.arg(incident_id) and t.reason = 'late firing'
  and exists (select from grouped_events e where e.incident_id = t.incident_id);

-- name: SetHeldEventsOfGroup :exec
update incident_timers set fingerprints = sqlc.arg(fingerprints)::text[] where incident_id = sqlc.arg(incident_id);

-- name: DropTimers :many
delete from incident_timers where incident_id = any(sqlc.arg(ids)::bigint[]) returning incident_id, reason;

-- name: DueTimers :many
select t.incident_id, t.bucket
from unnest(sqlc.arg(buckets)::smallint[]) as b(bucket)
cross join lateral (
    select n.incident_id, n.bucket from incident_timers n
    where n.bucket = b.bucket and n.due_at <= coalesce(sqlc.narg(now)::timestamptz, statement_timestamp())
    order by n.due_at
    limit 64
) t
limit 1000;

-- Timers that ran out, with the state of their incidents. Other is the open incident with the same key; 0 = none.
-- name: TimersToRing :many
select t.incident_id, t.reason, t.fingerprints, sqlc.embed(i),
    coalesce((select o.id from incidents o
        where o.application_id = i.application_id and o.plan_key = i.plan_key and o.dedup_key = i.dedup_key
          and not o.resolved and o.id <> i.id limit 1), 0)::bigint as other
from incident_timers t
join incidents i on i.id = t.incident_id
where t.incident_id = any(sqlc.arg(ids)::bigint[]) and t.due_at <= coalesce(sqlc.narg(now)::timestamptz, statement_timestamp())
order by t.incident_id;

-- Those of the late events of an incident that have another open incident.
-- name: MovedEvents :many
select e.dedup_key
from grouped_events e
join incidents o on o.id = e.incident_id
where e.integration_id = sqlc.arg(integration_id)::bigint and e.dedup_key = any(sqlc.arg(fingerprints)::text[])
  and o.id <> sqlc.arg(incident_id) and not o.resolved and o.closed_at is null;

-- name: FireAlerts :exec
update incident_alerts set status = 'firing', changed_at = clock_timestamp()
where incident_id = sqlc.arg(incident_id) and fingerprint = any(sqlc.arg(fingerprints)::text[]);

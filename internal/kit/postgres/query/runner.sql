-- The escalation runner: due incidents, what became of their messages, and the fenced transactions that move them on.
-- `now` is given by tests only; otherwise the database's clock decides. It is read once per statement (a sub-select),
-- so that it can be compared in an index.

-- Due incidents, bucket by bucket, oldest first within each. One that is left alone because it failed is read all the same once
-- somebody has acknowledged it. One index probe per bucket, however many incidents wait for
-- a later time.
-- name: DueIncidents :many
with clock as materialized (
    select coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) as at
),
due as materialized (
    select i.id, i.bucket, i.plan_id, i.application_id, i.created_at, i.due_at, i.active, i.version, i.reopen_count,
        i.current_step, i.step_at, i.progress
    from unnest(sqlc.arg(buckets)::smallint[]) as b(bucket)
    cross join lateral (
        select n.*
        from incidents n
        where n.bucket = b.bucket and n.due_at <= (select at from clock)
          and (n.id <> all(sqlc.arg(excluded)::bigint[]) or not n.active)
        order by n.due_at
        limit sqlc.arg(per_bucket)::int
    ) i
    limit sqlc.arg(total)::int
)
select clock.at::timestamptz as read_at, due.id, due.bucket, due.plan_id, due.application_id, due.created_at,
    due.due_at::timestamptz as due_at, due.active, due.version, due.reopen_count, due.current_step, due.step_at,
    due.progress, p.paused as plan_paused, a.paused as application_paused
from due
cross join clock
join plans p on p.id = due.plan_id
join applications a on a.id = due.application_id;

-- Incidents as DueIncidents would return them, whether or not they are due.
-- name: IncidentsAhead :many
select clock_timestamp()::timestamptz as read_at, i.id::bigint as id, i.bucket, i.plan_id, i.application_id, i.created_at,
    coalesce(i.due_at, clock_timestamp())::timestamptz as due_at, i.active, i.version, i.reopen_count, i.current_step, i.step_at,
    i.progress, p.paused as plan_paused, a.paused as application_paused
from incidents i
join plans p on p.id = i.plan_id
join applications a on a.id = i.application_id
where i.id = any(sqlc.arg(ids)::bigint[]);

-- Makes paused incidents due whose plan and application are no longer paused, at most so many of each pair of plan and application.
-- The recursion finds the pairs by index, so that incidents that stay paused are not read.
-- name: WakeResumed :execrows
with recursive pairs as (
    (select i.plan_id, i.application_id from incidents i where i.active and i.progress ->> 'p' = 'true'
     order by i.plan_id, i.application_id limit 1)
    union all
    select n.plan_id, n.application_id
    from pairs c
    cross join lateral (
        select i.plan_id, i.application_id from incidents i
        where i.active and i.progress ->> 'p' = 'true' and (i.plan_id, i.application_id) > (c.plan_id, c.application_id)
        order by i.plan_id, i.application_id limit 1
    ) n
),
clock as materialized (
    select coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) as at
),
resumed as materialized (
    select w.id
    from pairs c
    join plans p on p.id = c.plan_id and not p.paused
    join applications a on a.id = c.application_id and not a.paused
    cross join lateral (
        select i.id from incidents i
        where i.active and i.progress ->> 'p' = 'true' and i.plan_id = c.plan_id and i.application_id = c.application_id
          and i.due_at > (select at from clock)
        order by i.due_at
        limit sqlc.arg(most)::int
        for no key update skip locked
    ) w
)
update incidents set due_at = (select at from clock) where id = any (array(select id from resumed));

-- Seconds until the next incident of the buckets is due; negative when one is, an hour when there is none.
-- name: NextDueIncident :one
with clock as materialized (
    select coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) as at
)
select coalesce(extract(epoch from min(d.due_at) - min(clock.at)), 3600)::float8 as seconds
from clock
cross join unnest(sqlc.arg(buckets)::smallint[]) as b(bucket)
cross join lateral (
    select i.due_at from incidents i where i.bucket = b.bucket and i.due_at is not null order by i.due_at limit 1
) d;

-- The oldest due incident of every bucket, whoever owns the bucket. Every process watches it.
-- name: OldestDueByBucket :many
select b.bucket::smallint as bucket, d.id, d.due_at::timestamptz as due_at,
    extract(epoch from statement_timestamp() - d.due_at)::float8 as age_seconds
from generate_series(0, 255) as b(bucket)
cross join lateral (
    select i.id, i.due_at from incidents i
    where i.bucket = b.bucket::smallint and i.due_at <= statement_timestamp()
    order by i.due_at
    limit 1
) d
order by b.bucket;

-- What became of the messages of each round. What was held for a digest counts as sent from then on. Follow-ups and notices do not count: no
-- step waits for them.
-- name: RoundFacts :many
select incident_id::bigint as incident_id, step, position, repeat,
    (count(*) filter (where (state in ('pending', 'taken', 'sending') or needs_fallback) and held_at is null))::int as unsettled,
    coalesce(max(coalesce(held_at, settled_at)), 'epoch')::timestamptz as settled_at,
    bool_and(state = 'failed' and failed_for_good and not needs_fallback)::boolean as lost
from messages
where incident_id = any(sqlc.arg(incident_ids)::bigint[]) and purpose not like 'follow-up-%' and purpose not like '%-notice'
group by incident_id, step, position, repeat;

-- Every page of incidents that were reopened, the latest of each round, recipient and purpose, also from history. A
-- message whose fallback was not made yet counts as in flight.
-- name: PastMessages :many
select distinct on (incident_id, step, position, repeat, recipient, purpose)
    incident_id::bigint as incident_id, step, position, repeat, recipient, purpose, state::text as state
from (
    select m.incident_id, m.step, m.position, m.repeat, m.recipient, m.purpose,
        case when m.needs_fallback then 'pending' else m.state end as state, m.reopen_count
    from messages m
    where m.incident_id = any(sqlc.arg(incident_ids)::bigint[]) and m.purpose not like '%-notice'
    union all
    select h.incident_id, h.step, h.position, h.repeat, h.recipient, h.purpose, h.state, h.reopen_count
    from message_history h
    where h.incident_id = any(sqlc.arg(incident_ids)::bigint[]) and h.purpose not like '%-notice'
) m
order by incident_id, step, position, repeat, recipient, purpose, reopen_count desc;

-- name: DynamicTargets :many
select d.incident_id, d.dynamic_index, d.role, d.target_id, coalesce(t.name, '')::text as name
from incident_dynamic_targets d
left join named_targets t on t.target_id = d.target_id
where d.incident_id = any(sqlc.arg(incident_ids)::bigint[]);

-- Locks incidents that no other transaction has locked. The version shows whether an incident changed since it was read. Open means that
-- it escalates or is exhausted.
-- name: LockIncidents :many
select id, version, active, (active or (exhausted_at is not null and owner_id is null and not resolved))::boolean as open,
    (resolved or merged_into is not null or coalesce(closed_at, snoozed_until, silenced_until) is not null)::boolean as stopped
from incidents
where id = any(sqlc.arg(ids)::bigint[])
order by id
for no key update skip locked;

-- name: AdvanceIncidents :exec
update incidents i
set current_step = u.current_step,
    step_at = nullif(u.step_at, 'epoch'),
    progress = u.progress::jsonb,
    active = u.active,
    owner_id = case when u.active then i.owner_id end,
    due_at = nullif(u.due_at, 'epoch'),
    exhausted_at = case when not u.active then clock_timestamp() end,
    snoozed_until = null, -- a server of the previous release leaves it when the snooze ends
    version = i.version + 1,
    updated_at = case when u.visible then clock_timestamp() else i.updated_at end
from (
    select unnest(sqlc.arg(ids)::bigint[]) as id,
        unnest(sqlc.arg(current_steps)::smallint[]) as current_step,
        unnest(sqlc.arg(step_ats)::timestamptz[]) as step_at,
        unnest(sqlc.arg(progress)::text[]) as progress,
        unnest(sqlc.arg(actives)::boolean[]) as active,
        unnest(sqlc.arg(due_ats)::timestamptz[]) as due_at,
        unnest(sqlc.arg(visibles)::boolean[]) as visible
) u
where i.id = u.id;

-- Makes messages; one that exists already (promise P3) is left as it is. `ord` numbers the rows, so that audit lines
-- find the message they belong to. A message with a delay is sent after it. held_at makes it count as sent for its step from now on,
-- and its age begins at mode_since.
-- name: MakeMessages :one
with input as materialized (
    select nextval('message_ids')::bigint as id, u.*
    from (
        select unnest(sqlc.arg(ords)::int[]) as ord,
            unnest(sqlc.arg(buckets)::smallint[]) as bucket,
            unnest(sqlc.arg(incident_ids)::bigint[]) as incident_id,
            unnest(sqlc.arg(request_ids)::bigint[]) as request_id,
            unnest(sqlc.arg(application_ids)::bigint[]) as application_id,
            unnest(sqlc.arg(plan_ids)::bigint[]) as plan_id,
            unnest(sqlc.arg(reopen_counts)::smallint[]) as reopen_count,
            unnest(sqlc.arg(steps)::smallint[]) as step,
            unnest(sqlc.arg(positions)::smallint[]) as position,
            unnest(sqlc.arg(repeats)::smallint[]) as repeat,
            unnest(sqlc.arg(recipients)::text[]) as recipient,
            unnest(sqlc.arg(purposes)::text[]) as purpose,
            unnest(sqlc.arg(user_ids)::bigint[]) as user_id,
            unnest(sqlc.arg(targets)::text[]) as target,
            unnest(sqlc.arg(priorities)::text[]) as priority,
            unnest(sqlc.arg(classes)::smallint[]) as class,
            unnest(sqlc.arg(modes)::text[]) as mode,
            unnest(sqlc.arg(literals)::text[]) as literal,
            unnest(sqlc.arg(templates)::text[]) as template,
            unnest(sqlc.arg(fallback_ofs)::bigint[]) as fallback_of,
            unnest(sqlc.arg(expires_ats)::timestamptz[]) as expires_at,
            unnest(sqlc.arg(waits)::int[]) as wait_seconds,
            unnest(sqlc.arg(mode_changeds)::boolean[]) as mode_changed,
            unnest(sqlc.arg(held_ats)::timestamptz[]) as held_at,
            unnest(sqlc.arg(batches)::text[]) as batch,
            unnest(sqlc.arg(batch_sizes)::int[]) as batch_size,
            unnest(sqlc.arg(delays)::int[]) as delay,
            unnest(sqlc.arg(quiet_untils)::timestamptz[]) as quiet_until
    ) u
),
made as (
    insert into messages (id, bucket, incident_id, request_id, application_id, plan_id, reopen_count, step, position,
        repeat, recipient, purpose, user_id, target, priority, class, mode, literal, template, fallback_of, expires_at,
        wait_seconds, mode_changed, state, settled_at, held_at, batch, batch_size, available_at, mode_since, quiet_until)
    select n.id, n.bucket, nullif(n.incident_id, 0), nullif(n.request_id, 0), n.application_id, nullif(n.plan_id, 0),
        n.reopen_count, n.step, n.position, n.repeat, n.recipient, n.purpose, nullif(n.user_id, 0), n.target,
        nullif(n.priority, ''), n.class, n.mode, nullif(n.literal, ''), nullif(n.template, ''), nullif(n.fallback_of, 0),
        nullif(n.expires_at, 'epoch'), n.wait_seconds, n.mode_changed,
        case when n.held_at = 'epoch' then 'pending' else 'aggregated' end, nullif(n.held_at, 'epoch'),
        case when n.delay > 0 then clock_timestamp() else nullif(n.held_at, 'epoch') end, nullif(n.batch, ''), nullif(n.batch_size, 0),
        clock_timestamp() + n.delay * interval '1 second', clock_timestamp() + n.delay * interval '1 second', nullif(n.quiet_until, 'epoch')
    from input n
    on conflict do nothing
    returning id
),
changed as (
    insert into message_changes (message_id, change_type, old, new, description)
    select n.id, c.change_type, c.old, c.new, c.description
    from (
        select unnest(sqlc.arg(change_ords)::int[]) as ord,
            unnest(sqlc.arg(change_types)::text[]) as change_type,
            unnest(sqlc.arg(change_olds)::text[]) as old,
            unnest(sqlc.arg(change_news)::text[]) as new,
            unnest(sqlc.arg(change_descriptions)::text[]) as description
    ) c
    join input n on n.ord = c.ord
    join made on made.id = n.id
    returning 1
)
select (select count(*) from made)::bigint as made, (select count(*) from changed)::bigint as changed;

-- name: AddTimeline :exec
insert into timeline_entries (incident_id, at, kind, actor, text, detail)
select u.incident_id, u.at, u.kind, '', u.text, nullif(u.detail, '')::jsonb
from (
    select unnest(sqlc.arg(incident_ids)::bigint[]) as incident_id,
        unnest(sqlc.arg(ats)::timestamptz[]) as at,
        unnest(sqlc.arg(kinds)::text[]) as kind,
        unnest(sqlc.arg(texts)::text[]) as text,
        unnest(sqlc.arg(details)::text[]) as detail
) u;

-- Puts off an incident that cannot be decided now, whatever state it is in; not one that was acknowledged meanwhile, or changed
-- in another way.
-- name: DelayIncident :execrows
update incidents
set due_at = coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) + make_interval(secs => sqlc.arg(seconds)::float8)
where id = sqlc.arg(id) and version = sqlc.arg(version) and due_at is not null;

-- Cancels what has not left of incidents that are locked and no longer active, also what is held for a digest.
-- name: CancelMessages :many
with locked as materialized (
    select m.id
    from messages m
    where m.incident_id = any(sqlc.arg(incident_ids)::bigint[])
      and (m.state in ('pending', 'taken') or (m.state = 'aggregated' and m.batch is null))
      and m.purpose <> 'resolved-notice'
      and (m.purpose not in ('direct', 'owner-notice') or exists (
          select from incidents i where i.id = m.incident_id
            and (i.resolved or i.merged_into is not null or coalesce(i.closed_at, i.snoozed_until, i.silenced_until) is not null)))
    order by m.id
    for no key update
)
update messages m
set state = 'cancelled', settled_at = clock_timestamp(), claim_by = null, claim_until = null, needs_fallback = false
from locked
where m.id = locked.id
returning m.incident_id::bigint as incident_id;

-- A message whose call runs may yet come back to be sent again; such an incident is looked at once more.
-- name: SettleCancelled :exec
update incidents i
set due_at = case when exists (
        select 1 from messages m where m.incident_id = i.id and m.state in ('pending', 'taken', 'sending') and m.purpose not like '%-notice'
    ) then coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()) + interval '5 seconds' end
where i.id = any(sqlc.arg(ids)::bigint[]);

-- Messages that failed for good in every mode, of incidents and out of band alike, and the other recipients of the same
-- round or request, each with the latest message. A message that failed in every mode counts as failed even while it is retried,
-- because its fallback was made then: it does not count as notifying somebody. The fallback belongs to the incident as it is
-- now, however often it was reopened since: a message that an acknowledgement cancelled must not replace it.
-- name: MessagesNeedingFallback :many
select m.id, m.bucket, m.incident_id, m.request_id, m.application_id, m.plan_id,
    coalesce(i.reopen_count, m.reopen_count)::smallint as reopen_count, m.step, m.position,
    m.repeat, m.recipient, m.purpose, m.user_id, m.target, m.priority, m.class, m.mode, m.template, m.expires_at,
    m.wait_seconds, m.batch, m.batch_size, coalesce(i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved)
        or (m.purpose = 'direct' and not (i.resolved or i.merged_into is not null or coalesce(i.closed_at, i.snoozed_until, i.silenced_until) is not null)), false)::boolean as incident_open,
    (m.state in ('pending', 'taken', 'sending'))::boolean as trying,
    coalesce(others.recipients, '{}')::text[] as other_recipients, coalesce(others.states, '{}')::text[] as other_states
from unnest(sqlc.arg(buckets)::smallint[]) as b(bucket)
cross join lateral (
    select f.*
    from messages f
    where f.bucket = b.bucket and f.needs_fallback and f.id <> all(sqlc.arg(excluded)::bigint[])
    limit sqlc.arg(per_bucket)::int
) m
left join incidents i on i.id = m.incident_id
cross join lateral (
    select array_agg(o.recipient order by o.id) as recipients, array_agg(o.state order by o.id) as states
    from (
        select distinct on (r.recipient, r.purpose) r.id, r.recipient,
            case when r.cycles > 0 and r.state in ('pending', 'taken', 'sending') then 'failed' else r.state end as state
        from (
            select r.* from messages r
            where r.incident_id = m.incident_id and r.step = m.step and r.repeat = m.repeat and r.position = m.position
            union all
            select r.* from messages r where r.request_id = m.request_id
            union all
            select r.* from messages r where r.batch = m.batch and r.incident_id is null and m.incident_id is null
        ) r
        where r.purpose not like 'follow-up-%'
        order by r.recipient, r.purpose, r.reopen_count desc
    ) o
    where o.id <> m.id
) others
limit sqlc.arg(total)::int;

-- name: LockMessagesNeedingFallback :many
select id
from messages
where id = any(sqlc.arg(ids)::bigint[]) and needs_fallback
order by id
for no key update skip locked;

-- name: ClearNeedsFallback :exec
update messages set needs_fallback = false where id = any(sqlc.arg(ids)::bigint[]);

-- name: AddMessageChanges :exec
insert into message_changes (message_id, change_type, old, new, description)
select unnest(sqlc.arg(message_ids)::bigint[]), unnest(sqlc.arg(change_types)::text[]), unnest(sqlc.arg(olds)::text[]),
    unnest(sqlc.arg(news)::text[]), unnest(sqlc.arg(descriptions)::text[]);

-- Looks again at incidents that are still escalating.
-- name: WakeIncidents :exec
update incidents
set due_at = least(due_at, coalesce(sqlc.narg(now)::timestamptz, clock_timestamp()))
where id = any(sqlc.arg(ids)::bigint[]) and active;

-- Floods of pages: messages that are held for a digest, digests, and the counts of messages to people and of applications.

-- Creates the missing rows of floods, in the order of their keys.
-- name: MakeAggregations :exec
insert into aggregations (plan_id, application_id, priority, user_id, bucket)
select u.plan_id, u.application_id, u.priority, u.user_id, u.bucket
from (
    select unnest(sqlc.arg(plan_ids)::bigint[]) as plan_id, unnest(sqlc.arg(application_ids)::bigint[]) as application_id,
        unnest(sqlc.arg(priorities)::text[]) as priority, unnest(sqlc.arg(user_ids)::bigint[]) as user_id,
        unnest(sqlc.arg(buckets)::smallint[]) as bucket
) u
order by u.plan_id, u.application_id, u.priority, u.user_id
on conflict do nothing;

-- name: LockAggregations :many
select a.plan_id, a.application_id, a.priority, a.user_id, a.flood, a.release_at
from aggregations a
join (
    select unnest(sqlc.arg(plan_ids)::bigint[]) as plan_id, unnest(sqlc.arg(application_ids)::bigint[]) as application_id,
        unnest(sqlc.arg(priorities)::text[]) as priority, unnest(sqlc.arg(user_ids)::bigint[]) as user_id
) u using (plan_id, application_id, priority, user_id)
order by a.plan_id, a.application_id, a.priority, a.user_id
for no key update of a;

-- name: StoreAggregations :exec
update aggregations a
set flood = u.flood::jsonb, release_at = nullif(u.release_at, 'epoch'), touched_at = clock_timestamp()
from (
    select unnest(sqlc.arg(plan_ids)::bigint[]) as plan_id, unnest(sqlc.arg(application_ids)::bigint[]) as application_id,
        unnest(sqlc.arg(priorities)::text[]) as priority, unnest(sqlc.arg(user_ids)::bigint[]) as user_id,
        unnest(sqlc.arg(floods)::text[]) as flood, unnest(sqlc.arg(release_ats)::timestamptz[]) as release_at
) u
where a.plan_id = u.plan_id and a.application_id = u.application_id and a.priority = u.priority and a.user_id = u.user_id;

-- Floods of the buckets whose held pages are to leave now, with how many there are.
-- name: DueAggregations :many
select a.plan_id, a.application_id, a.priority, a.user_id, a.bucket,
    coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())::timestamptz as read_at
from unnest(sqlc.arg(buckets)::smallint[]) as b(bucket)
cross join lateral (
    select x.* from aggregations x
    where x.bucket = b.bucket and x.release_at <= coalesce(sqlc.narg(now)::timestamptz, statement_timestamp())
    order by x.release_at
    limit 16
) a
limit 200;

-- name: LockDueAggregation :one
select a.release_at::timestamptz as release_at
from aggregations a
where a.plan_id = @plan_id and a.application_id = @application_id and a.priority = @priority and a.user_id = @user_id
  and a.release_at <= coalesce(sqlc.narg(now)::timestamptz, statement_timestamp())
for no key update;

-- name: SetRelease :exec
update aggregations a set release_at = sqlc.narg(release_at)::timestamptz, touched_at = clock_timestamp()
where a.plan_id = @plan_id and a.application_id = @application_id and a.priority = @priority and a.user_id = @user_id;

-- Held pages of one flood, oldest first. Open means that nobody acknowledged or resolved the incident.
-- name: LockHeld :many
select m.id, m.incident_id::bigint as incident_id, m.mode, m.target, m.class, m.application_id, coalesce(m.priority, '')::text as priority,
    (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved))::boolean as open
from messages m
join incidents i on i.id = m.incident_id
where m.plan_id = @plan_id and m.application_id = @application_id and m.priority = @priority and m.user_id = @user_id
  and m.state = 'aggregated' and m.held_at is not null and m.batch is null and m.quiet_until is null
order by m.id
limit sqlc.arg(most)::int
for no key update of m;

-- Pages to a person that a quiet-time limit holds and whose time has come, oldest first.
-- name: LockQuiet :many
select m.id, m.incident_id::bigint as incident_id, m.mode, m.target, m.class, m.application_id, coalesce(m.priority, '')::text as priority,
    (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved))::boolean as open
from messages m
join incidents i on i.id = m.incident_id
where m.user_id = @user_id and m.state = 'aggregated' and m.batch is null
  and m.quiet_until <= coalesce(sqlc.narg(now)::timestamptz, clock_timestamp())
order by m.id
limit sqlc.arg(most)::int
for no key update of m;

-- When the next page to a person is sent that a quiet-time limit holds; the epoch = none is held.
-- name: NextQuiet :one
select coalesce(min(m.quiet_until), 'epoch')::timestamptz as release_at
from messages m
where m.user_id = @user_id and m.state = 'aggregated' and m.batch is null and m.quiet_until is not null and m.id <> all(sqlc.arg(ids)::bigint[]);

-- name: AnyQuietLimit :one
select exists (select from user_quiet_limits)::boolean;

-- The quiet-time limits of people, with the holidays of their teams around a day. everybody: also people without limits of their own.
-- name: QuietPeople :many
select u.id, u.time_zone, q.per_day, coalesce(q.working_days, '{}')::text[] as working_days,
    array(select distinct h.day::text from holidays h join team_members m on m.team_id = h.team_id and m.member
        where m.user_id = u.id and h.day between (sqlc.arg(at)::timestamptz)::date - 1 and (sqlc.arg(at)::timestamptz)::date + 60)::text[] as holidays
from users u
left join user_quiet_limits q on q.user_id = u.id
where u.id = any(sqlc.arg(user_ids)::bigint[]) and (q.user_id is not null or sqlc.arg(everybody)::boolean);

-- A page that was the only one of its window leaves as it is. It still counts as sent since it was held, so its incident
-- does not wait for it.
-- name: ReleaseHeld :exec
update messages
set mode = @mode, mode_changed = mode_changed or mode <> @mode, state = 'pending', settled_at = null, available_at = clock_timestamp(), mode_since = clock_timestamp()
where id = @id and state = 'aggregated';

-- name: CancelHeld :exec
update messages set state = 'cancelled' where id = any(sqlc.arg(ids)::bigint[]) and state = 'aggregated';

-- name: MakeBatch :exec
with made as (
    insert into batches (id, plan_id, application_id, user_id, pages)
    values (@batch, @plan_id, @application_id, @user_id, @pages)
    returning id
)
insert into batch_incidents (batch, incident_id)
select m.id, i.incident_id from made m cross join (select distinct unnest(sqlc.arg(incident_ids)::bigint[]) as incident_id) i;

-- name: PutIntoBatch :exec
with put as (
    update messages set batch = sqlc.arg(batch)::text, template = null
    where id = any(sqlc.arg(ids)::bigint[])
    returning id
)
insert into message_contents (message_id, destination, subject, body)
select p.id, sqlc.arg(destination)::text, sqlc.arg(subject)::text, sqlc.arg(body)::text from put p
on conflict (message_id) do update set destination = excluded.destination, subject = excluded.subject, body = excluded.body;

-- Digests all of whose incidents were acknowledged or resolved are not sent any more; the pages they stood for were
-- cancelled with them, and are made again should an incident be reopened.
-- name: CancelDigests :execrows
with fence as materialized (
    select bl.bucket
    from bucket_leases bl
    where bl.bucket = any (sqlc.arg(lease_buckets)::smallint[]) and bl.owner = sqlc.arg(process_id)::text
      and bl.epoch = (sqlc.arg(epochs)::bigint[])[bl.bucket + 1]
    order by bl.bucket
    for share of bl
), silent as materialized (
    select m.id, m.batch
    from messages m
    join fence f on f.bucket = m.bucket
    where m.batch is not null and m.incident_id is null and m.settled_at is null and m.state in ('pending', 'taken')
      and not exists (
          select from batch_incidents b join incidents i on i.id = b.incident_id
          where b.batch = m.batch and (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved)))
    order by m.id
    limit 1000
    for no key update of m skip locked
), gone as (
    update messages m
    set state = 'cancelled', settled_at = clock_timestamp(), claim_by = null, claim_until = null, needs_fallback = false
    where m.id = any (array(select s.id from silent s))
), parts as (
    update messages m set state = 'cancelled'
    where m.batch = any (array(select s.batch from silent s)) and m.incident_id is not null and m.state = 'aggregated'
)
insert into message_changes (message_id, change_type, old, new, description)
select s.id, 'sent-change', 'pending', 'cancelled', 'every incident that it stands for was acknowledged or resolved' from silent s;

-- Reads without locks, so that nothing is written while no digest is due.
-- name: SilentDigests :many
select distinct m.bucket
from messages m
where m.batch is not null and m.incident_id is null and m.settled_at is null and m.state in ('pending', 'taken')
  and m.bucket = any (sqlc.arg(buckets)::smallint[])
  and not exists (
      select from batch_incidents b join incidents i on i.id = b.incident_id
      where b.batch = m.batch and (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved)));

-- name: BatchIncidents :many
select b.incident_id from batch_incidents b where b.batch = @batch
union
select h.incident_id from message_history h join incidents i on i.id = h.incident_id where h.batch = @batch -- imported ones
order by incident_id;

-- The reprioritisation rules of people for an application. usable: the person has a contact in the destination mode.
-- name: Reprioritisations :many
select k.user_id::bigint as user_id, k.application_id::bigint as application_id, r.source_mode, r.destination_mode, r.count,
    r.window_seconds,
    (r.destination_mode = 'drop' or (
        (exists (select from user_contacts c where c.user_id = r.user_id and c.mode = r.destination_mode)
            or r.destination_mode = 'push' and exists (select from devices d where d.user_id = r.user_id and d.active))
        and exists (select from application_modes a where a.application_id = k.application_id and a.mode = r.destination_mode)
    ))::boolean as usable
from (
    select distinct unnest(sqlc.arg(user_ids)::bigint[]) as user_id, unnest(sqlc.arg(application_ids)::bigint[]) as application_id
) k
join user_reprioritizations r on r.user_id = k.user_id
order by 1, 2, 3;

-- name: AnyReprioritisation :one
select exists (select from user_reprioritizations)::boolean;

-- name: Quotas :many
select q.application_id, a.name as application, q.hard_threshold, q.soft_threshold, q.hard_seconds, q.soft_seconds,
    coalesce(q.plan_key, '')::text as plan_key, coalesce(q.target_id, 0)::bigint as target_id, q.wait_seconds
from application_quotas q
join applications a on a.id = q.application_id;

-- Who opened incidents of the application iris, apart from the application.
-- name: OpenersOf :many
select i.id, i.opener::text as opener from incidents i where i.id = any(sqlc.arg(ids)::bigint[]) and i.opener is not null;

-- name: MakeCounts :exec
insert into sliding_counts (key)
select u.key from unnest(sqlc.arg(keys)::text[]) as u(key) order by u.key
on conflict do nothing;

-- name: LockCounts :many
select key, state from sliding_counts where key = any(sqlc.arg(keys)::text[]) order by key for no key update;

-- name: StoreCounts :exec
update sliding_counts c
set state = u.state::jsonb, touched_at = clock_timestamp()
from (select unnest(sqlc.arg(keys)::text[]) as key, unnest(sqlc.arg(states)::text[]) as state) u
where c.key = u.key;

-- Whether nobody has claimed an incident, and it is not resolved either.
-- name: IsUnclaimed :one
select exists (select from incidents where id = @id and owner_id is null and not resolved and closed_at is null)::boolean;

-- Adds a line to the timeline of the incident of an earlier breach: it prevents another one.
-- name: TellWaiting :exec
insert into timeline_entries (incident_id, kind, actor, text)
select i.id, 'limited', 'iris', sqlc.arg(text)::text from incidents i where i.id = @incident_id;

-- Opens the incident of a hard breach, for the application iris; nothing when the plan is not active any more.
-- name: OpenBreach :many
with made as (
    insert into incidents (plan_id, application_id, due_at)
    select p.plan_id, a.id, clock_timestamp()
    from plan_active p, applications a
    where p.name_key = lower(sqlc.arg(plan_key)::text) and a.name = 'iris'
    returning id, plan_id
), words as (
    insert into incident_contexts (incident_id, context) select m.id, sqlc.arg(context)::text::json from made m
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select m.id, 'opened', 'iris', 'opened by iris with plan ' || p.name || ', because an application exceeded its hard quota'
    from made m join plans p on p.id = m.plan_id
)
select id from made;

-- Sends an e-mail to the people of a target, from the application iris.
-- name: TellTarget :one
with people as (
    select u.id, u.name from targets t join users u on t.kind = 'user' and u.id = t.kind_id
    where t.target_id = sqlc.arg(target_id)::bigint and u.active
    union
    select u.id, u.name from targets t join team_members m on t.kind = 'team' and m.team_id = t.kind_id join users u on u.id = m.user_id
    where t.target_id = sqlc.arg(target_id)::bigint and u.active
    union
    select u.id, u.name from targets t join mailing_list_members m on t.kind = 'mailing-list' and m.list_id = t.kind_id
    join users u on u.id = m.user_id
    where t.target_id = sqlc.arg(target_id)::bigint and u.active
), request as (
    insert into notification_requests (application_id, subject, body, bare)
    select a.id, sqlc.arg(subject)::text, sqlc.arg(body)::text, true from applications a
    where a.name = 'iris' and exists (select from people)
    returning id, bucket, application_id
), made as (
    insert into messages (bucket, request_id, application_id, recipient, user_id, target, class, mode, expires_at)
    select r.bucket, r.id, r.application_id, 'user:' || p.id, p.id, p.name, 2, 'email', clock_timestamp() + interval '1 hour'
    from request r cross join people p
    returning 1
)
select count(*) from made;

-- name: ApplicationNumber :one
select id from applications where lower(name) = lower(@name::text);

-- name: ApplicationName :one
select name from applications where id = @id;

-- The active target of a name, users before teams and lists; 0 = none.
-- name: TargetNumber :one
select coalesce((
    select t.target_id from targets t where lower(t.name) = lower(@name::text) and t.active
    order by t.kind = 'user' desc, t.kind = 'team' desc limit 1), 0)::bigint as target_id;

-- The message queue, from waiting to recorded.

-- Finds the lanes that have messages to take, by skipping over the index from one lane to the next. Messages that others took may
-- be taken again when the claim ended or the process is not live. Messages in flight are at the head of their lane and are skipped.
-- name: WaitingLanes :many
with recursive lanes as (
    select b.bucket, f.mode, f.class, f.application_id, f.available_at
    from (select unnest(sqlc.arg(buckets)::smallint[]) as bucket) b
    cross join lateral (
        select m.mode, m.class, m.application_id, m.available_at
        from messages m
        where m.bucket = b.bucket and m.settled_at is null and m.available_at >= sqlc.arg(low)::timestamptz
          and (m.state = 'pending' or (m.state = 'taken' and (m.claim_until < clock_timestamp() or m.claim_by <> all (array(
              select p.process_id from members p where p.heartbeat_at > clock_timestamp() - interval '3 seconds')))))
        order by m.mode, m.class, m.application_id, m.available_at
        limit 1
    ) f
    union all
    select l.bucket, n.mode, n.class, n.application_id, n.available_at
    from lanes l
    cross join lateral (
        select m.mode, m.class, m.application_id, m.available_at
        from messages m
        where m.bucket = l.bucket and m.settled_at is null and m.available_at >= sqlc.arg(low)::timestamptz
          and (m.state = 'pending' or (m.state = 'taken' and (m.claim_until < clock_timestamp() or m.claim_by <> all (array(
              select p.process_id from members p where p.heartbeat_at > clock_timestamp() - interval '3 seconds')))))
          and (m.mode, m.class, m.application_id) > (l.mode, l.class, l.application_id)
        order by m.mode, m.class, m.application_id, m.available_at
        limit 1
    ) n
)
select l.bucket::smallint as bucket, l.mode::text as mode, l.class::smallint as class,
    l.application_id::bigint as application_id, l.available_at::timestamptz as available_at, a.name as application,
    clock_timestamp()::timestamptz as clock
from lanes l
join applications a on a.id = l.application_id
where not a.paused;

-- Takes up to l.most messages of each lane, oldest first within a bucket. One statement is the whole fenced transaction:
-- the lease rows are locked and checked again at their newest version before any message is read, and stay locked
-- until the takes are committed. The commit need not reach the disk: after a crash of the server the message waits again, and
-- the process that took it finds that out when it marks the message. Lane i looks into lane_buckets[lane_from[i] .. lane_to[i]]; epochs holds one for each of
-- the 256 buckets. In stand-in buckets the lease is that of another member, whose modes lack those of the lanes that look there: they are
-- those of the epoch, because a member's modes never change. Statements with many rows are written so that nested loops over them stay linear.
-- name: TakeMessages :many
with fence as materialized (
    select bl.bucket
    from bucket_leases bl
    where bl.bucket = any (sqlc.arg(lease_buckets)::smallint[])
      and (bl.owner = sqlc.arg(process_id)::text or bl.bucket = any (sqlc.arg(stand_in_buckets)::smallint[]) and bl.owner is not null)
      and bl.epoch = (sqlc.arg(epochs)::bigint[])[bl.bucket + 1]
      and (select set_config('synchronous_commit', 'off', true)) = 'off'
    order by bl.bucket
    for share of bl
), picked as materialized (
    select c.id
    from (
        select unnest(sqlc.arg(lane_modes)::text[]) as mode, unnest(sqlc.arg(lane_classes)::smallint[]) as class,
            unnest(sqlc.arg(lane_applications)::bigint[]) as application_id, unnest(sqlc.arg(lane_most)::int[]) as most,
            unnest(sqlc.arg(lane_each)::int[]) as each, unnest(sqlc.arg(lane_from)::int[]) as lo,
            unnest(sqlc.arg(lane_to)::int[]) as hi, unnest(sqlc.arg(lane_waited_us)::bigint[]) as waited,
            unnest(sqlc.arg(lane_older_us)::bigint[]) as older, unnest(sqlc.arg(lane_first_us)::bigint[]) as first
    ) l
    cross join lateral (
        select x.id
        from (select unnest((sqlc.arg(lane_buckets)::smallint[])[l.lo:l.hi]) as bucket) t
        cross join lateral (
            select m.id
            from messages m
            where m.bucket = t.bucket and t.bucket = any (array(select f.bucket from fence f))
              and m.settled_at is null and m.mode = l.mode and m.class = l.class
              and m.application_id = l.application_id
              and (m.state = 'pending' or (m.state = 'taken' and (m.claim_until < statement_timestamp() or m.claim_by <> all (array(
                  select p.process_id from members p where p.heartbeat_at > statement_timestamp() - interval '3 seconds')))))
              and m.available_at >= sqlc.arg(low)::timestamptz and m.available_at <= statement_timestamp()
              and (l.waited = 0
                  or m.mode_since <= statement_timestamp() - (case when m.cycles = 0 then l.first else l.waited end) * interval '1 microsecond'
                  or m.created_at <= statement_timestamp() - l.older * interval '1 microsecond')
            order by m.available_at, m.id
            limit l.each
            for no key update skip locked
        ) x
        limit l.most
    ) c
), taken as (
    update messages m
    set state = 'taken', claim_by = sqlc.arg(process_id)::text, takes = m.takes + 1,
        claim_until = clock_timestamp() + sqlc.arg(claim_us)::bigint * interval '1 microsecond'
    where m.id = any (array(select p.id from picked p))
    returning m.*
)
select t.id, t.bucket, coalesce(t.incident_id, 0)::bigint as incident_id, coalesce(t.request_id, 0)::bigint as request_id,
    t.application_id, a.name as application, coalesce(t.plan_id, 0)::bigint as plan_id, t.step, t.position, t.recipient,
    t.purpose, coalesce(t.user_id, 0)::bigint as user_id, t.target, coalesce(t.priority, '')::text as priority, t.class,
    t.mode, coalesce(t.template, '')::text as template, coalesce(t.literal, uc.destination, case
        when t.mode = 'push' and exists (select from devices d where d.user_id = t.user_id and d.active) then 'devices:' || u.name
        end, '')::text as destination,
    (t.user_id is null or t.mode = 'drop' or am.mode is not null)::boolean as allowed,
    (t.user_id is not null and u.active is not true)::boolean as gone,
    t.attempt, t.mode_attempt, t.key_attempt, t.takes, t.tried_modes, t.refused_modes,
    (t.cycles > 0)::boolean as fallback_asked, t.created_at, i.created_at as incident_at,
    (extract(epoch from clock_timestamp() - case when t.held_at is null then t.created_at else t.mode_since end) * 1000000)::bigint
        as age_us,
    (case when t.mode_attempt = 0 then 0 else extract(epoch from clock_timestamp() - t.mode_since) * 1000000 end)::bigint
        as in_mode_us,
    (extract(epoch from clock_timestamp() - t.mode_since) * 1000000)::bigint as waited_us,
    (coalesce(t.expires_at <= statement_timestamp(), false))::boolean as expired,
    coalesce(t.batch, '')::text as batch, coalesce(t.batch_size, 0)::int as batch_size,
    (t.mode = 'sms' and t.user_id is not null and exists (
        select from user_template_overrides o where o.user_id = t.user_id and o.mode = 'sms'))::boolean as override,
    coalesce(case when t.batch is not null and t.incident_id is null then (
        select s.address from application_sender_addresses s where s.application_id = t.application_id and s.mode = t.mode) end, '')::text as sender
from taken t
join applications a on a.id = t.application_id
left join users u on u.id = t.user_id
left join user_contacts uc on uc.user_id = t.user_id and uc.mode = t.mode
left join application_modes am on am.application_id = t.application_id and am.mode = t.mode
left join incidents i on i.id = t.incident_id
order by t.available_at, t.id;

-- Puts taken messages back into the queue. A take whose claim is over counts, because its text may have taken too long.
-- name: ReleaseMessages :exec
update messages m
set state = 'pending', claim_by = null, claim_until = null,
    takes = case when m.claim_until > clock_timestamp() then greatest(m.takes - 1, 0) else m.takes end
where m.id = any (sqlc.arg(ids)::bigint[]) and m.state = 'taken' and m.claim_by = sqlc.arg(process_id)::text;

-- Cancels taken messages. The caller has locked their incidents.
-- name: CancelTaken :many
update messages m
set state = 'cancelled', settled_at = clock_timestamp(), claim_by = null, claim_until = null, needs_fallback = false
where m.id = any (sqlc.arg(ids)::bigint[]) and m.state = 'taken' and m.claim_by = sqlc.arg(process_id)::text
returning coalesce(m.incident_id, 0)::bigint as incident_id;

-- name: HoldIncidents :exec
select i.id from incidents i where i.id = any (sqlc.arg(ids)::bigint[]) order by i.id for no key update;

-- Locks the incidents of messages, and those of their digests.
-- name: HoldIncidentsOf :exec
select i.id
from incidents i
where i.id = any (array(
    select m.incident_id from messages m where m.id = any (sqlc.arg(message_ids)::bigint[]) and m.incident_id is not null
    union
    select bi.incident_id from messages m join batch_incidents bi on bi.batch = m.batch
    where m.id = any (sqlc.arg(message_ids)::bigint[]) and m.incident_id is null))
order by i.id
for no key update;

-- Begins attempts of messages whose incident, or one of a digest, escalates or is exhausted: then messages that were taken are still sent.
-- Every other state has no exhausted_at, an owner, or a resolve. An added page and a notice are sent although the incident is acknowledged; a
-- notice of a resolve, as long as the incident is resolved.
-- name: MarkSending :many
with given as (
    select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(vendors)::text[]) as vendor,
        unnest(sqlc.arg(accounts)::text[]) as account, unnest(sqlc.arg(destinations)::text[]) as destination,
        unnest(sqlc.arg(idempotency_keys)::text[]) as idempotency_key, unnest(sqlc.arg(call_us)::bigint[]) as call_us,
        unnest(sqlc.arg(subjects)::text[]) as subject, unnest(sqlc.arg(bodies)::text[]) as body,
        unnest(sqlc.arg(htmls)::text[]) as html, unnest(sqlc.arg(problems)::text[]) as problem,
        unnest(sqlc.arg(replaced)::text[]) as replaced
), held as (
    -- coalesce keeps the planner from walking the index of all claims for each row
    select g.*
    from given g
    join messages m on m.id = g.id
    where coalesce(m.state, '') = 'taken' and m.claim_by = sqlc.arg(process_id)::text and m.claim_until > clock_timestamp()
      and (m.incident_id is null or exists (
          select from incidents i
          where i.id = m.incident_id and (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved)
              or (m.purpose in ('direct', 'owner-notice') and not (i.resolved or i.merged_into is not null or coalesce(i.closed_at, i.snoozed_until, i.silenced_until) is not null))
              or (m.purpose = 'resolved-notice' and i.resolved))))
      and (m.batch is null or m.incident_id is not null or exists (
          select from batch_incidents bi join incidents i on i.id = bi.incident_id
          where bi.batch = m.batch and (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved))))
    order by m.id
    for no key update of m
), begun as (
    update messages m
    set state = 'sending', attempt = m.attempt + 1, mode_attempt = m.mode_attempt + 1, takes = 0,
        claim_until = clock_timestamp() + g.call_us * interval '1 microsecond'
    from held g
    where m.id = g.id
    returning m.id, m.attempt, m.mode, m.incident_id, m.batch, g.vendor, g.account, g.destination, g.idempotency_key, g.subject,
        g.body, g.html, g.problem, g.replaced
), attempted as (
    insert into attempts (message_id, attempt, mode, vendor, account, destination, process_id, idempotency_key)
    select b.id, b.attempt, b.mode, b.vendor, b.account, b.destination, sqlc.arg(process_id)::text, b.idempotency_key
    from begun b
), worded as (
    insert into message_contents (message_id, destination, subject, body, email_html, render_error)
    select b.id, b.destination, b.subject, b.body, b.html, b.problem from begun b where b.attempt = 1 and b.batch is null
), reworded as (
    -- a separate insert from those without a text, because checking for conflicts costs time
    insert into message_contents (message_id, destination, subject, body, email_html, render_error)
    select b.id, b.destination, b.subject, b.body, b.html, b.problem from begun b where b.attempt > 1 or b.batch is not null
    on conflict (message_id) do update
    set destination = excluded.destination, subject = excluded.subject, body = excluded.body,
        email_html = excluded.email_html, render_error = excluded.render_error
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select b.incident_id, 'template', '', b.problem from begun b where b.problem <> '' and b.incident_id is not null
      and b.attempt = 1
), content_changes as (
    insert into message_changes (message_id, change_type, description)
    select b.id, 'content-change', b.replaced from begun b where b.replaced <> '' and b.attempt = 1
)
select b.id, b.attempt from begun b;

-- Which of the messages that this process has marked, or taken, may be sent. The conditions are those of MarkSending; the mark has been
-- committed, which may have taken long.
-- name: StillOpen :many
select m.id
from messages m
where m.id = any (sqlc.arg(ids)::bigint[]) and m.state = sqlc.arg(state)::text and m.claim_by = sqlc.arg(process_id)::text
  and (m.incident_id is null or exists (
      select from incidents i
      where i.id = m.incident_id and (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved)
          or (m.purpose in ('direct', 'owner-notice') and not (i.resolved or i.merged_into is not null or coalesce(i.closed_at, i.snoozed_until, i.silenced_until) is not null))
              or (m.purpose = 'resolved-notice' and i.resolved))))
  and (m.batch is null or m.incident_id is not null or exists (
      select from batch_incidents bi join incidents i on i.id = bi.incident_id
      where bi.batch = m.batch and (i.active or (i.exhausted_at is not null and i.owner_id is null and not i.resolved))));

-- Completes attempts and moves their messages on; one that names its process only if it is that process's. A message that has moved on without us keeps its state, except that one
-- which still waits for its next attempt needs none when this one turns out to have been sent. Returned is what moved; the
-- attempts of the others are completed as late ones. The incidents are locked first, so that the runner, which locks them
-- while it reads the outcomes of their messages, misses none. This statement must read incidents from the locking part: it
-- began before it got the locks, and other parts see the rows as they were then.
-- name: RecordOutcomes :many
with hold as materialized (
    select i.id, i.active, i.due_at
    from incidents i
    where i.id = any (sqlc.arg(hold_ids)::bigint[])
    order by i.id
    for no key update
), given as (
    select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(attempts)::smallint[]) as attempt,
        unnest(sqlc.arg(outcomes)::text[]) as outcome, unnest(sqlc.arg(details)::text[]) as detail,
        unnest(sqlc.arg(vendor_ids)::text[]) as vendor_message_id, unnest(sqlc.arg(states)::text[]) as state,
        unnest(sqlc.arg(retry_us)::bigint[]) as retry_us, unnest(sqlc.arg(modes)::text[]) as mode,
        unnest(sqlc.arg(tried)::text[]) as tried, unnest(sqlc.arg(refused)::text[]) as refused,
        unnest(sqlc.arg(same_key)::boolean[]) as same_key, unnest(sqlc.arg(ask_fallback)::boolean[]) as ask_fallback,
        unnest(sqlc.arg(for_good)::boolean[]) as for_good,
        unnest(sqlc.arg(unstarted)::boolean[]) as unstarted, unnest(sqlc.arg(why)::text[]) as why,
        unnest(sqlc.arg(audits)::text[]) as audit,
        unnest(sqlc.arg(processes)::text[]) as process
), held as (
    select g.*, m.mode as old_mode
    from given g
    join messages m on m.id = g.id
    where (select count(*) from hold) >= 0 -- after it
    order by m.id
    for no key update of m
), moved as (
    update messages m
    set state = g.state, claim_by = null, claim_until = null,
        available_at = case when g.state = 'pending' then clock_timestamp() + g.retry_us * interval '1 microsecond'
            else m.available_at end,
        settled_at = case when g.state = 'pending' then null else clock_timestamp() end,
        mode = case when g.mode = '' then m.mode else g.mode end,
        mode_changed = m.mode_changed or (g.mode <> '' and g.mode <> m.mode),
        mode_since = case when g.mode <> '' then clock_timestamp() else m.mode_since end,
        mode_attempt = case when g.mode <> '' then 0 else m.mode_attempt end,
        tried_modes = case when g.mode <> '' then coalesce(string_to_array(nullif(g.tried, ''), ','), '{}') else m.tried_modes end,
        refused_modes = case when g.refused <> '' then string_to_array(g.refused, ',') else m.refused_modes end,
        key_attempt = case when g.mode not in ('', m.mode) then 0 when g.same_key then coalesce(nullif(m.key_attempt, 0), m.attempt)
            when g.unstarted then m.key_attempt else 0 end,
        needs_fallback = m.needs_fallback or (g.ask_fallback and m.cycles = 0),
        cycles = m.cycles + g.ask_fallback::int, failed_for_good = g.for_good
    from held g
    where m.id = g.id and m.attempt = g.attempt and g.process in ('', m.claim_by)
      and (m.state = 'sending' or (g.state = 'sent' and m.state in ('pending', 'taken')))
    returning m.id, m.incident_id, m.settled_at, case when g.for_good then 0 else m.wait_seconds end as wait_seconds, m.mode as new_mode, g.old_mode, g.why, g.audit, g.state
), completed as (
    update attempts a
    set finished_at = clock_timestamp(), outcome = g.outcome, detail = g.detail,
        in_doubt = a.in_doubt or (g.moved and g.same_key), late = a.late or not g.moved,
        vendor_message_id = nullif(g.vendor_message_id, '')
    from (select n.*, n.id in (select o.id from moved o) as moved from given n offset 0) g
    where a.message_id = g.id and a.attempt = g.attempt
      and (g.moved or (g.process in ('', a.process_id) and (a.outcome is null or a.in_doubt)))
), due as (
    update incidents i
    set due_at = s.at
    from (
        select b.incident_id, min(b.at) as at
        from (
            select o.incident_id, o.settled_at + o.wait_seconds * interval '1 second' as at, null as active, null as due_at
            from moved o where o.settled_at is not null and o.incident_id is not null
            union all
            select h.id, null, h.active, h.due_at from hold h -- as they were when they were locked
        ) b
        group by b.incident_id
        having bool_or(b.active) and (min(b.due_at) is null or min(b.due_at) > min(b.at))
    ) s
    where i.id = s.incident_id and s.at is not null
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select o.incident_id, 'delivery', '', o.why from moved o where o.why <> '' and o.incident_id is not null
), changed as (
    insert into message_changes (message_id, change_type, old, new, description)
    select o.id, case when o.new_mode <> o.old_mode then 'mode-change' else 'sent-change' end,
        case when o.new_mode <> o.old_mode then o.old_mode else '' end,
        case when o.new_mode <> o.old_mode then o.new_mode else o.state end,
        coalesce(nullif(o.audit, ''), o.why)
    from moved o where o.why <> '' or o.audit <> ''
)
select o.id from moved o;

-- Moves taken messages on without a vendor call. The caller has locked the incidents.
-- name: TurnMessages :exec
with given as (
    select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(states)::text[]) as state,
        unnest(sqlc.arg(retry_us)::bigint[]) as retry_us, unnest(sqlc.arg(modes)::text[]) as mode,
        unnest(sqlc.arg(tried)::text[]) as tried, unnest(sqlc.arg(refused)::text[]) as refused,
        unnest(sqlc.arg(ask_fallback)::boolean[]) as ask_fallback,
        unnest(sqlc.arg(for_good)::boolean[]) as for_good, unnest(sqlc.arg(why)::text[]) as why,
        unnest(sqlc.arg(audits)::text[]) as audit
), held as (
    select g.*, m.mode as old_mode from given g join messages m on m.id = g.id order by m.id for no key update of m
), moved as (
    update messages m
    set state = g.state, claim_by = null, claim_until = null, takes = greatest(m.takes - 1, 0),
        available_at = case when g.state = 'pending' then clock_timestamp() + g.retry_us * interval '1 microsecond'
            else m.available_at end,
        settled_at = case when g.state = 'pending' then null else clock_timestamp() end,
        mode = case when g.mode = '' then m.mode else g.mode end,
        mode_changed = m.mode_changed or (g.mode <> '' and g.mode <> m.mode),
        mode_attempt = case when g.mode <> '' then 0 else m.mode_attempt end,
        mode_since = case when g.mode <> '' then clock_timestamp() else m.mode_since end,
        tried_modes = case when g.mode <> '' then coalesce(string_to_array(nullif(g.tried, ''), ','), '{}') else m.tried_modes end,
        refused_modes = case when g.refused <> '' then string_to_array(g.refused, ',') else m.refused_modes end,
        key_attempt = case when g.mode not in ('', m.mode) then 0 else m.key_attempt end,
        needs_fallback = m.needs_fallback or (g.ask_fallback and m.cycles = 0),
        cycles = m.cycles + g.ask_fallback::int, failed_for_good = g.for_good
    from held g
    where m.id = g.id and m.state = 'taken' and m.claim_by = sqlc.arg(process_id)::text
    returning m.id, m.incident_id, m.settled_at, case when g.for_good then 0 else m.wait_seconds end as wait_seconds, m.mode as new_mode, g.old_mode, g.why, g.audit, g.state
), due as (
    update incidents i
    set due_at = least(i.due_at, s.at)
    from (
        select o.incident_id, min(o.settled_at + o.wait_seconds * interval '1 second') as at
        from moved o where o.settled_at is not null and o.incident_id is not null group by o.incident_id
    ) s
    where i.id = s.incident_id and i.active and (i.due_at is null or i.due_at > s.at)
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select o.incident_id, 'delivery', '', o.why from moved o where o.why <> '' and o.incident_id is not null
)
insert into message_changes (message_id, change_type, old, new, description)
select o.id, case when o.new_mode <> o.old_mode then 'mode-change' else 'sent-change' end,
    case when o.new_mode <> o.old_mode then o.old_mode else '' end,
    case when o.new_mode <> o.old_mode then o.new_mode else o.state end,
        coalesce(nullif(o.audit, ''), o.why)
from moved o where o.why <> '' or o.audit <> '';

-- Messages that are being sent although their claim ended: by processes that are not live, in our buckets; and by this process,
-- in any bucket (the caller knows which ones it is still sending). The claims of a process that has ended are over at once.
-- name: OverdueSending :many
select m.id, coalesce(m.incident_id, 0)::bigint as incident_id, m.bucket, m.mode, m.attempt
from attempts a
join messages m on m.id = a.message_id and m.attempt = a.attempt
where a.finished_at is null and m.state = 'sending'
  and (m.claim_until < clock_timestamp() and m.claim_by = sqlc.arg(process_id)::text
    or m.bucket = any (sqlc.arg(buckets)::smallint[]) and case
        when m.claim_until < clock_timestamp() then m.claim_by <> all (array(
            select p.process_id from members p where p.heartbeat_at > clock_timestamp() - interval '3 seconds'))
        else m.claim_by = any (array(select p.process_id from members p where p.ended_at > p.heartbeat_at)) end)
limit 1000;

-- name: DoubtAttempts :exec
with given as (
    select unnest(sqlc.arg(ids)::bigint[]) as id, unnest(sqlc.arg(attempts)::smallint[]) as attempt
), moved as (
    update messages m
    set state = 'pending', claim_by = null, claim_until = null, available_at = clock_timestamp(),
        key_attempt = coalesce(nullif(m.key_attempt, 0), m.attempt)
    from given g
    where m.id = g.id and m.attempt = g.attempt and m.state = 'sending'
      and (m.claim_until < statement_timestamp() or m.claim_by in (select p.process_id from members p where p.ended_at > p.heartbeat_at))
    returning m.id, m.attempt, m.incident_id, m.mode, m.target
), labelled as (
    update attempts a
    set outcome = 'unknown', in_doubt = true, finished_at = clock_timestamp(),
        detail = 'the process that was sending it is gone; it may have arrived'
    from moved o
    where a.message_id = o.id and a.attempt = o.attempt and a.outcome is null
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select o.incident_id, 'delivery', '', 'The ' || o.mode || ' to ' || o.target ||
        ' may or may not have left: the process that was sending it is gone. It is sent again.'
    from moved o where o.incident_id is not null
)
insert into message_changes (message_id, change_type, old, new, description)
select o.id, 'sent-change', 'sending', 'pending', 'in doubt: the process that was sending it is gone' from moved o;

-- name: ExpiredBuckets :many
select distinct m.bucket
from messages m
where m.state = 'pending' and m.settled_at is null and m.bucket = any (sqlc.arg(buckets)::smallint[]) and m.expires_at < clock_timestamp();

-- name: ExpireMessages :execrows
with fence as materialized (
    select bl.bucket
    from bucket_leases bl
    where bl.bucket = any (sqlc.arg(lease_buckets)::smallint[]) and bl.owner = sqlc.arg(process_id)::text
      and bl.epoch = (sqlc.arg(epochs)::bigint[])[bl.bucket + 1]
    order by bl.bucket
    for share of bl
), stale as materialized (
    select m.id
    from messages m
    join fence f on f.bucket = m.bucket
    where m.state = 'pending' and m.settled_at is null and m.expires_at < statement_timestamp()
    order by m.id
    limit 1000
    for no key update of m skip locked
), gone as (
    update messages m
    set state = 'dropped', settled_at = clock_timestamp()
    where m.id = any (array(select s.id from stale s))
    returning m.id
)
insert into message_changes (message_id, change_type, old, new, description)
select g.id, 'sent-change', 'pending', 'dropped', 'it expired before it could be sent' from gone g;

-- Drops pending messages by filter, a bounded number at a time; null = any. Incident messages settle, so their incidents are
-- looked at again.
-- name: PurgePending :many
select m.id, coalesce(m.incident_id, 0)::bigint as incident_id
from messages m
where m.state = 'pending' and m.settled_at is null
  and (sqlc.narg(application_id)::bigint is null or m.application_id = sqlc.narg(application_id)::bigint)
  and (sqlc.narg(mode)::text is null or m.mode = sqlc.narg(mode)::text)
  and (sqlc.narg(incident_id)::bigint is null or m.incident_id = sqlc.narg(incident_id)::bigint)
  and (not sqlc.arg(out_of_band)::boolean or m.incident_id is null)
  and m.created_at <= statement_timestamp() - sqlc.arg(older_us)::bigint * interval '1 microsecond'
order by m.id
limit 1000;

-- The caller has locked the incidents.
-- name: DropPending :many
with locked as (
    select m.id from messages m
    where m.id = any (sqlc.arg(ids)::bigint[]) and m.state = 'pending' order by m.id for no key update
), gone as (
    update messages m
    set state = 'dropped', settled_at = clock_timestamp()
    from locked l where m.id = l.id
    returning m.id, m.incident_id, m.mode, m.target
), due as (
    update incidents i set due_at = clock_timestamp()
    where i.id = any (array(select g.incident_id from gone g where g.incident_id is not null)) and i.active
), noted as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select g.incident_id, 'operator', sqlc.arg(actor)::text, 'The ' || g.mode || ' to ' || g.target || ' was dropped: ' || sqlc.arg(why)::text
    from gone g where g.incident_id is not null
), changed as (
    insert into message_changes (message_id, change_type, old, new, description)
    select g.id, 'sent-change', 'pending', 'dropped', sqlc.arg(why)::text from gone g
)
select g.id from gone g;

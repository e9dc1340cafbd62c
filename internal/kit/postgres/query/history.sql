-- Moves finished messages to history and deletes old rows. Ages are compared with statement_timestamp():
-- clock_timestamp() is volatile, so that PostgreSQL would read the whole index.

-- Reads the next settled messages after the cursor, and those that are due to be read again. Moves those that are finished, and
-- moves the cursor on. A message of an active incident is read again when the incident ends; any other message that cannot be moved
-- is read again after the age. Idempotent by message id: a message that is in both tables is written once.
-- name: MoveToHistory :one
with place as materialized (
    select c.settled_at, c.message_id from history_cursor c for update
), span as materialized (
    select m.id, m.settled_at
    from messages m
    where m.settled_at is not null and m.settled_at < statement_timestamp() - sqlc.arg(age_us)::bigint * interval '1 microsecond'
      and (m.settled_at, m.id) > ((select p.settled_at from place p), (select p.message_id from place p))
    order by m.settled_at, m.id
    limit sqlc.arg(most)::int
), due as (
    delete from history_revisits r
    where r.ctid = any (array(
        select x.ctid from history_revisits x where x.due_at <= statement_timestamp() order by x.due_at limit sqlc.arg(revisits)::int
        for update skip locked))
    returning r.incident_id, r.message_id
), candidates as materialized (
    select s.id from span s
    union
    select d.message_id from due d where d.message_id is not null
    union
    select m.id from messages m
    where m.incident_id = any (array(select d.incident_id from due d where d.incident_id is not null))
      and m.settled_at < statement_timestamp() - sqlc.arg(age_us)::bigint * interval '1 microsecond'
), finished as materialized (
    select m.*
    from messages m
    left join incidents i on i.id = m.incident_id
    where m.id = any (array(select c.id from candidates c))
      and m.state in ('sent', 'delivered', 'failed', 'cancelled', 'aggregated', 'dropped') and not m.needs_fallback
      and m.settled_at is not null and (i.id is null or not i.active) and (m.state <> 'aggregated' or m.batch is not null)
    order by m.id
    for no key update of m skip locked
), copied as (
    insert into message_history (id, created_at, bucket, incident_id, request_id, application_id, plan_id, reopen_count,
        step, position, repeat, recipient, purpose, user_id, target, priority, class, mode, template, state, attempt,
        mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts,
        batch)
    select f.id, f.created_at, f.bucket, f.incident_id, f.request_id, f.application_id, f.plan_id, f.reopen_count, f.step,
        f.position, f.repeat, f.recipient, f.purpose, f.user_id, f.target, f.priority, f.class, f.mode, f.template, f.state,
        f.attempt, f.mode_changed, f.settled_at, coalesce(c.destination, f.literal, ''), coalesce(c.subject, ''),
        without_link_tokens(coalesce(c.body, '')), without_link_tokens(coalesce(c.email_html, '')), coalesce(c.render_error, ''),
        coalesce((select jsonb_agg(to_jsonb(a) order by a.attempt) from attempts a where a.message_id = f.id), '[]'),
        f.batch
    from finished f
    left join message_contents c on c.message_id = f.id
    on conflict (id, created_at) do nothing
), vendor_ids as (
    -- The receipt of Twilio for a text can arrive hours later. Other vendors send no receipts.
    insert into vendor_messages (vendor, vendor_message_id, message_id, attempt, created_at)
    select a.vendor, a.vendor_message_id, f.id, a.attempt, f.created_at
    from finished f
    join attempts a on a.message_id = f.id
    where a.vendor = 'twilio' and a.vendor_message_id <> ''
    on conflict do nothing
), gone as (
    delete from messages m where m.id = any (array(select f.id from finished f))
), contents_gone as (
    delete from message_contents c where c.message_id = any (array(select f.id from finished f))
), attempts_gone as (
    delete from attempts a where a.message_id = any (array(select f.id from finished f))
), revisit as (
    insert into history_revisits (message_id, due_at)
    select m.id, statement_timestamp() + sqlc.arg(age_us)::bigint * interval '1 microsecond'
    from messages m
    left join incidents i on i.id = m.incident_id
    where m.id = any (array(select c.id from candidates c except select f.id from finished f))
      and m.settled_at is not null and (i.id is null or not i.active)
), moved_on as (
    update history_cursor set settled_at = l.settled_at, message_id = l.id
    from (select s.settled_at, s.id from span s order by s.settled_at desc, s.id desc limit 1) l
)
select (select count(*) from span)::int as passed, (select count(*) from due)::int as revisited,
    (select count(*) from finished)::int as moved,
    coalesce((select max(s.settled_at) from span s), statement_timestamp())::timestamptz as settled_at;

-- Receipts that no message was found for.
-- name: ForgetStrayReceipts :execrows
delete from receipts r
where r.id in (
    select s.id from receipts s where s.message_id is null and s.at < statement_timestamp() - interval '15 minutes'
    order by s.id limit 1000);

-- Names that vendors gave to finished messages. Nobody sends a receipt a week later.
-- name: ForgetVendorMessages :execrows
delete from vendor_messages v
where v.ctid = any (array(
    select s.ctid from vendor_messages s where s.created_at < statement_timestamp() - interval '7 days' order by s.created_at limit 1000));

-- name: ForgetIdempotencyKeys :execrows
delete from idempotency_keys k
where (k.application_id, k.route, k.key) in (
    select s.application_id, s.route, s.key from idempotency_keys s
    where s.created_at < statement_timestamp() - interval '24 hours' order by s.created_at limit 1000);

-- name: ForgetPauses :execrows
delete from vendor_pauses p where p.until < statement_timestamp() - interval '1 hour';

-- name: ForgetHandovers :execrows
delete from handovers h where h.id in (
    select s.id from handovers s where s.at < statement_timestamp() - interval '30 days' order by s.at limit 1000);

-- Audit lines are kept for three months at most. Numbers grow with time: the first rows are the oldest, and if the very first is not
-- old enough, no other row is read.
-- name: ForgetMessageChanges :execrows
delete from message_changes c
where c.at < statement_timestamp() - least(sqlc.arg(retention_us)::bigint * interval '1 microsecond', interval '3 months')
  and c.id = any (array(select s.id from message_changes s order by s.id limit case
    when (select f.at from message_changes f order by f.id limit 1)
        < statement_timestamp() - least(sqlc.arg(retention_us)::bigint * interval '1 microsecond', interval '3 months') then 1000 else 0 end));

-- name: ForgetReceipts :execrows
delete from receipts c
where c.at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond'
  and c.id = any (array(select s.id from receipts s order by s.id limit case
    when (select f.at from receipts f order by f.id limit 1)
        < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond' then 1000 else 0 end));

-- name: ForgetNotificationRequests :execrows
delete from notification_requests n
where n.id in (
    select s.id from notification_requests s
    where s.created_at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond'
      and not exists (select from messages m where m.request_id = s.id)
    order by s.created_at limit 1000);

-- Deletes old rows of the default partition, which holds messages without a partition of their month. Their hours are counted again.
-- name: ForgetUnpartitioned :one
with gone as (
    delete from message_history_default d
    where d.created_at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond'
      and d.id in (select s.id from message_history_default s order by s.created_at limit 1000)
    returning coalesce(d.settled_at, d.created_at) as at
), recounted as (
    insert into statistics_changes (at) select distinct statistics_hour(g.at) from gone g
)
select count(*) from gone;

-- Creates the partition of a month in the future, if it does not exist. Rows of that month move there from the default partition.
-- name: MakeHistoryPartition :one
select make_history_partition(statement_timestamp() + sqlc.arg(months)::int * interval '1 month')::boolean as made;

-- Drops partitions, and lets the hours be counted again in which their messages settled: within 35 days of their creation.
-- name: DropHistoryPartitions :one
with dropped as materialized (
    select drop_history_partitions(statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond') as n
), recounted as (
    insert into statistics_changes (at)
    select distinct s.at from statistics_messages s
    where (select d.n from dropped d) > 0
      and s.at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond' + interval '35 days'
)
select d.n::int as dropped from dropped d;

-- Rows that were not used for long: old counts, and digests that cannot be answered any more.
-- name: ForgetCounts :execrows
delete from sliding_counts c
where c.key in (select s.key from sliding_counts s where s.touched_at < statement_timestamp() - interval '31 days'
    order by s.touched_at limit 1000);

-- name: ForgetAggregations :execrows
delete from aggregations a
where a.release_at is null and a.touched_at < statement_timestamp() - interval '31 days' and (a.plan_id, a.application_id, a.priority, a.user_id) in (
    select s.plan_id, s.application_id, s.priority, s.user_id from aggregations s
    where s.touched_at < statement_timestamp() - interval '31 days' order by s.touched_at limit 1000);

-- name: ForgetBatches :execrows
delete from batches b
where b.id in (select s.id from batches s
    where s.created_at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond' order by s.created_at limit 1000);

-- Checks that every process makes, for all buckets.

-- The message of every application and class that became due first and has not left: waiting, taken, being sent, or to be
-- tried again later. Its age counts from when it first became due; a retry does not renew it. Messages that an operator has
-- paused are left out. Each lateral look-up reads the head of the index messages_late, whose condition contains id > 0.
-- name: OldestUnsent :many
select f.id::bigint as id, f.bucket::smallint as bucket, f.mode::text as mode, a.name as application,
    extract(epoch from statement_timestamp() - case when f.held_at is null then f.created_at else f.mode_since end)::float8 as age_seconds
from applications a
cross join (select generate_series(0, 2)::smallint as class) c
cross join lateral (
    select m.id, m.bucket, m.mode, m.created_at, m.held_at, m.mode_since
    from messages m
    where m.application_id = a.id and m.class = c.class and m.settled_at is null and m.id > 0 and m.state in ('pending', 'taken', 'sending')
      and (m.held_at is null or m.mode_since <= statement_timestamp()) -- not a follow-up whose time has not come
      and not exists (select from vendor_pauses p where p.account = 'mode:' || m.mode and p.until > statement_timestamp())
    order by m.created_at
    limit 1
) f
where not a.paused
order by age_seconds desc, f.id
limit 100;

-- The stored result of a check. One process makes the check, the others read its result.
-- name: WatchResult :one
select cast(w.result as text) as result, extract(epoch from statement_timestamp() - w.looked_at)::float8 as age_seconds
from watch_results w where w.name = sqlc.arg(name)::text and w.result is not null;

-- Lets one process make the check: no row if another process began it within the time.
-- name: ClaimWatch :execrows
insert into watch_results (name, claimed_at) values (sqlc.arg(name)::text, statement_timestamp())
on conflict (name) do update set claimed_at = excluded.claimed_at
where watch_results.claimed_at <= statement_timestamp() - sqlc.arg(within_us)::bigint * interval '1 microsecond';

-- name: StoreWatch :exec
update watch_results set result = sqlc.arg(result)::text::jsonb, looked_at = statement_timestamp() where name = sqlc.arg(name)::text;

-- Notes on the timelines of their incidents that pages have not left in time, each page once. Only pages made after low are
-- looked at.
-- name: NoteUnsent :many
with late as (
    select m.id
    from applications a
    cross join (select generate_series(0, 1)::smallint as class) c
    cross join lateral (
        select x.id from messages x
        where x.application_id = a.id and x.class = c.class and x.settled_at is null and x.id > 0
          and x.created_at > sqlc.arg(low)::timestamptz
          and x.created_at <= statement_timestamp() - sqlc.arg(after_us)::bigint * interval '1 microsecond'
          and case when x.held_at is null then x.created_at else x.mode_since end
              <= statement_timestamp() - sqlc.arg(after_us)::bigint * interval '1 microsecond'
          and x.late_at is null and x.incident_id is not null and x.state in ('pending', 'taken', 'sending')
          and x.bucket = any (sqlc.arg(buckets)::smallint[])
          and exists (select from incidents i where i.id = x.incident_id and i.active)
          and not exists (select from vendor_pauses p where p.account = 'mode:' || x.mode and p.until > statement_timestamp())
        order by x.created_at
        limit 500
    ) m
    where not a.paused
), locked as (
    select m.id from messages m where m.id = any (array(select l.id from late l)) and m.late_at is null and m.settled_at is null
    order by m.id
    for no key update of m skip locked
), noted as (
    update messages m set late_at = clock_timestamp()
    from locked l where m.id = l.id
    returning m.id, m.incident_id, m.application_id, m.mode, m.target, m.attempt,
        extract(epoch from clock_timestamp() - case when m.held_at is null then m.created_at else m.mode_since end)::float8 as age
), timeline as (
    insert into timeline_entries (incident_id, kind, actor, text)
    select n.incident_id, 'delivery', '', 'The ' || n.mode || ' to ' || n.target || ' has not been sent after ' || round(n.age)::text
        || ' s' || coalesce(': ' || nullif(t.detail, ''), '') || '. It is tried again.'
    from noted n
    left join attempts t on t.message_id = n.id and t.attempt = n.attempt
)
select n.id::bigint as id, n.incident_id::bigint as incident_id, n.mode::text as mode, a.name as application, n.age::float8 as age_seconds
from noted n
join applications a on a.id = n.application_id
order by n.id;

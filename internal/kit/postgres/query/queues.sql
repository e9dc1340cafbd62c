-- name: QueueDepths :many
-- It never reads finished rows. Follow-ups whose time has not come are left out.
select q.mode, a.name as application, q.class, sum(q.waiting)::bigint as waiting, sum(q.in_flight)::bigint as in_flight,
       coalesce(extract(epoch from clock_timestamp() - min(q.oldest)), 0)::float8 as oldest_seconds
from (
    select m.mode, m.application_id, m.class, count(*) filter (where m.state = 'pending') as waiting,
        count(*) filter (where m.state <> 'pending') as in_flight,
        min(case when m.held_at is null then m.created_at else m.mode_since end) filter (where m.state = 'pending') as oldest
    from messages m where m.settled_at is null and (m.held_at is null or m.mode_since <= statement_timestamp())
    group by m.mode, m.application_id, m.class
) as q
join applications a on a.id = q.application_id
group by q.mode, a.name, q.class
order by q.mode, q.class, a.name;

-- name: PendingByApplication :many
-- What each application has waiting: messages not yet on their way, and incidents whose next step is overdue.
select application_id, sum(n)::bigint as pending from (
    select m.application_id, count(*) as n from messages m
    where m.state = 'pending' and m.settled_at is null and (m.held_at is null or m.mode_since <= statement_timestamp()) group by m.application_id
    union all
    select i.application_id, count(*) from generate_series(0, 255) as b(bucket)
    join incidents i on i.bucket = b.bucket::smallint and i.due_at <= statement_timestamp()
    group by i.application_id
) as waiting
group by application_id;

-- Fills a database with the size that docs/performance.md measures at. "SCALE" is a share of the full size: 1 makes 3,000,000 past incidents,
-- 6,000,000 past messages, 500,000 sleeping incidents, 1,000 applications, plans and teams, and 5,000 people. Past rows are 180 days old at most, and
-- stored in the order of their time, as in a real installation.
set statement_timeout = 0;
set synchronous_commit = off;

create temporary table sizes as
    select greatest(1, round(5000 * SCALE))::int as people, greatest(1, round(1000 * SCALE))::int as teams,
        round(3000000 * SCALE)::int as past, round(500000 * SCALE)::int as sleeping;

create temporary table made_users as
    with made as (
        insert into users (name, full_name, canonical_name)
        select 'bench-fill-user-' || n, 'Person ' || n || ' of Fill', 'bench-fill-user-' || n from sizes, generate_series(1, people) n
        returning id)
    select id, row_number() over (order by id)::int as n from made;
insert into user_contacts (user_id, mode, destination, verified_destination)
    select id, 'email', 'fill-' || n || '@bench.invalid', 'fill-' || n || '@bench.invalid' from made_users;

create temporary table made_teams as
    with made as (insert into teams (name) select 'bench-fill-team-' || n from sizes, generate_series(1, teams) n returning id)
    select id, row_number() over (order by id)::int as n from made;
insert into team_members (team_id, user_id, position)
    select t.id, u.id, k from made_teams t, generate_series(0, 4) k, sizes s, made_users u where u.n = (t.n * 5 + k) % s.people + 1
    on conflict do nothing;
-- Daily shifts of one role, 30 days back and 30 days ahead.
insert into shifts (team_id, role_id, user_id, starts_at, ends_at)
    select t.id, r.id, u.id, date_trunc('day', now()) + day * interval '1 day', date_trunc('day', now()) + (day + 1) * interval '1 day'
    from made_teams t, oncall_roles r, generate_series(-30, 30) day, sizes s, made_users u
    where r.name = 'primary' and u.n = (t.n * 5 + (day + 30) % 5) % s.people + 1;

create temporary table made_applications as
    with made as (insert into applications (name, title_variable) select 'bench-fill-app-' || n, 'title' from sizes, generate_series(1, teams) n returning id)
    select id, row_number() over (order by id)::int as n from made;
create temporary table made_plans as
    with made as (
        insert into plans (name, creator_id, description, threshold_window, threshold_count, aggregation_window, aggregation_reset)
        select 'bench-fill-plan-' || n, (select min(id) from made_users), 'made by iris bench --fill', 900, 1000000, 300, 300 from sizes, generate_series(1, teams) n
        returning id, name)
    select id, name, row_number() over (order by id)::int as n from made;
insert into plan_active (name_key, plan_id) select name, id from made_plans;
insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat)
    select p.id, 1, 0, 'high', 'oncall-primary', t.target_id, 'fill', 300, 1 from made_plans p join made_teams m using (n) join teams t on t.id = m.id;

insert into integrations (application_id, name, type, rate_per_minute, created_by)
    select id, 'bench-fill-integration-' || n, 'generic', 60, 'bench-fill-user-1' from made_applications;
insert into heartbeats (integration_id, name, every_seconds, grace_seconds, created_by, check_at) -- none is due
    select id, replace(name, 'integration', 'heartbeat'), 3600, 60, 'bench-fill-user-1', now() + interval '10 years' from integrations where name like 'bench-fill-integration-%';
insert into silences (match, starts_at, ends_at, comment, author)
    select 'cluster="none-' || n || '"', now() - interval '1 day', now() + interval '30 days', 'made by iris bench --fill', 'bench-fill-user-1' from made_applications;

create temporary table made_incidents as
    with made as (
        insert into incidents (plan_id, application_id, created_at, updated_at, active, resolved, owner_id, current_step)
        select p.id, a.id, at, at + interval '10 minutes', false, k % 5 = 0, u.id, 1
        from sizes s
        cross join lateral (select k, now() - interval '1 hour' - (s.past - k) * (interval '180 days' / s.past) as at from generate_series(1, s.past) k) x
        join made_plans p on p.n = (k * 7) % s.teams + 1 join made_applications a on a.n = (k * 7) % s.teams + 1
        join made_users u on u.n = (k * 13) % s.people + 1
        order by k
        returning id, plan_id, application_id, owner_id, created_at)
    select * from made;
insert into incident_contexts (incident_id, context)
    select id, json_build_object('title', 'disk of host-' || id % 5000 || ' is full', 'severity', 'critical', 'labels',
        json_build_object('alertname', 'DiskFull', 'instance', 'host-' || id % 5000, 'cluster', 'c' || id % 20, 'job', 'node'), 'values', json_build_array(1, 5, 9))
    from made_incidents;
insert into timeline_entries (incident_id, at, kind, actor, text)
    select id, created_at + k * interval '1 minute', case k when 0 then 'opened' when 1 then 'step' else 'acknowledged' end, 'fill', 'Line ' || k || ' of the timeline'
    from made_incidents, generate_series(0, 2) k order by id, k;

select make_history_partition(now() - months * interval '1 month') from generate_series(0, 6) months;
insert into message_history (id, created_at, bucket, incident_id, application_id, plan_id, reopen_count, step, position, repeat, recipient, purpose, user_id, target,
        priority, class, mode, template, state, attempt, mode_changed, settled_at, destination, subject, body, email_html, render_error, attempts)
    select nextval('message_ids'), created_at, id & 255, id, application_id, plan_id, 0, 1, 0, k, 'user:' || owner_id, 'primary', owner_id, (select u.name from users u where u.id = owner_id),
        'high', 1, 'email', 'fill', 'sent', 1, false, created_at + interval '2 seconds', 'fill@bench.invalid', 'CRITICAL: disk of host-' || id % 5000 || ' is full',
        repeat('The disk is full. ', 12), '', '', '[{"attempt": 1, "mode": "email", "vendor": "smtp", "outcome": "sent"}]'
    from made_incidents, generate_series(0, 1) k order by created_at, k;

insert into incidents (plan_id, application_id, created_at, due_at, step_at)
    select p.id, a.id, now() - interval '1 hour', at, at
    from sizes s
    cross join lateral (select k, now() + interval '1 day' + k * interval '1 second' as at from generate_series(1, s.sleeping) k) x
    join made_plans p on p.n = k % s.teams + 1 join made_applications a on a.n = k % s.teams + 1;

drop table sizes, made_users, made_teams, made_applications, made_plans, made_incidents;
analyze;

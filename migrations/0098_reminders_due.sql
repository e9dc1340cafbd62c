-- +goose Up

-- The rows of the view are the same as before. Now the shifts are found by their edges: those that begin or end later than a reminder
-- can be due are not read.
create index notice_settings_before on notice_settings (type, time_before) where time_before is not null;
create or replace view reminders_due as
with recursive before as (
    (select n.type, n.time_before from notice_settings n where n.time_before is not null order by n.type, n.time_before limit 1)
    union all
    select f.type, f.time_before
    from before b
    cross join lateral (
        select n.type, n.time_before from notice_settings n
        where n.time_before is not null and (n.type, n.time_before) > (b.type, b.time_before)
        order by n.type, n.time_before limit 1
    ) f
)
select d.*
from (
    select n.team_id, t.name as team, n.user_id, u.name as user_name, u.time_zone as user_zone, n.type, n.mode, n.time_before,
        greatest(n.changed_at, s.changed_at) as known_at, s.feed_id, r.name as role, s.link_id, s.starts_at, s.ends_at, s.edge,
        s.edge - make_interval(secs => n.time_before) as due_at
    from before b
    cross join lateral (
        select x.*, x.starts_at as edge from shifts x
        where b.type = 'oncall_reminder' and x.starts_at > now() - interval '5 minutes'
            and x.starts_at <= now() + make_interval(secs => b.time_before)
        union all
        select x.*, x.ends_at from shifts x
        where b.type = 'offcall_reminder' and x.ends_at > now() - interval '5 minutes'
            and x.ends_at <= now() + make_interval(secs => b.time_before)
    ) s
    join notice_settings n on n.user_id = s.user_id and n.team_id = s.team_id and n.type = b.type and n.time_before = b.time_before
    join teams t on t.id = n.team_id and t.active
    join users u on u.id = n.user_id and u.active
    join notice_setting_roles nr on nr.setting_id = n.id and nr.role_id = s.role_id
    join oncall_roles r on r.id = s.role_id
) d
where d.due_at <= now() and d.known_at <= d.due_at
    and d.edge > now() - case when d.time_before < 300 then interval '5 minutes' else interval '0' end
    and not exists (select 1 from shifts o where o.link_id = d.link_id and o.user_id = d.user_id
        and case d.type when 'oncall_reminder' then o.starts_at < d.starts_at else o.ends_at > d.ends_at end)
    and not exists (select 1 from reminders_made m
        where m.feed_id = d.feed_id and m.user_id = d.user_id and m.type = d.type and m.mode = d.mode and m.due_at = d.due_at);
insert into schema_compatibility (version, oldest) values (98, 72);

-- +goose Down
delete from schema_compatibility where version = 98;
create or replace view reminders_due as
select d.*
from (
    select n.team_id, t.name as team, n.user_id, u.name as user_name, u.time_zone as user_zone, n.type, n.mode, n.time_before,
        greatest(n.changed_at, s.changed_at) as known_at, s.feed_id, r.name as role, s.link_id, s.starts_at, s.ends_at, e.edge,
        e.edge - make_interval(secs => n.time_before) as due_at
    from notice_settings n
    join teams t on t.id = n.team_id and t.active
    join users u on u.id = n.user_id and u.active
    join shifts s on s.user_id = n.user_id and s.team_id = n.team_id
    join notice_setting_roles nr on nr.setting_id = n.id and nr.role_id = s.role_id
    join oncall_roles r on r.id = s.role_id
    cross join lateral (select case n.type when 'oncall_reminder' then s.starts_at else s.ends_at end as edge) e
    where n.type in ('oncall_reminder', 'offcall_reminder') and n.time_before is not null
        and s.ends_at > now() - interval '5 minutes'
) d
where d.due_at <= now() and d.known_at <= d.due_at
    and d.edge > now() - case when d.time_before < 300 then interval '5 minutes' else interval '0' end
    and not exists (select 1 from shifts o where o.link_id = d.link_id and o.user_id = d.user_id
        and case d.type when 'oncall_reminder' then o.starts_at < d.starts_at else o.ends_at > d.ends_at end)
    and not exists (select 1 from reminders_made m
        where m.feed_id = d.feed_id and m.user_id = d.user_id and m.type = d.type and m.mode = d.mode and m.due_at = d.due_at);
drop index notice_settings_before;

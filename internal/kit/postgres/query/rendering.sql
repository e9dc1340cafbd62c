-- The data for rendering, one query per kind and batch of messages.

-- name: DataOfIncidents :many
select i.id, c.context, i.created_at, i.plan_id, a.name as application, coalesce(a.title_variable, '') as title_variable,
    coalesce(s.address, '')::text as sender, a.markup, coalesce(u.name, '')::text as owner
from incidents i
join incident_contexts c on c.incident_id = i.id
join applications a on a.id = i.application_id
left join users u on u.id = i.owner_id
left join application_sender_addresses s on s.application_id = a.id and s.mode = 'email'
where i.id = any (sqlc.arg(ids)::bigint[]);

-- name: DataOfRequests :many
select r.id, a.name as application, r.subject, r.body, r.email_html, coalesce(r.template, '') as template, r.context, r.bare,
    r.shown_to, a.markup, coalesce(nullif(r.sender, ''), s.address, '')::text as sender
from notification_requests r
join applications a on a.id = r.application_id
left join application_sender_addresses s on s.application_id = a.id and s.mode = 'email'
where r.id = any (sqlc.arg(ids)::bigint[]);

-- Steps of repeats have numbers of their own.
-- name: DataOfPlans :many
select p.id, p.name, p.tracking_template,
    coalesce((select array_agg((n.step + d.steps * k.k)::int order by k.k, n.step, n.position) from plan_notifications n
        cross join generate_series(0, d.repeat) k(k) where n.plan_id = p.id and n.dynamic_index is not null), '{}')::int[] as dynamic_steps,
    coalesce((select array_agg(n.position::int order by k.k, n.step, n.position) from plan_notifications n
        cross join generate_series(0, d.repeat) k(k) where n.plan_id = p.id and n.dynamic_index is not null), '{}')::int[] as dynamic_positions
from plans p
cross join lateral (select coalesce((p.settings ->> 'repeat')::int, 0) as repeat,
    coalesce((select max(n.step) from plan_notifications n where n.plan_id = p.id), 0) as steps) d
where p.id = any (sqlc.arg(ids)::bigint[]);

-- Why messages go to their recipients: the last change of target, and for a notice the entry on the timeline that caused it.
-- name: DetoursOfMessages :many
(select distinct on (c.message_id) c.message_id, c.old, c.new, c.description, c.at
from message_changes c
where c.message_id = any (sqlc.arg(ids)::bigint[]) and c.change_type = 'target-change'
order by c.message_id, c.id desc)
union all
select m.id, '', '', t.text, t.at
from messages m
cross join lateral (
    select e.text, e.at from timeline_entries e
    where e.incident_id = m.incident_id and e.kind = case m.purpose when 'resolved-notice' then 'resolved' else 'updated' end
    order by e.id desc
    limit 1
) t
where m.id = any (sqlc.arg(ids)::bigint[]) and m.purpose like '%-notice';

-- Names are compared without case and without spaces at the end, as everywhere.
-- name: TextOfTemplates :many
select k.n::int as n, (t.template_id is not null)::boolean as has_template,
    exists (select from template_contents c where c.template_id = t.template_id and c.application_id = a.id)::boolean as has_application,
    (c.template_id is not null)::boolean as has_mode, coalesce(c.subject, '') as subject, coalesce(c.body, '') as body,
    coalesce(c.email_html, '') as email_html
from (select unnest(sqlc.arg(templates)::text[]) as template, unnest(sqlc.arg(applications)::text[]) as application,
        unnest(sqlc.arg(modes)::text[]) as mode, generate_subscripts(sqlc.arg(templates)::text[], 1) as n) k
left join template_active t on t.name_key = lower(rtrim(k.template, ' '))
left join applications a on lower(a.name) = lower(k.application)
left join template_contents c on c.template_id = t.template_id and c.application_id = a.id and c.mode = k.mode;

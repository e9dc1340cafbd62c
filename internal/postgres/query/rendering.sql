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

-- name: DetoursOfMessages :many
select distinct on (message_id) message_id, old, new, description
from message_changes
where message_id = any (sqlc.arg(ids)::bigint[]) and change_type = 'target-change'
order by message_id, id desc;

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

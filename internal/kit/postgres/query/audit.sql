-- name: AppendAudit :exec
insert into audit_log (actor, action, object, detail, actor_kind, actor_id, through, token_id, address, request_id, changes)
values (@actor, @action, @object, @detail, @actor_kind, @actor_id, @through, @token_id, @address, @request_id, @changes);

-- name: ForgetAudit :execrows
delete from audit_log where id in (
    select l.id from audit_log l where l.at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond' order by l.at, l.id limit 10000
);

-- name: ForgetOncallAudit :execrows
delete from oncall_audit where id in (
    select l.id from oncall_audit l where l.at < statement_timestamp() - sqlc.arg(retention_us)::bigint * interval '1 microsecond' order by l.at, l.id limit 10000
);

-- The settings of a person. A password has the fingerprint of its stored hash, a contact that is a secret its own (users.Secret).
-- name: AuditedUser :one
select (to_jsonb(u) - '{id,target_id,oncall_id,password_hash,login_epoch,created_at,canonical_name}'::text[] || jsonb_build_object(
    'password', left(encode(sha256(convert_to(u.password_hash, 'UTF8')), 'hex'), 12),
    'contacts', (select jsonb_object_agg(c.mode, case when c.mode in ('webhook', 'push')
            then left(encode(sha256(convert_to(c.destination, 'UTF8')), 'hex'), 12) else c.destination end || case when c.verified_destination = c.destination then ' (verified)' else '' end)
        from user_contacts c where c.user_id = u.id and c.destination <> ''),
    'modes', (select jsonb_object_agg(m.priority, m.mode) from user_modes m where m.user_id = u.id),
    'application_modes', (select jsonb_object_agg(a.name || ' ' || m.priority, m.mode)
        from user_application_modes m join applications a on a.id = m.application_id where m.user_id = u.id),
    'categories', (select jsonb_object_agg(a.name || ' ' || c.name, o.mode)
        from category_overrides o join notification_categories c on c.id = o.category_id join applications a on a.id = c.application_id
        where o.user_id = u.id),
    'fixed_text', (select jsonb_object_agg(o.mode, true) from user_template_overrides o where o.user_id = u.id),
    'reprioritisations', (select jsonb_object_agg(r.source_mode, to_jsonb(r) - '{user_id,source_mode}'::text[])
        from user_reprioritizations r where r.user_id = u.id),
    'notification_rules', (select jsonb_object_agg(f.priority || ' ' || f.position, f.mode || ' after ' || f.delay_seconds || ' s')
        from user_follow_ups f where f.user_id = u.id),
    'quiet_limits', (select to_jsonb(l) - 'user_id' from user_quiet_limits l where l.user_id = u.id),
    'settings', (select jsonb_object_agg(x.name, x.value) from user_settings x where x.user_id = u.id),
    'calendar_feeds', (select jsonb_object_agg(coalesce('team ' || t.name, 'person ' || x.name), left(encode(sha256(convert_to(k.key, 'UTF8')), 'hex'), 12))
        from ical_keys k left join teams t on t.id = k.team_id left join users x on x.id = k.user_id where k.requester_id = u.id),
    'reminders', (select jsonb_object_agg('reminder ' || n.id, concat_ws(' ', t.name, n.type, 'by', n.mode, n.time_before || ' s before',
            case when n.only_if_involved then 'own shifts' end, (select string_agg(r.name, ',' order by r.name)
                from notice_setting_roles x join oncall_roles r on r.id = x.role_id where x.setting_id = n.id)))
        from notice_settings n join teams t on t.id = n.team_id where n.user_id = u.id),
    'unavailability', (select jsonb_object_agg('unavailability ' || a.id, concat_ws(' ', a.starts_at, 'to', a.ends_at, a.time_zone, nullif(a.rule, ''), t.name))
        from unavailabilities a left join teams t on t.id = a.team_id where a.user_id = u.id and a.subscription_id is null),
    'calendar_subscriptions', (select jsonb_object_agg('subscription ' || c.id, concat_ws(' ', c.name, 'at', c.host, left(encode(sha256(c.url_sealed), 'hex'), 12), case when c.whole_days then 'whole days' end))
        from calendar_subscriptions c where c.user_id = u.id),
    'pinned_teams', (select jsonb_object_agg(t.name, true) from pinned_teams p join teams t on t.id = p.team_id where p.user_id = u.id),
    'devices', (select jsonb_object_agg('device ' || d.id, d.platform) from devices d where d.user_id = u.id and d.active)
))::jsonb as state
from users u where u.id = sqlc.arg(id)::bigint;

-- The settings of an application. Keys have the fingerprint of their encrypted form.
-- name: AuditedApplication :one
select (to_jsonb(a) - '{id,key_sealed,secondary_key_sealed,created_at,fallback_target_id,team_id}'::text[] || jsonb_build_object(
    'key', left(encode(sha256(a.key_sealed), 'hex'), 12),
    'secondary_key', left(encode(sha256(a.secondary_key_sealed), 'hex'), 12),
    'fallback_target', (select t.name from targets t where t.target_id = a.fallback_target_id limit 1),
    'team', (select t.name from teams t where t.id = a.team_id),
    'owners', (select jsonb_object_agg(u.name, true) from application_owners o join users u on u.id = o.user_id where o.application_id = a.id),
    'variables', (select jsonb_object_agg(v.name, case when v.required then 'required' else 'optional' end)
        from application_variables v where v.application_id = a.id),
    'modes', (select jsonb_object_agg(m.mode, true) from application_modes m where m.application_id = a.id),
    'default_modes', (select jsonb_object_agg(m.priority, m.mode) from application_default_modes m where m.application_id = a.id),
    'categories', (select jsonb_object_agg(c.name, c.mode) from notification_categories c where c.application_id = a.id),
    'quota', (select to_jsonb(q) - 'application_id' from application_quotas q where q.application_id = a.id),
    'incident_emails', (select jsonb_object_agg(e.email, e.plan_key) from incident_emails e where e.application_id = a.id),
    'sender_addresses', (select jsonb_object_agg(s.mode, s.address) from application_sender_addresses s where s.application_id = a.id)
))::jsonb as state
from applications a where a.id = @id;

-- The active version of a plan.
-- name: AuditedPlan :one
select (to_jsonb(p) - '{id,creator_id,created_at,fallback_target_id}'::text[] || jsonb_build_object(
    'version', p.id,
    'fallback_target', (select t.name from targets t where t.target_id = p.fallback_target_id limit 1),
    'step', (select jsonb_object_agg(n.step || '.' || n.position + 1, to_jsonb(n) - '{id,plan_id,step,position,target_id}'::text[]
            || jsonb_build_object('target', (select t.name from targets t where t.target_id = n.target_id limit 1)))
        from plan_notifications n where n.plan_id = p.id)
))::jsonb as state
from plans p join plan_active a on a.plan_id = p.id
where lower(p.name) = lower(@name::text);

-- The active version of a template.
-- name: AuditedTemplate :one
select jsonb_build_object(
    'version', t.id,
    'texts', (select jsonb_object_agg(coalesce(a.name, '') || ' ' || c.mode, to_jsonb(c) - '{template_id,application_id,mode}'::text[])
        from template_contents c left join applications a on a.id = c.application_id where c.template_id = t.id)
)::jsonb as state
from templates t join template_active x on x.template_id = t.id
where lower(t.name) = lower(@name::text);

-- Settings of applications: templates, variables, modes, owners, categories, quotas, addresses that open incidents.

-- name: ChangeApplication :execrows
update applications
set context_template = sqlc.narg(context_template), summary_template = sqlc.narg(summary_template),
    mobile_template = sqlc.narg(mobile_template), sample_context = sqlc.narg(sample_context),
    title_variable = nullif(@title_variable::text, '')
where id = @id;

-- Variables that stay keep whether they are required.
-- name: DropApplicationVariables :exec
delete from application_variables where application_id = sqlc.arg(application_id) and name <> all(sqlc.arg(names)::text[]);

-- name: KeepApplicationVariables :exec
insert into application_variables (application_id, name)
select sqlc.arg(application_id), unnest(sqlc.arg(names)::text[])
on conflict do nothing;

-- name: RequireApplicationVariables :exec
update application_variables set required = name = any(sqlc.arg(names)::text[]) where application_id = sqlc.arg(application_id);

-- name: DropUnsupportedDefaultModes :exec
delete from application_default_modes d
where d.application_id = @application_id
  and not exists (select from application_modes m where m.application_id = d.application_id and m.mode = d.mode);

-- name: SetSenderAddress :exec
insert into application_sender_addresses (application_id, mode, address) values (@application_id, @mode, @address)
on conflict (application_id, mode) do update set address = excluded.address;

-- name: RemoveSenderAddress :exec
delete from application_sender_addresses where application_id = @application_id and mode = @mode;

-- name: RenameApplication :exec
update applications set name = @name where id = @id;

-- Whether anything would be lost or left dangling if the application were removed.
-- name: ApplicationInUse :one
select (exists (select from application_variables v where v.application_id = @id)
    or exists (select from template_contents c where c.application_id = @id)
    or exists (select from incidents i where i.application_id = @id)
    or exists (select from messages m where m.application_id = @id)
    or exists (select from notification_requests r where r.application_id = @id)
    or exists (select from message_history h where h.application_id = @id))::boolean as in_use;

-- name: DeleteApplication :execrows
delete from applications where id = @id;

-- name: DeleteTagsOf :exec
delete from tags where kind = @kind and object_id = @object_id;

-- name: ApplicationCategories :many
select id, name, description, mode from notification_categories where application_id = @application_id order by id;

-- name: UpdateCategory :exec
update notification_categories set name = @name, description = @description, mode = @mode where id = @id;

-- name: InsertCategory :exec
insert into notification_categories (application_id, name, description, mode)
values (@application_id, @name, @description, @mode);

-- name: DeleteCategory :exec
delete from notification_categories where id = @id;

-- name: ApplicationQuota :one
select a.name as application, q.hard_threshold, q.soft_threshold, q.hard_seconds, q.soft_seconds, q.wait_seconds,
    coalesce(p.name, '')::text as plan, coalesce(t.name, '')::text as target, coalesce(t.kind, '')::text as target_kind,
    coalesce(c.state, '{}')::jsonb as usage, clock_timestamp()::timestamptz as now
from application_quotas q
left join sliding_counts c on c.key = 'quota:' || q.application_id
join applications a on a.id = q.application_id
left join plan_active pa on pa.name_key = q.plan_key
left join plans p on p.id = pa.plan_id
left join named_targets t on t.target_id = q.target_id
where q.application_id = @application_id;

-- name: SetApplicationQuota :exec
insert into application_quotas (application_id, hard_threshold, soft_threshold, hard_seconds, soft_seconds, plan_key, target_id,
    wait_seconds)
values (@application_id, @hard_threshold, @soft_threshold, @hard_seconds, @soft_seconds, lower(@plan::text), @target_id::bigint,
    @wait_seconds)
on conflict (application_id) do update
set hard_threshold = excluded.hard_threshold, soft_threshold = excluded.soft_threshold, hard_seconds = excluded.hard_seconds,
    soft_seconds = excluded.soft_seconds, plan_key = excluded.plan_key, target_id = excluded.target_id,
    wait_seconds = excluded.wait_seconds;

-- name: DeleteApplicationQuota :exec
delete from application_quotas where application_id = @application_id;

-- The first active target of that name, of whatever kind.
-- name: AnyTarget :one
select target_id from targets where lower(name) = lower(rtrim(@name::text)) and active order by target_id limit 1;

-- name: QuotaOfPlan :one
select a.name from application_quotas q join applications a on a.id = q.application_id
where q.plan_key = lower(rtrim(@plan::text))
order by a.id limit 1;

-- Removes a plan that is no longer active from quotas.
-- name: ForgetPlanOfQuotas :exec
update application_quotas q set plan_key = null
where q.plan_key = lower(@plan::text) and not exists (select from plan_active pa where pa.name_key = q.plan_key);

-- name: ForgetPlanOfEmails :exec
delete from incident_emails e
where e.plan_key = lower(@plan::text) and not exists (select from plan_active pa where pa.name_key = e.plan_key);

-- name: IncidentEmails :many
select e.email, p.name as plan
from incident_emails e
join plan_active pa on pa.name_key = e.plan_key
join plans p on p.id = pa.plan_id
where e.application_id = @application_id
order by lower(e.email);

-- name: ContactsAmong :many
-- Contacts that are not verified count too: a page to a mailbox would open incidents.
select distinct lower(c.destination)::text as email from user_contacts c
where c.mode = 'email' and lower(c.destination) = any(select lower(e) from unnest(sqlc.arg(emails)::text[]) as e)
order by 1;

-- name: EmailsOfOthers :many
select e.email from incident_emails e
where e.application_id <> sqlc.arg(application_id)
  and lower(e.email) = any(select lower(x) from unnest(sqlc.arg(emails)::text[]) as x)
order by lower(e.email);

-- name: ClearIncidentEmails :exec
delete from incident_emails where application_id = @application_id;

-- name: AddIncidentEmail :exec
insert into incident_emails (email, application_id, plan_key) values (@email, @application_id, lower(@plan::text));

-- name: ActivePlanID :one
select plan_id from plan_active where name_key = lower(rtrim(@plan::text));

-- name: SetApplicationPaused :exec
update applications set paused = sqlc.arg(paused) where id = sqlc.arg(id);

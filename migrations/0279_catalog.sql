-- Applications with their quotas, templates and plans.

-- +goose Up

-- Programs that open incidents and send notifications.
create table applications (
    id                         bigint primary key generated always as identity,
    name                       text not null check (name <> '' and position(':' in name) = 0),
    key_sealed                 bytea,
    secondary_key_sealed       bytea,
    auth_only                  boolean not null default false,
    allow_other_app_incidents  boolean not null default false,
    allow_authenticating_users boolean not null default false,
    allow_oncall               boolean not null default false,
    context_template           text,
    summary_template           text,
    mobile_template            text,
    sample_context             text,
    title_variable             text,
    -- Above this many pending messages the application is answered 429 (503 on the Alertmanager webhook).
    pending_cap                int not null default 50000 check (pending_cap > 0),
    fallback_role              text references target_roles (name),
    fallback_target_id         bigint,
    paused                     boolean not null default false,
    created_at                 timestamptz not null default clock_timestamp(),
    -- Only applications with this power may pass on the answers of other people and the receipts of vendors.
    relay                      boolean not null default false,
    default_plan               text,
    late_within                int not null default 120 check (late_within >= 0),
    late_hold                  int not null default 360 check (late_hold >= 0),
    markup                     boolean not null default false,
    team_id                    bigint references teams (id) on delete set null
);
comment on column applications.default_plan is 'name of the plan for alerts without a usable plan; null = none';
comment on column applications.late_within is
    'seconds after a resolve in which a firing delivery of the same alerts is late; 0 = none is';
comment on column applications.late_hold is
    'seconds for which a late firing delivery waits for its resolve; 0 = it never waits';
comment on column applications.markup is 'its contexts and texts contain markup on purpose: nothing in them is escaped';
comment on column applications.team_id is 'the team that owns the application and its integrations; null = none';
create unique index applications_name_key on applications (lower(name));
create index applications_team on applications (team_id) where team_id is not null;
-- The application that web sessions act as. It has no key, so nobody can sign as it until an administrator creates one.
insert into applications (name, allow_other_app_incidents, allow_authenticating_users) values ('iris', true, true);

-- Variables of the contexts that an application sends.
create table application_variables (
    application_id bigint not null references applications (id) on delete cascade,
    name           text not null check (name <> ''),
    required       boolean not null default false,
    primary key (application_id, name)
);

-- The version of an application is the transaction that last changed its row (xmin). Its variables are part of it.
-- +goose StatementBegin
create function touch_application() returns trigger language plpgsql as $$
begin
    update applications set name = name
    where id = case when tg_op = 'DELETE' then old.application_id else new.application_id end;
    return null;
end
$$;
-- +goose StatementEnd
create trigger application_variables_changed after insert or update or delete on application_variables
    for each row execute function touch_application();

-- People who own an application.
create table application_owners (
    application_id bigint not null references applications (id) on delete cascade,
    user_id        bigint not null references users (id) on delete cascade,
    primary key (application_id, user_id)
);

-- Modes that an application may use.
create table application_modes (
    application_id bigint not null references applications (id) on delete cascade,
    mode           text not null references modes (name),
    primary key (application_id, mode)
);
insert into application_modes (application_id, mode)
    select a.id, m.name from applications a, modes m where m.name <> 'drop';

-- Modes of an application for people who chose none for it.
create table application_default_modes (
    application_id bigint not null references applications (id) on delete cascade,
    priority       text not null references priorities (name),
    mode           text not null references modes (name),
    primary key (application_id, priority)
);

-- Modes that a person chose for the notifications of an application.
create table user_application_modes (
    user_id        bigint not null references users (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    priority       text not null references priorities (name),
    mode           text not null references modes (name),
    primary key (user_id, application_id, priority)
);

-- Message limits of an application: above the soft one somebody gets an e-mail, above the hard one messages are
-- dropped.
create table application_quotas (
    application_id bigint primary key references applications (id) on delete cascade,
    hard_threshold int not null check (hard_threshold > 0),
    soft_threshold int not null check (soft_threshold > 0),
    hard_seconds   int not null check (hard_seconds > 0),
    soft_seconds   int not null check (soft_seconds > 0),
    plan_key       text,   -- lower(name) of the plan for the incident of a breach
    target_id      bigint, -- targets.target_id that is notified of a soft breach
    wait_seconds   int not null default 0 check (wait_seconds >= 0)
);

-- Addresses from which the messages of an application are sent.
create table application_sender_addresses (
    application_id bigint not null references applications (id) on delete cascade,
    mode           text not null references modes (name),
    address        text not null check (address <> ''),
    primary key (application_id, mode)
);

-- Kinds of out-of-band notifications that an application names, with a mode that people may override.
create table notification_categories (
    id             bigint primary key generated always as identity,
    application_id bigint not null references applications (id) on delete cascade,
    name           text not null check (name <> ''),
    description    text not null default '',
    mode           text not null references modes (name)
);
create unique index notification_categories_name_key on notification_categories (application_id, lower(name));

-- Modes that people chose for a category.
create table category_overrides (
    user_id     bigint not null references users (id) on delete cascade,
    category_id bigint not null references notification_categories (id) on delete cascade,
    mode        text not null references modes (name),
    primary key (user_id, category_id)
);
create index category_overrides_category on category_overrides (category_id);

-- Rows of templates are immutable versions; template_active has the active version of each name.
create table templates (
    id         bigint primary key generated always as identity,
    name       text not null check (name <> ''),
    creator_id bigint not null references users (id),
    created_at timestamptz not null default clock_timestamp()
);
create index templates_name on templates (lower(name));

-- Texts of a template for each application and mode.
create table template_contents (
    template_id    bigint not null references templates (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    mode           text not null references modes (name),
    subject        text not null default '',
    body           text not null default '',
    email_html     text not null default '',
    primary key (template_id, application_id, mode)
);
create index template_contents_application on template_contents (application_id);

-- The active version of each template.
create table template_active (
    name_key    text primary key, -- lower(name)
    template_id bigint not null unique references templates (id) on delete cascade
);

-- Rows of plans are immutable versions; plan_active has the active version of each name.
create table plans (
    id                      bigint primary key generated always as identity,
    name                    text not null check (name <> ''),
    creator_id              bigint not null references users (id),
    description             text not null default '',
    threshold_window        int not null, -- seconds
    threshold_count         int not null,
    aggregation_window      int not null, -- seconds
    aggregation_reset       int not null, -- seconds
    tracking_type           text references modes (name),
    tracking_key            text,
    tracking_template       json,         -- application -> {email_subject, email_text, email_html} or {body}
    fallback_role           text references target_roles (name),
    fallback_target_id      bigint,
    paused                  boolean not null default false,
    created_at              timestamptz not null default clock_timestamp(),
    repage_after            int not null default 3600 check (repage_after >= 0),
    acknowledgement_timeout int not null default 0 check (acknowledgement_timeout >= 0),
    settings                jsonb not null default '{}',
    conditions              jsonb not null default '[]'
);
comment on column plans.repage_after is
    'seconds after which a repeated alert starts an exhausted plan again; 0 = never';
comment on column plans.acknowledgement_timeout is
    'seconds after an acknowledgement after which the plan begins again unless the incident is resolved; 0 = '
    'never';
comment on column plans.settings is
    'choices that hold for all versions of the name: repeat, delay_seconds, wait_for_on_call, notify_owner, '
    'resolved_notice';
comment on column plans.conditions is
    'when steps apply: step (from 1), team_id, zone, windows (days, from, to); other steps always apply';
create index plans_name on plans (lower(name));

-- The active version of each plan.
create table plan_active (
    name_key text primary key, -- lower(name)
    plan_id  bigint not null unique references plans (id) on delete cascade
);

-- One intent of one step. Templates are named, not referenced: a new version affects old plans at once, and
-- deactivating a template never breaks a plan for good.
create table plan_notifications (
    id            bigint primary key generated always as identity,
    plan_id       bigint not null references plans (id) on delete cascade,
    step          smallint not null check (step >= 1),
    position      smallint not null check (position >= 0),
    priority      text not null references priorities (name),
    role          text references target_roles (name),
    target_id     bigint, -- targets.target_id; null together with role when dynamic_index is set
    dynamic_index int,
    template      text not null,
    wait_seconds  int not null check (wait_seconds >= 0),
    repeat        int not null check (repeat >= 0),
    optional      boolean not null default false,
    unique (plan_id, step, position),
    check ((dynamic_index is null) = (role is not null and target_id is not null))
);

-- Teams that own plans and templates, by name and so for every version. Without a row, the rights of the creator hold.
create table plan_owners (
    name_key text primary key,
    team_id  bigint not null references teams (id) on delete cascade
);
comment on table plan_owners is 'the team that owns all versions of a plan';
comment on column plan_owners.name_key is 'lower(name) of the plan';
create index plan_owners_team on plan_owners (team_id);

create table template_owners (
    name_key text primary key,
    team_id  bigint not null references teams (id) on delete cascade
);
comment on table template_owners is 'the team that owns all versions of a template';
comment on column template_owners.name_key is 'lower(name) of the template';
create index template_owners_team on template_owners (team_id);

-- Labels that operators attach to objects, to filter by (only names that the configuration allows).
create table tags (
    kind      text not null check (kind in ('incident', 'application', 'plan', 'template', 'target')),
    object_id bigint not null,
    name      text not null check (name <> ''),
    value     text not null,
    primary key (kind, object_id, name, value)
);
create index tags_value on tags (kind, name, lower(value));

insert into schema_compatibility (version, oldest) values (279, 193);

-- +goose Down
delete from schema_compatibility where version = 279;
drop table tags, template_owners, plan_owners, plan_notifications, plan_active, plans, template_active,
    template_contents, templates, category_overrides, notification_categories, application_sender_addresses,
    application_quotas, user_application_modes, application_default_modes, application_modes, application_owners,
    application_variables, applications;
drop function touch_application;

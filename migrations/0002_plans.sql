-- Plans and templates. Rows are immutable versions; *_active maps a name to its active version.

-- +goose Up

create table templates (
    id         bigint primary key generated always as identity,
    name       text not null check (name <> ''),
    creator_id bigint not null references users (id),
    created_at timestamptz not null default clock_timestamp()
);
create index templates_name on templates (lower(name));

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

create table template_active (
    name_key    text primary key,       -- lower(name)
    template_id bigint not null unique references templates (id) on delete cascade
);

create table plans (
    id                 bigint primary key generated always as identity,
    name               text not null check (name <> ''),
    creator_id         bigint not null references users (id),
    description        text not null default '',
    threshold_window   int not null,    -- seconds
    threshold_count    int not null,
    aggregation_window int not null,    -- seconds
    aggregation_reset  int not null,    -- seconds
    tracking_type      text references modes (name),
    tracking_key       text,
    tracking_template  json,            -- application -> {email_subject, email_text, email_html} or {body}
    fallback_role      text references target_roles (name),
    fallback_target_id bigint,
    paused             boolean not null default false,
    created_at         timestamptz not null default clock_timestamp()
);
create index plans_name on plans (lower(name));

create table plan_active (
    name_key text primary key,          -- lower(name)
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
    target_id     bigint,               -- targets.target_id; null together with role when dynamic_index is set
    dynamic_index int,
    template      text not null,
    wait_seconds  int not null check (wait_seconds >= 0),
    repeat        int not null check (repeat >= 0),
    optional      boolean not null default false,
    unique (plan_id, step, position),
    check ((dynamic_index is null) = (role is not null and target_id is not null))
);

-- +goose Down
drop table plan_notifications, plan_active, plans, template_active, template_contents, templates;

-- Settings of people and applications: mailing lists, devices, overrides, reprioritisation, categories, quotas, addresses.

-- +goose Up

-- A list of people with a name. `member_count` is what the directory said; members may be fewer when it did not unroll them.
create table mailing_lists (
    id           bigint primary key generated always as identity,
    target_id    bigint not null unique default nextval('target_ids'),
    name         text not null check (name <> ''),
    active       boolean not null default true,
    member_count bigint not null default 0
);
create unique index mailing_lists_name_key on mailing_lists (lower(name));

create table mailing_list_members (
    list_id bigint not null references mailing_lists (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    primary key (list_id, user_id)
);
create index mailing_list_members_user on mailing_list_members (user_id);

insert into target_roles (name, target_kind, position) values ('mailing-list', 'mailing-list', 7);

create or replace view targets as
    select target_id, 'user' as kind, id as kind_id, name, active from users
    union all
    select target_id, 'team', id, name, active from teams
    union all
    select target_id, 'mailing-list', id, name, active from mailing_lists;

-- Phones registered for push messages. A registration that the push service reports as dead is switched off, not deleted.
create table devices (
    id              bigint primary key generated always as identity,
    registration_id text not null unique check (registration_id <> ''),
    user_id         bigint not null references users (id) on delete cascade,
    platform        text not null,
    active          boolean not null default true,
    created_at      timestamptz not null default clock_timestamp()
);
create index devices_user on devices (user_id);

-- Settings beyond the columns of users (the time zone is users.time_zone).
create table user_settings (
    user_id bigint not null references users (id) on delete cascade,
    name    text not null check (name <> ''),
    value   text not null,
    primary key (user_id, name)
);

-- Modes in which a user gets the operator's fixed text instead of the template's (for carriers that block templates).
create table user_template_overrides (
    user_id bigint not null references users (id) on delete cascade,
    mode    text not null references modes (name),
    primary key (user_id, mode)
);

-- Messages above `count` of one mode within the window go to the other mode.
create table user_reprioritizations (
    user_id          bigint not null references users (id) on delete cascade,
    source_mode      text not null references modes (name),
    destination_mode text not null references modes (name),
    count            int not null check (count > 0),
    window_seconds   int not null check (window_seconds > 0),
    primary key (user_id, source_mode)
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

create table category_overrides (
    user_id     bigint not null references users (id) on delete cascade,
    category_id bigint not null references notification_categories (id) on delete cascade,
    mode        text not null references modes (name),
    primary key (user_id, category_id)
);
create index category_overrides_category on category_overrides (category_id);

-- Message limits of an application: above the soft one somebody gets an e-mail, above the hard one messages are dropped.
create table application_quotas (
    application_id bigint primary key references applications (id) on delete cascade,
    hard_threshold int not null check (hard_threshold > 0),
    soft_threshold int not null check (soft_threshold > 0),
    hard_seconds   int not null check (hard_seconds > 0),
    soft_seconds   int not null check (soft_seconds > 0),
    plan_key       text,               -- lower(name) of the plan for the incident of a breach
    target_id      bigint,             -- targets.target_id that is notified of a soft breach
    wait_seconds   int not null default 0 check (wait_seconds >= 0)
);

-- A mail to one of these addresses opens an incident.
create table incident_emails (
    email          text not null check (email <> ''),
    application_id bigint not null references applications (id) on delete cascade,
    plan_key       text not null       -- lower(name) of the plan
);
create unique index incident_emails_key on incident_emails (lower(email));
create index incident_emails_application on incident_emails (application_id);

create table application_sender_addresses (
    application_id bigint not null references applications (id) on delete cascade,
    mode           text not null references modes (name),
    address        text not null check (address <> ''),
    primary key (application_id, mode)
);

-- Labels that operators attach to objects, to filter by (only names that the configuration allows).
create table tags (
    kind      text not null check (kind in ('incident', 'application', 'plan', 'template', 'target')),
    object_id bigint not null,
    name      text not null check (name <> ''),
    value     text not null,
    primary key (kind, object_id, name, value)
);
create index tags_value on tags (kind, name, lower(value));

-- +goose Down
drop table tags, application_sender_addresses, incident_emails, application_quotas, category_overrides,
    notification_categories, user_reprioritizations, user_template_overrides, user_settings, devices, mailing_list_members;
create or replace view targets as
    select target_id, 'user' as kind, id as kind_id, name, active from users
    union all
    select target_id, 'team', id, name, active from teams;
delete from plan_notifications where role = 'mailing-list';
delete from target_roles where name = 'mailing-list';
drop table mailing_lists;

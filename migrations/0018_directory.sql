-- Data of directories (LDAP, Slack) about people and mailing lists.

-- +goose Up

-- People whom a directory had. `switched_off`: they vanished from it and were switched off for that.
create table directory_people (
    user_id      bigint primary key references users (id) on delete cascade,
    source       text not null check (source in ('ldap', 'slack')),
    switched_off boolean not null default false
);

-- The contacts that the directory gave last. Contacts that a person changed since are not removed.
create table directory_contacts (
    user_id     bigint not null references users (id) on delete cascade,
    mode        text not null references modes (name),
    destination text not null check (destination <> ''),
    primary key (user_id, mode)
);

-- Mailing lists that a directory had.
create table directory_lists (
    list_id bigint primary key references mailing_lists (id) on delete cascade
);

-- Time and result of the last sync of each directory.
create table directory_syncs (
    source       text primary key check (source in ('ldap', 'slack')),
    tried_at     timestamptz not null default clock_timestamp(),
    succeeded_at timestamptz,
    problem      text not null default ''
);

-- +goose Down
drop table directory_syncs, directory_lists, directory_contacts, directory_people;

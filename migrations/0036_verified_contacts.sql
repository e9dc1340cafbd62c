-- +goose Up

-- The form in which addresses and numbers of senders are compared: case does not count in addresses, only digits in numbers, no leading @ in
-- names of Slack. Ten digits without a country code are a number of the United States.
-- +goose StatementBegin
create function contact_key(mode text, destination text) returns text language sql immutable parallel safe as $$
    select case
        when mode in ('sms', 'call') then case
            when destination !~ '^\s*\+' and length(regexp_replace(destination, '[^0-9]', '', 'g')) = 10
                then '1' || regexp_replace(destination, '[^0-9]', '', 'g')
            else regexp_replace(destination, '[^0-9]', '', 'g') end
        when mode = 'slack' then lower(ltrim(destination, '@'))
        else lower(destination) end
$$;
-- +goose StatementEnd

-- A contact is verified while this is its destination, so a release that does not know the column cannot verify anything.
-- Only verified contacts say who sent a reply.
alter table user_contacts add column verified_destination text;
comment on column user_contacts.verified_destination is 'the contact is verified when this equals destination; null = it is not';

-- Existing contacts count as verified, unless two people share them or they are an application's mailbox. Contacts of other
-- modes identify nobody.
update user_contacts c set verified_destination = c.destination
where c.mode in ('email', 'sms', 'call', 'slack') and contact_key(c.mode, c.destination) <> ''
  and not exists (select from incident_emails e where c.mode = 'email' and lower(e.email) = lower(c.destination));
create index user_contacts_key on user_contacts (contact_key(mode, destination), mode);
update user_contacts c set verified_destination = null
from user_contacts o
where o.user_id <> c.user_id and contact_key(o.mode, o.destination) = contact_key(c.mode, c.destination)
  and (o.mode = c.mode or o.mode in ('sms', 'call') and c.mode in ('sms', 'call'));
create unique index user_contacts_verified on user_contacts (mode, contact_key(mode, destination))
    where verified_destination = destination;

-- A release that changes only the destination removes the mark. Without this its change could collide with the index.
-- +goose StatementBegin
create function forget_verification() returns trigger language plpgsql as $$
begin
    new.verified_destination := null;
    return new;
end
$$;
-- +goose StatementEnd
create trigger user_contacts_changed before update on user_contacts for each row
    when (new.destination is distinct from old.destination and new.verified_destination is not distinct from old.verified_destination)
    execute function forget_verification();

-- Codes with which people prove that a contact is theirs. The code itself is not stored.
create table contact_codes (
    id          bigint primary key generated always as identity,
    user_id     bigint not null references users (id) on delete cascade,
    mode        text not null references modes (name),
    destination text not null,
    code_hash   bytea not null,
    attempts    int not null default 0,
    created_at  timestamptz not null default clock_timestamp()
);
create index contact_codes_user on contact_codes (user_id, created_at);
create index contact_codes_destination on contact_codes (contact_key(mode, destination), created_at);
insert into schema_compatibility (version, oldest) values (36, 26);

-- +goose Down
delete from schema_compatibility where version = 36;
drop table contact_codes;
drop trigger user_contacts_changed on user_contacts;
drop function forget_verification;
alter table user_contacts drop column verified_destination;
drop index user_contacts_key;
drop function contact_key;

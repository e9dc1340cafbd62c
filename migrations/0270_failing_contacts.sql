-- +goose Up

-- Contacts that no message can reach, as the periodic check of stored contacts found them. A row counts while the contact has its destination.
create table failing_contacts (
    user_id     bigint not null references users (id) on delete cascade,
    mode        text not null references modes (name),
    destination text not null,
    reason      text not null,
    primary key (user_id, mode)
);

-- Phone numbers are compared as they are stored, in international form. Ten digits were taken for a number of the United States before.
-- Two people may have such a number verified beside its stored form: it stays verified for those who have it in stored form.
update user_contacts c set verified_destination = null
where c.mode in ('sms', 'call') and c.verified_destination = c.destination and c.destination !~ '^\+[1-9][0-9]{7,14}$'
  and exists (select from user_contacts o where o.user_id <> c.user_id and o.mode = c.mode and o.verified_destination = o.destination
      and regexp_replace(o.destination, '[^0-9]', '', 'g') = regexp_replace(c.destination, '[^0-9]', '', 'g'));
-- +goose StatementBegin
create or replace function contact_key(mode text, destination text) returns text language sql immutable parallel safe as $$
    select case
        when mode in ('sms', 'call') then regexp_replace(destination, '[^0-9]', '', 'g')
        when mode = 'slack' then lower(ltrim(destination, '@'))
        else lower(destination) end
$$;
-- +goose StatementEnd
reindex table user_contacts;
reindex table contact_codes;
insert into schema_compatibility (version, oldest) values (270, 193);

-- +goose Down
delete from schema_compatibility where version = 270;
-- +goose StatementBegin
create or replace function contact_key(mode text, destination text) returns text language sql immutable parallel safe as $$
    select case
        when mode in ('sms', 'call') then case
            when destination !~ '^\s*\+' and length(regexp_replace(destination, '[^0-9]', '', 'g')) = 10
                then '1' || regexp_replace(destination, '[^0-9]', '', 'g')
            else regexp_replace(destination, '[^0-9]', '', 'g') end
        when mode = 'slack' then lower(ltrim(destination, '@'))
        else lower(destination) end
$$;
-- +goose StatementEnd
-- The old form may make two verified contacts equal.
update user_contacts set verified_destination = null
where mode in ('sms', 'call') and destination !~ '^\s*\+' and length(regexp_replace(destination, '[^0-9]', '', 'g')) = 10;
reindex table user_contacts;
reindex table contact_codes;
drop table failing_contacts;

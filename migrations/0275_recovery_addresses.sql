-- +goose Up

-- "Forgotten password" sends its link to this address while it is the contact of the person: one that the person proved, or that was verified
-- before this column existed and came from no directory. A release that does not know the column proves nothing.
alter table user_contacts add column recovery_destination text;
comment on column user_contacts.recovery_destination is 'the contact may get links of "forgotten password" while this is its destination; null = it may not';
update user_contacts c set recovery_destination = c.destination
where c.mode = 'email' and c.verified_destination = c.destination
  and not exists (select from directory_contacts d where d.user_id = c.user_id and d.mode = c.mode and d.destination = c.destination);
insert into schema_compatibility (version, oldest) values (275, 193);

-- +goose Down
delete from schema_compatibility where version = 275;
alter table user_contacts drop column recovery_destination;

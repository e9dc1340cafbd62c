-- +goose Up

alter table members add column modes text[];
comment on column members.modes is 'modes that the processor has a vendor for; null = it is of a release that does not say';
insert into schema_compatibility (version, oldest) values (47, 26);

-- +goose Down
delete from schema_compatibility where version = 47;
alter table members drop column modes;

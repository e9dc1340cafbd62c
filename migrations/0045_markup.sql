-- +goose Up

alter table applications add column markup boolean not null default false;
comment on column applications.markup is 'its contexts and texts contain markup on purpose: nothing in them is escaped';
insert into schema_compatibility (version, oldest) values (45, 26);

-- +goose Down
delete from schema_compatibility where version = 45;
alter table applications drop column markup;

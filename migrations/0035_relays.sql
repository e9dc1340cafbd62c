-- +goose Up

-- Only applications with this power may pass on the answers of other people and the receipts of vendors.
alter table applications add column relay boolean not null default false;
insert into schema_compatibility (version, oldest) values (35, 26);

-- +goose Down
delete from schema_compatibility where version = 35;
alter table applications drop column relay;

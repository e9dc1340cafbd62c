-- +goose Up
alter table calendar_subscriptions add column country text not null default '' check (country = '' or kind = 'holidays');
comment on column calendar_subscriptions.country is
    'the code of the country whose holidays these are, instead of a URL; empty = the calendar has a URL';
insert into schema_compatibility (version, oldest) values (287, 193);

-- +goose Down
delete from schema_compatibility where version = 287;
alter table calendar_subscriptions drop column country;

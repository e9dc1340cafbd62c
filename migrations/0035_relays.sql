-- +goose Up

-- Only applications with this power may pass on the answers of other people and the receipts of vendors.
alter table applications add column relay boolean not null default false;

-- +goose Down
alter table applications drop column relay;

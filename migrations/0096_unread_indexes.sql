-- +goose Up

-- No statement reads these indexes, nor does any of the release before.
drop index message_history_user, receipts_vendor_message;
insert into schema_compatibility (version, oldest) values (96, 72);

-- +goose Down
delete from schema_compatibility where version = 96;
create index receipts_vendor_message on receipts (vendor_message_id);
create index message_history_user on message_history (user_id, id) where user_id is not null;

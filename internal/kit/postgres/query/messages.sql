-- name: MessageAttempts :many
-- Vendor calls of messages that are still in the queue; those of history are stored with it.
select * from attempts where message_id = any(@message_ids::bigint[]) order by message_id, attempt;

-- name: MessageChanges :many
-- Newest first.
select id, at, change_type, old, new, description from message_changes where message_id = @message_id order by id desc limit 1000;

-- name: MessageReceiptStatus :one
-- The last status that the vendor reported for a message.
select status from receipts where message_id = @message_id and vendor = @vendor order by id desc limit 1;

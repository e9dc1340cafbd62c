-- For answers: replies that keep the subject of a mail, mails to several people, and receipts of messages in history.

-- +goose Up

-- A bare notification's subject stays as it is; others begin with the application's name.
alter table notification_requests add column bare boolean not null default false;

-- All recipients that a mail names, separated by commas, when one notification went to several people openly.
-- Each gets a mail of their own; people with bcc are not named.
alter table notification_requests add column shown_to text not null default '';

-- The vendor's ids of attempts of finished messages, for late receipts. Rows live for some days only: see
-- ForgetVendorMessages.
create table vendor_messages (
    vendor            text not null,
    vendor_message_id text not null,
    message_id        bigint not null,
    attempt           smallint not null,
    created_at        timestamptz not null,  -- of the message, and so of its partition
    primary key (vendor_message_id, vendor, message_id, attempt)
);
create index vendor_messages_created on vendor_messages (created_at);

-- +goose Down
drop table vendor_messages;
alter table notification_requests drop column bare, drop column shown_to;

-- +goose Up

-- Stored texts of messages hold no tokens of acknowledgement links: a copy of the database would acknowledge with them.
create function without_link_tokens(words text) returns text language sql immutable parallel safe as $$
    select case when position('/ack/' in words) > 0 then regexp_replace(words, '/ack/[A-Za-z0-9_-]{16,}', '/ack/...', 'g') else words end
$$;
update message_contents set body = without_link_tokens(body), email_html = without_link_tokens(email_html)
where body like '%/ack/%' or email_html like '%/ack/%';
-- Links work for seven days, so older ones are worth nothing.
update message_history set body = without_link_tokens(body), email_html = without_link_tokens(email_html)
where created_at > clock_timestamp() - interval '8 days' and (body like '%/ack/%' or email_html like '%/ack/%');
insert into schema_compatibility (version, oldest) values (37, 26);

-- +goose Down
delete from schema_compatibility where version = 37;
drop function without_link_tokens;

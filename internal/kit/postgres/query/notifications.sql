-- name: InsertNotifications :many
-- Stores out-of-band notifications with their messages, as one statement. A notification's messages name it by its place
-- (owner_place); recipients that are named twice get one message. A notification whose application has another version than the
-- given one (0 = any) is not stored and is left out of the answer.
with input as (
    select nextval(pg_get_serial_sequence('notification_requests', 'id')) as id, c.*
    from (
        select r.*
        from (select unnest(@places::int[]) as place, unnest(@application_ids::bigint[]) as application_id,
                 unnest(@versions::bigint[]) as version,
                 unnest(@subjects::text[]) as subject, unnest(@bodies::text[]) as body,
                 unnest(@email_htmls::text[]) as email_html, unnest(@templates::text[]) as template,
                 unnest(@contexts::text[]) as context, unnest(@senders::text[]) as sender,
                 unnest(@priorities::text[]) as priority, unnest(@lifetimes::float8[]) as lifetime,
                 unnest(@bares::bool[]) as bare, unnest(@shown_tos::text[]) as shown_to) r
        left join applications a on a.id = r.application_id
        where r.version = 0 or a.xmin::text::bigint = r.version
        order by r.place
    ) c
), requests as (
    insert into notification_requests (id, application_id, subject, body, email_html, template, context, sender, bare, shown_to)
    select id, application_id, subject, body, email_html, nullif(template, ''), nullif(context, '')::json, sender, bare, shown_to from input
), made as (
    insert into messages (bucket, request_id, application_id, recipient, user_id, target, priority, class, mode, literal,
                          template, mode_changed, expires_at, purpose)
    select (i.id & 255)::smallint, i.id, i.application_id, m.recipient, nullif(m.user_id, 0), m.target,
           nullif(i.priority, ''), 2, m.mode, nullif(m.literal, ''), nullif(i.template, ''), m.mode_changed,
           clock_timestamp() + make_interval(secs => i.lifetime), coalesce(nullif(m.purpose, ''), 'primary')
    from (select unnest(@turns::int[]) as turn, unnest(@owner_places::int[]) as owner_place, unnest(@recipients::text[]) as recipient,
                 unnest(@user_ids::bigint[]) as user_id, unnest(@targets::text[]) as target,
                 unnest(@modes::text[]) as mode, unnest(@literals::text[]) as literal,
                 unnest(@mode_changes::bool[]) as mode_changed, unnest(@purposes::text[]) as purpose) m
    join input i on i.place = m.owner_place
    order by m.turn
    on conflict do nothing
    returning id, request_id, recipient
), changed as (
    insert into message_changes (message_id, change_type, old, new, description)
    select made.id, 'mode-change', c.old, c.new, c.description
    from (select unnest(@change_places::int[]) as place, unnest(@change_recipients::text[]) as recipient, unnest(@change_olds::text[]) as old,
                 unnest(@change_news::text[]) as new, unnest(@change_descriptions::text[]) as description) c
    join input i on i.place = c.place
    join made on made.request_id = i.id and made.recipient = c.recipient
)
select place::int as place, id::bigint as id from input order by place;

-- name: CategoryByName :one
select id, mode from notification_categories where application_id = @application_id and lower(name) = lower(rtrim(@name::text));

-- name: CategoryModes :many
select user_id, mode from category_overrides where category_id = @category_id and user_id = any(@user_ids::bigint[]);

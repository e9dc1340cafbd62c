-- +goose Up

-- Messages move to history in the order in which they settled. Messages of active incidents stay, so the historian keeps its position
-- and reads a message again only when something about it has changed.
create table history_cursor (
    only_row   boolean primary key default true check (only_row),
    settled_at timestamptz not null,
    message_id bigint not null
);
comment on table history_cursor is 'the last message that the historian has read, in the order of settled_at and id';
insert into history_cursor (settled_at, message_id) values ('-infinity', 0);

create table history_revisits (
    due_at      timestamptz not null default clock_timestamp(),
    incident_id bigint,
    message_id  bigint
);
comment on table history_revisits is 'what the historian reads again behind its cursor: all messages of an incident that has ended, or one message that was not finished';
create index history_revisits_due on history_revisits (due_at);

-- +goose StatementBegin
create function revisit_history() returns trigger language plpgsql as $$
begin
    insert into history_revisits (incident_id) values (new.id);
    return null;
end
$$;
-- +goose StatementEnd
create trigger incidents_ended after update of active on incidents for each row
    when (old.active and not new.active) execute function revisit_history();
insert into schema_compatibility (version, oldest) values (94, 72);

-- +goose Down
delete from schema_compatibility where version = 94;
drop trigger incidents_ended on incidents;
drop function revisit_history;
drop table history_revisits, history_cursor;

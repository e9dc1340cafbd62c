-- +goose Up
-- Events that a rule of an integration holds back, because it opens an incident only after several events. Rows are
-- deleted two days after their last event.
create table held_events (
    integration_id bigint not null,
    key            text not null,                   -- of the rule and the events that it counts together
    at             timestamptz[] not null default '{}',
    titles         text[] not null default '{}',
    touched_at     timestamptz not null default clock_timestamp(),
    primary key (integration_id, key)
);
create index held_events_touched on held_events (touched_at);
insert into schema_compatibility (version, oldest) values (290, 193);

-- +goose Down
delete from schema_compatibility where version = 290;
drop table held_events;

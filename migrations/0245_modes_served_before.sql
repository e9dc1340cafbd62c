-- +goose Up

-- When a mode was last served by a processor whose row is gone. With the rows of members it tells how long no live processor has served a
-- mode. Members of the release before delete rows too, so a trigger keeps it.
create table served_modes (
    mode      text primary key,
    served_at timestamptz not null -- the last heartbeat of the processor
);
-- +goose StatementBegin
create function note_served_modes() returns trigger
    language plpgsql as $$
begin
    insert into served_modes as s (mode, served_at)
    select m.mode, max(g.heartbeat_at)
    from gone g
    cross join unnest(g.modes) as m(mode)
    group by m.mode
    order by m.mode
    on conflict (mode) do update set served_at = greatest(s.served_at, excluded.served_at);
    return null;
end
$$;
-- +goose StatementEnd
create trigger members_gone after delete on members referencing old table as gone for each statement execute function note_served_modes();
insert into schema_compatibility (version, oldest) values (245, 193);

-- +goose Down
delete from schema_compatibility where version = 245;
drop trigger members_gone on members;
drop function note_served_modes();
drop table served_modes;

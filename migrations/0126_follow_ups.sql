-- +goose Up

-- Follow-ups: later notifications about the same page, which people choose for each priority. The mode of the first notification stays
-- in user_modes.
create table user_follow_ups (
    user_id       bigint not null references users (id) on delete cascade,
    priority      text not null references priorities (name),
    position      smallint not null, -- from 1
    mode          text not null references modes (name),
    delay_seconds int not null check (delay_seconds > 0),
    primary key (user_id, priority, position)
);
comment on column messages.held_at is 'when it was held for a digest, or, of a message with a delay, when it was made: it counts as sent for its step from then on';
comment on column messages.purpose is 'primary, copy, fallback, tracking, digest, or follow-up-N: the N-th follow-up of the recipient';

insert into schema_compatibility (version, oldest) values (126, 110);

-- +goose Down
delete from schema_compatibility where version = 126;
comment on column messages.purpose is null;
comment on column messages.held_at is null;
drop table user_follow_ups;

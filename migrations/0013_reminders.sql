-- For calendar feeds and reminders: how often shifts changed, which were deleted, and who was reminded of what.

-- +goose Up

-- feed_id is the number in the UID of a calendar feed: the id of the shift, or of the shift from which it was cut. sequence counts the
-- changes that feeds show. changed_at is the time of the last one: a reminder that was due before it is not sent.
alter table shifts
    add column feed_id    bigint,
    add column sequence   int not null default 0,
    add column changed_at timestamptz not null default now();
update shifts set feed_id = id;
alter table shifts alter column feed_id set not null, alter column changed_at set default clock_timestamp();
create index shifts_feed on shifts (feed_id);
create index shifts_end on shifts (ends_at);

-- Shifts that a person lost, as feeds showed them, so that feeds show them as cancelled.
create table cancelled_shifts (
    feed_id    bigint not null,
    user_id    bigint not null references users (id) on delete cascade,
    team_id    bigint not null references teams (id) on delete cascade,
    role_id    bigint not null references oncall_roles (id) on delete cascade,
    starts_at  timestamptz not null,
    ends_at    timestamptz not null,
    sequence   int not null,
    changed_at timestamptz not null default clock_timestamp(),
    primary key (feed_id, user_id)
);
create index cancelled_shifts_team on cancelled_shifts (team_id, ends_at);
create index cancelled_shifts_user on cancelled_shifts (user_id, ends_at);
create index cancelled_shifts_role on cancelled_shifts (role_id);
create index cancelled_shifts_end on cancelled_shifts (ends_at);

-- What calendar feeds choose from.
create view feed_shifts as
select feed_id, team_id, role_id, user_id, starts_at, ends_at, sequence, changed_at, false as cancelled from shifts
union all
select feed_id, team_id, role_id, user_id, starts_at, ends_at, sequence, changed_at, true from cancelled_shifts;

-- +goose StatementBegin
create function number_shift() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        if new.feed_id is null then
            new.feed_id := new.id;
        elsif new.feed_id <> new.id then
            new.sequence := 1 + greatest(
                (select coalesce(max(s.sequence), 0) from shifts s where s.feed_id = new.feed_id),
                (select coalesce(max(c.sequence), 0) from cancelled_shifts c where c.feed_id = new.feed_id));
        end if;
    elsif (new.role_id, new.user_id, new.starts_at, new.ends_at) is distinct from (old.role_id, old.user_id, old.starts_at, old.ends_at) then
        new.sequence := old.sequence + 1;
        new.changed_at := clock_timestamp();
    end if;
    return new;
end
$$;

-- When a team or a role goes with its shifts, there is no feed left to strike them out in.
create function cancel_shift() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' and old.user_id = new.user_id then
        return null;
    end if;
    insert into cancelled_shifts (feed_id, user_id, team_id, role_id, starts_at, ends_at, sequence)
    select old.feed_id, u.id, t.id, r.id, old.starts_at, old.ends_at, old.sequence + 1
    from users u, teams t, oncall_roles r
    where u.id = old.user_id and t.id = old.team_id and r.id = old.role_id
    on conflict (feed_id, user_id) do update
    set role_id = excluded.role_id, starts_at = excluded.starts_at, ends_at = excluded.ends_at, sequence = excluded.sequence,
        changed_at = excluded.changed_at;
    return null;
end
$$;
-- +goose StatementEnd
create trigger shifts_numbered before insert or update on shifts for each row execute function number_shift();
create trigger shifts_cancelled after update or delete on shifts for each row execute function cancel_shift();

-- Settings that were made or changed after a reminder's moment send none for it.
alter table notice_settings add column changed_at timestamptz not null default clock_timestamp();
-- +goose StatementBegin
create function touch_notice_setting() returns trigger language plpgsql as $$
begin
    new.changed_at := clock_timestamp();
    return new;
end
$$;
-- +goose StatementEnd
create trigger notice_settings_touched before update on notice_settings for each row execute function touch_notice_setting();

-- Who was reminded of what, when it was due: written with the reminder itself, so that each is made once.
create table reminders_made (
    feed_id bigint not null,
    user_id bigint not null references users (id) on delete cascade,
    type    text not null references notice_types (name),
    mode    text not null,
    due_at  timestamptz not null,
    made_at timestamptz not null default clock_timestamp(),
    primary key (feed_id, user_id, type, mode, due_at)
);
create index reminders_made_due on reminders_made (due_at);
create index reminders_made_user on reminders_made (user_id);

-- Reminders that are due and not made yet: from their moment until the shift begins (or ends); those of less than five minutes before
-- may come five minutes late. now() and not the clock, so that the index finds the shifts ahead. Shifts and settings made or changed after the moment give no reminder. Of linked shifts only a person's
-- first (or last) reminds.
create view reminders_due as
select d.*
from (
    select n.team_id, t.name as team, n.user_id, u.name as user_name, u.time_zone as user_zone, n.type, n.mode, n.time_before,
        greatest(n.changed_at, s.changed_at) as known_at, s.feed_id, r.name as role, s.link_id, s.starts_at, s.ends_at, e.edge,
        e.edge - make_interval(secs => n.time_before) as due_at
    from notice_settings n
    join teams t on t.id = n.team_id and t.active
    join users u on u.id = n.user_id and u.active
    join shifts s on s.user_id = n.user_id and s.team_id = n.team_id
    join notice_setting_roles nr on nr.setting_id = n.id and nr.role_id = s.role_id
    join oncall_roles r on r.id = s.role_id
    cross join lateral (select case n.type when 'oncall_reminder' then s.starts_at else s.ends_at end as edge) e
    where n.type in ('oncall_reminder', 'offcall_reminder') and n.time_before is not null
        and s.ends_at > now() - interval '5 minutes'
) d
where d.due_at <= now() and d.known_at <= d.due_at
    and d.edge > now() - case when d.time_before < 300 then interval '5 minutes' else interval '0' end
    and not exists (select 1 from shifts o where o.link_id = d.link_id and o.user_id = d.user_id
        and case d.type when 'oncall_reminder' then o.starts_at < d.starts_at else o.ends_at > d.ends_at end)
    and not exists (select 1 from reminders_made m
        where m.feed_id = d.feed_id and m.user_id = d.user_id and m.type = d.type and m.mode = d.mode and m.due_at = d.due_at);

-- When people last got an e-mail that they are on call soon and have no number for calls.
create table phone_checks (
    user_id bigint primary key references users (id) on delete cascade,
    told_at timestamptz not null default clock_timestamp()
);

-- Occurrences of imported calendars that became shifts, so that the next import of the calendar finds them. shift_id is no
-- foreign key: that a shift is gone says that somebody deleted or cut it by hand, and it is not made again.
create table taken_shifts (
    team_id   bigint not null references teams (id) on delete cascade,
    role_id   bigint not null references oncall_roles (id) on delete cascade,
    uid       text not null,
    occurs_at timestamptz not null,
    user_id   bigint not null references users (id) on delete cascade,
    shift_id  bigint not null,
    primary key (team_id, role_id, uid, occurs_at, user_id)
);
create index taken_shifts_role on taken_shifts (role_id);
create index taken_shifts_user on taken_shifts (user_id);

-- +goose Down
drop table taken_shifts;
drop view reminders_due, feed_shifts;
drop table phone_checks, reminders_made, cancelled_shifts;
drop trigger notice_settings_touched on notice_settings;
drop trigger shifts_numbered on shifts;
drop trigger shifts_cancelled on shifts;
drop function number_shift, cancel_shift, touch_notice_setting;
alter table notice_settings drop column changed_at;
drop index shifts_end;
alter table shifts drop column feed_id, drop column sequence, drop column changed_at;

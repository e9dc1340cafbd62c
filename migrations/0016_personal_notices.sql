-- Personal notices (swap requests, a pager that was taken), and cancelled shifts of bulk changes written by one statement.

-- +goose Up

-- kind is a type of notice settings, or a personal kind. A personal notice goes to user_ids, except to people whose settings already ask
-- for notices of the kind `unless`. by_id is the person who made the change.
alter table notices
    drop constraint notices_kind_fkey,
    add column by_id  bigint references users (id) on delete set null,
    add column note   text not null default '',
    add column unless text references notice_types (name);
create index notices_by on notices (by_id) where by_id is not null;

create index swap_requests_open on swap_requests (team_id) where state = 'open';

drop trigger shifts_cancelled on shifts;
drop function cancel_shift;

-- When a team or a role goes with its shifts, there is no feed left to strike them out in. Of pieces of one shift the one that changed most
-- says when it was.
-- +goose StatementBegin
create function cancel_shifts() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE' then
        insert into cancelled_shifts (feed_id, user_id, team_id, role_id, starts_at, ends_at, sequence)
        select distinct on (o.feed_id, o.user_id) o.feed_id, u.id, t.id, r.id, o.starts_at, o.ends_at, o.sequence + 1
        from old_rows o
        join new_rows n on n.id = o.id and n.user_id <> o.user_id
        join users u on u.id = o.user_id
        join teams t on t.id = o.team_id
        join oncall_roles r on r.id = o.role_id
        order by o.feed_id, o.user_id, o.sequence desc, o.id desc
        on conflict (feed_id, user_id) do update
        set role_id = excluded.role_id, starts_at = excluded.starts_at, ends_at = excluded.ends_at, sequence = excluded.sequence,
            changed_at = excluded.changed_at;
    else
        insert into cancelled_shifts (feed_id, user_id, team_id, role_id, starts_at, ends_at, sequence)
        select distinct on (o.feed_id, o.user_id) o.feed_id, u.id, t.id, r.id, o.starts_at, o.ends_at, o.sequence + 1
        from old_rows o
        join users u on u.id = o.user_id
        join teams t on t.id = o.team_id
        join oncall_roles r on r.id = o.role_id
        order by o.feed_id, o.user_id, o.sequence desc, o.id desc
        on conflict (feed_id, user_id) do update
        set role_id = excluded.role_id, starts_at = excluded.starts_at, ends_at = excluded.ends_at, sequence = excluded.sequence,
            changed_at = excluded.changed_at;
    end if;
    return null;
end
$$;
-- +goose StatementEnd
create trigger shifts_lost after update on shifts referencing new table as new_rows old table as old_rows
    for each statement execute function cancel_shifts();
create trigger shifts_cancelled after delete on shifts referencing old table as old_rows
    for each statement execute function cancel_shifts();

-- +goose Down
drop trigger shifts_lost on shifts;
drop trigger shifts_cancelled on shifts;
drop function cancel_shifts;
-- +goose StatementBegin
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
create trigger shifts_cancelled after update or delete on shifts for each row execute function cancel_shift();
drop index swap_requests_open;
delete from notices where kind not in (select name from notice_types);
alter table notices
    drop column by_id, drop column note, drop column unless,
    add constraint notices_kind_fkey foreign key (kind) references notice_types (name);

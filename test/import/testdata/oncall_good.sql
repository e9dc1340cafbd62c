-- A small Oncall as a site has it: everything in it can be taken. Its calendar lies around now.
set names utf8mb4;
set foreign_key_checks = 0;
set sql_mode = '';
set @week = floor(unix_timestamp() / 604800) * 604800;
set @day = 86400;

alter table event modify note text character set utf8mb4;

insert into role (id, name, display_order) values (1, 'primary', 1), (2, 'secondary', 2), (3, 'shadow', 9), (4, 'manager', 4), (5, 'vacation', 5),
    (6, 'unavailable', 6), (12, 'tertiary', 3);
insert into contact_mode (id, name) values (8, 'email'), (17, 'sms'), (26, 'call'), (35, 'slack'), (36, 'teams_messenger');
insert into scheduler (id, name, description) values (1, 'default', 'd'), (2, 'round-robin', 'r'), (3, 'no-skip-matching', 'n'), (4, 'multi-team', 'm');
insert into notification_type (id, name, subject, body, is_reminder) values (1, 'oncall_reminder', 's', 'b', 1), (2, 'offcall_reminder', 's', 'b', 1),
    (3, 'event_created', 's', 'b', 0), (4, 'event_edited', 's', 'b', 0), (5, 'event_deleted', 's', 'b', 0), (6, 'event_swapped', 's', 'b', 0),
    (7, 'event_substituted', 's', 'b', 0);

insert into user (id, name, active, full_name, time_zone, photo_url, god) values (110, 'ann', 1, 'Ann Müller', 'Europe/Zurich', 'https://example.com/ann.png', 1),
    (111, 'Bjørn', 1, 'Bjørn Hansen', 'US/Pacific', null, 0), (112, 'carla', 0, 'Carla', null, null, 0), (113, 'dora', 1, null, '', null, 0);
insert into user_contact (user_id, mode_id, destination) values (110, 8, 'ann@example.com'), (110, 17, '+1 223-456-7890'), (110, 26, '+1 223-456-7890'),
    (111, 8, 'bjørn@example.com'), (112, 8, 'carla@example.com'), (113, 35, 'dora'), (113, 26, 'x5555');

-- Two teams, one that was deleted, one that only subscribes.
insert into team (id, name, description, slack_channel, slack_channel_notifications, email, scheduling_timezone, active, iris_plan, iris_enabled,
    override_phone_number, api_managed_roster) values
    (70, 'db', 'Dätenbanken', '#db', '#db-alerts', 'db@example.com', 'US/Pacific', 1, 'night', 1, '+1 333-456-7890', 0),
    (71, 'Web Ops', null, null, null, '', 'Europe/Zurich', 1, null, 0, null, 1),
    (72, '0ea4e4b5-d6d9-4eeb-8e1d-0b8e9ef4a1c3', null, null, null, null, 'UTC', 0, null, 0, null, 0),
    (73, 'watchers', '', null, null, null, 'Asia/Kolkata', 1, '', 0, '', 0);
insert into deleted_team (team_id, new_name, old_name, deletion_date) values (72, '0ea4e4b5-d6d9-4eeb-8e1d-0b8e9ef4a1c3', 'Ops', 1600000000);
insert into team_user (team_id, user_id) values (70, 110), (70, 111), (70, 113), (71, 111), (72, 112);
insert into team_admin (team_id, user_id) values (70, 110), (71, 111), (73, 113);
insert into service (id, name) values (30, 'mysql'), (31, 'Kafka'), (32, 'nobody''s');
insert into team_service (team_id, service_id) values (70, 30), (71, 31);

insert into roster (id, name, team_id) values (50, 'all', 70), (51, 'Backup 漢', 70), (52, 'all', 71);
insert into roster_user (roster_id, user_id, in_rotation, roster_priority) values (50, 111, 1, 0), (50, 110, 1, 1), (50, 113, 0, 2), (51, 113, 1, 0), (52, 111, 1, 7);
insert into schedule (id, team_id, roster_id, role_id, auto_populate_threshold, advanced_mode, last_epoch_scheduled, last_scheduled_user_id, scheduler_id) values
    (400, 70, 50, 1, 21, 0, @week, null, 1), (401, 70, 50, 2, 21, 1, null, 111, 2), (402, 71, 52, 12, 0, 0, 1700000000, null, 4);
insert into schedule_event (id, schedule_id, start, duration) values (1, 400, 150000, 604800), (2, 401, 0, 43200), (3, 401, 86400, 43200), (4, 401, 720000, 3600), (5, 402, 0, 604800);
insert into schedule_order (schedule_id, user_id, priority) values (401, 110, 1), (401, 111, 0);

-- Weeks of primaries, an override in one, links, a vacation, a hand-made shadow, past of the deleted team, one long ago, one that has begun and never ends.
insert into event (id, team_id, role_id, schedule_id, link_id, user_id, start, end, note) values
    (1000, 70, 1, 400, null, 110, @week - 15 * @day, @week - 8 * @day, null),
    (1001, 70, 1, 400, null, 111, @week - 8 * @day, @week - @day, ''),
    (1002, 70, 1, 400, null, 110, @week - @day, @week + 2 * @day, 'before the 🔥'),
    (1003, 70, 1, null, null, 113, @week + 2 * @day, @week + 3 * @day, 'override – “kept”'),
    (1004, 70, 1, 400, null, 110, @week + 3 * @day, @week + 6 * @day, null),
    (1005, 70, 1, 400, null, 111, @week + 6 * @day, @week + 13 * @day, null),
    (1006, 70, 1, 400, null, 110, @week + 13 * @day, @week + 20 * @day, null),
    (1010, 70, 2, 401, '0123456789abcdef0123456789abcdef', 111, @week, @week + 43200, null),
    (1011, 70, 2, 401, '0123456789abcdef0123456789abcdef', 111, @week + @day, @week + @day + 43200, null),
    (1012, 70, 2, 401, '0123456789abcdef0123456789abcdef', 110, @week + @day + 3600, @week + 2 * @day, 'two at once'),
    (1020, 71, 5, null, null, 111, @week + 4 * @day, @week + 12 * @day, 'holidays'),
    (1021, 71, 12, 399, null, 111, @week - 100 * @day, @week + 400 * @day, 'of a schedule that is gone'),
    (1022, 71, 3, null, '', 113, 946684800, 946771200, 'long ago'),
    (1030, 72, 1, null, null, 112, @week - 30 * @day, @week - 20 * @day, null),
    (1031, 71, 1, null, null, 110, @week - 200 * @day, 4102444800, 'up to 2100');
insert into team_subscription (team_id, subscription_id, role_id) values (73, 70, 1), (73, 71, 12), (71, 70, 2), (73, 72, 1);
insert into pinned_team (team_id, user_id) values (70, 110), (71, 110);

insert into notification_setting (id, user_id, team_id, mode_id, type_id, time_before, only_if_involved) values
    (600, 110, 70, 8, 1, 86400, null), (601, 110, 70, 17, 3, null, 1), (602, 111, 71, 35, 7, null, 0);
insert into setting_role (setting_id, role_id) values (600, 1), (600, 2), (601, 12);
insert into notification_queue (id, user_id, send_time, mode_id, context, type_id, active, sent) values (1, 110, 1700000000, 8, '{}', 1, 1, 0);
insert into notifier_state (last_window_end) values (1700000000);
insert into session (id, csrf_token, time_created) values ('0123', '4567', '2024-01-01 00:00:00');
insert into ical_key (`key`, requester, name, type, time_created) values
    ('c1f1c1a0-5f4e-4b6a-9c66-0d1a52c0a001', 'ann', 'ann', 'user', 1600000001), ('c1f1c1a0-5f4e-4b6a-9c66-0d1a52c0a002', 'ann', 'db', 'team', 1600000002),
    ('c1f1c1a0-5f4e-4b6a-9c66-0d1a52c0a003', 'Bjørn', 'Web Ops', 'team', 1600000003);
insert into audit (id, owner_name, team_name, action_name, context, timestamp) values
    (900, 'ann', 'db', 'team_edited', '{"request_body": {"email": "db@example.com"}}', 1600000000), (901, 'gone', 'Ops', 'team_deleted', '{}', 1600000001);
insert into application (id, name, `key`) values (1, 'iris', 'oncall-key-of-iris'), (2, 'Roster Sync', 'oncall-key-of-the-sync'),
    (3, 'Relay', 'oncall-key-of-the-relay');

-- What sites find in tables that were edited by hand, by old versions, or around the foreign keys.
set names utf8mb4;
set foreign_key_checks = 0;
set sql_mode = '';
set @week = floor(unix_timestamp() / 604800) * 604800;

alter table event modify start double not null, modify end double not null;
alter table event add column colour varchar(10);
create table site_notes (id int primary key, text text);
insert into site_notes values (1, 'x');

insert into user (id, name, active, full_name, time_zone, photo_url, god) values (120, 'trailing  ', 1, 'T', 'PDT-8', null, 0),
    (121, '', 1, 'nameless', null, null, 0), (122, 'martian', 1, '', 'Mars/Olympus', null, 0), (123, 'twice', 1, 'Ãœbung', 'UTC', null, 0);
insert into user_contact (user_id, mode_id, destination) values (120, 36, 'trailing'), (120, 8, ''), (120, 99, 'lost'), (122, 17, 'not a number'), (995, 8, 'orphan@example.com');
insert into team (id, name, scheduling_timezone, active) values (80, 'zoneless', 'Nowhere/Land', 1), (81, 'null zone', null, 1), (82, 'gone', 'UTC', 0);
update team set override_phone_number = 'ask ann' where id = 81;
insert into deleted_team (team_id, new_name, old_name, deletion_date) values (994, 'orphan', 'orphan', 1);
insert into team_user (team_id, user_id) values (80, 995), (994, 110), (80, 120);
insert into team_admin (team_id, user_id) values (80, 995);
insert into team_service (team_id, service_id) values (80, 993);
insert into role (id, name, display_order) values (20, 'on-call buddy', 4000000000);
insert into roster (id, name, team_id) values (60, 'orphan', 994), (61, 'odd  ', 80);
insert into roster_user (roster_id, user_id, in_rotation, roster_priority) values (61, 120, 1, 4000000000), (61, 995, 1, 0), (992, 110, 1, 0);
insert into scheduler (id, name, description) values (9, 'of the site', 'x');
insert into schedule (id, team_id, roster_id, role_id, auto_populate_threshold, advanced_mode, last_epoch_scheduled, last_scheduled_user_id, scheduler_id) values
    (500, 80, 61, 20, 4000000000, 1, 0, 995, 1), (501, 80, 61, 1, 21, 1, null, null, 9), (502, 80, 61, 1, 21, 1, null, null, 88), (503, 80, 992, 1, 21, 1, null, null, 1);
insert into schedule_event (id, schedule_id, start, duration) values (100, 500, 0, 0), (101, 500, -5, 60), (102, 500, 0, 99999999999), (103, 991, 0, 60), (104, 503, 0, 60);
insert into schedule_order (schedule_id, user_id, priority) values (500, 995, 0), (991, 110, 0);
insert into event (id, team_id, role_id, schedule_id, link_id, user_id, start, end, note) values
    (2000, 80, 1, null, null, 120, @week, @week, 'no length'), (2001, 80, 1, null, null, 120, @week + 10, @week, 'backwards'),
    (2002, 80, 1, null, null, 120, @week + 0.5, @week + 3600.25, 'fractions'), (2003, 80, 1, null, null, 995, @week, @week + 60, 'of nobody'),
    (2004, 994, 1, null, null, 110, @week, @week + 60, 'of no team'), (2005, 80, 77, null, null, 110, @week, @week + 60, 'of no role'),
    (2006, 80, 1, null, null, 120, 1700000000000, 1800000000000, 'milliseconds'), (2007, 80, 2, null, 'short', 120, @week, 1e18, 'for ever'),
    (2008, 80, 1, null, null, 112, unix_timestamp() + 86400, unix_timestamp() + 90000, 'left the company'),
    (2009, 80, 20, null, null, 123, -86400, 0, 'before 1970');
insert into team_subscription (team_id, subscription_id, role_id) values (80, 80, 1), (80, 994, 1), (80, 70, 77), (80, 82, 1);
insert into pinned_team (team_id, user_id) values (994, 110);
insert into notification_type (id, name, subject, body, is_reminder) values (50, 'of_the_site', 's', 'b', 0);
insert into notification_setting (id, user_id, team_id, mode_id, type_id, time_before, only_if_involved) values
    (700, 120, 80, 36, 1, 60, null), (701, 120, 80, 8, 50, null, 1), (702, 995, 80, 8, 1, 60, null), (703, 120, 80, 8, 88, null, 1);
insert into setting_role (setting_id, role_id) values (700, 1), (600, 77);
insert into ical_key (`key`, requester, name, type, time_created) values ('k1', 'nobody', 'db', 'team', 1), ('k2', 'ann', 'renamed', 'team', 1), ('k3', 'ann', 'nobody', 'user', 1),
    ('', 'dora', 'dora', 'user', 1);
insert into audit (id, owner_name, team_name, action_name, context, timestamp) values (910, 'ann', 'db', 'x', '{"cut o', 1600000000), (911, 'ann', 'db', 'x', '', 1600000000);
insert into application (id, name, `key`) values (10, 'a:b', 'oncall-key-with-colon'), (11, 'keyless', '');
update event set colour = 'red' where id = 2002;

-- A setting without roles; teams that show each other's calendars.
insert into notification_setting (id, user_id, team_id, mode_id, type_id, time_before, only_if_involved) values (704, 120, 80, 8, 1, 60, null);
insert into team_subscription (team_id, subscription_id, role_id) values (70, 73, 1), (70, 71, 12);

-- What time, other programs and people with a MySQL prompt leave behind. Comes after iris_good.sql.
set names utf8mb4;
set foreign_key_checks = 0;
set sql_mode = '';

-- Modes, priorities, kinds and roles that we do not have.
insert into mode (id, name) values (53, 'im'), (62, 'hipchat');
insert into priority (id, name, mode_id) values (44, 'whenever', 8);
update priority set mode_id = 17 where name = 'medium';
insert into target_type (id, name) values (4, 'robot');
insert into target_role (id, name, type_id) values (71, 'robot-duty', 4), (72, '', 2);
insert into target (id, name, type_id, active) values (40, 'r2', 4, 1), (41, 'lost type', 9, 1), (42, 'trailing ', 1, 1), (43, '', 1, 1), (44, 'nouser', 1, 1);
insert into user (target_id, admin) values (42, 0), (43, 0), (999, 1);

-- Contacts: of a team, in unknown modes, empty, of nobody; choices likewise.
insert into target_contact (target_id, mode_id, destination) values (20, 8, 'db@example.com'), (10, 53, 'ann-im'), (42, 8, ''), (998, 8, 'x@example.com'),
    (44, 8, ' pasted@example.com\t');
insert into target_mode (target_id, priority_id, mode_id) values (20, 35, 8), (10, 44, 8), (10, 26, 62);
insert into user_setting (user_id, name, value) values (13, 'timezone', 'Mars/Olympus'), (44, 'timezone', 'Asia/Tokyo ');
insert into target_reprioritization (target_id, src_mode_id, dst_mode_id, count, duration) values (11, 26, 17, 0, 60);
insert into device (id, registration_id, user_id, platform) values (78, 'token-of-nobody', 997, 'Android');
insert into mailing_list_membership (list_id, user_id) values (30, 996);

-- Applications: a name that cannot work, no key, a short one, a double title variable, no quota at all.
insert into application (id, name, `key`, secondary_key) values (20, 'a:b', 'some-long-key', null), (21, 'keyless', '', null), (22, 'short', 'abc', '');
insert into template_variable (id, application_id, name, required, title_variable) values (10, 1, 'message2', 0, 1), (11, 21, '', 0, 0);
insert into application_quota (application_id, hard_quota_threshold, soft_quota_threshold, hard_quota_duration, soft_quota_duration, plan_name, target_id)
    values (21, 0, 10, 60, 60, null, null);

-- Words encoded twice: an old client wrote UTF-8 through a latin1 connection. One more for an unknown mode, and old columns.
insert into template (id, name, created, user_id) values (10, 'twice', '0000-00-00 00:00:00', 10), (11, 'by nobody', '2020-01-01 00:00:00', 995);
insert into template_content (template_id, application_id, mode_id, subject, body, `call`, sms) values
    (10, 1, 8, convert(cast(convert('Übung' using utf8mb4) as binary) using latin1), 'plain', 'old call words', null),
    (10, 1, 53, 's', 'b', null, null);

-- Plans: broken tracking, numbers beyond ours, steps that page nobody or lost people, negative waits.
insert into plan (id, name, created, user_id, team_id, description, step_count, threshold_window, threshold_count, aggregation_window,
    aggregation_reset, tracking_key, tracking_type, tracking_template) values
    (10, 'broken tracking', '2021-13-45 00:00:00', 10, 20, 'x', 1, 99999999999, 1, 1, 1, 'a@example.com', 'email', '{"Autoalerts": {'),
    (11, 'of nobody', '2021-01-01 00:00:00', 994, null, 'x', 1, 1, 1, 1, 1, null, null, null),
    (12, 'im tracking', '2021-01-01 00:00:00', 10, null, 'x', 1, 1, 1, 1, 1, 'a', 'im', '{}');
insert into plan_notification (id, plan_id, step, template, target_id, optional, role_id, priority_id, `repeat`, wait, dynamic_index) values
    (1001, 10, 1, 'page', 10, 0, 8, 35, 0, -5, null), (1002, 10, 1, 'page', null, 0, null, 35, 0, 0, null),
    (1003, 10, 2, 'page', 993, 0, 8, 35, 0, 0, null), (1004, 10, 0, 'page', 10, 0, 8, 35, 0, 0, null),
    (1005, 10, 2, 'page', 10, 0, 71, 35, 0, 0, null), (1006, 10, 2, 'page', 10, 0, 8, 44, 0, 0, null);

-- Names that lead to nothing: a plan that is not taken, a template that never was. Words that are no template, in use and not.
insert into plan_active (name, plan_id) values ('of nobody', 11);
insert into application_quota (application_id, hard_quota_threshold, soft_quota_threshold, hard_quota_duration, soft_quota_duration, plan_name, target_id)
    values (22, 5, 5, 60, 60, 'of nobody', null);
insert into incident_emails (email, application_id, plan_name) values ('lost@example.com', 1, 'of nobody');
insert into plan_notification (id, plan_id, step, template, target_id, optional, role_id, priority_id, `repeat`, wait, dynamic_index) values
    (1007, 10, 2, 'never was', 10, 0, 8, 35, 0, 0, null), (1008, 10, 2, 'PAGE ', 10, 0, 8, 35, 0, 0, null);
insert into template (id, name, created, user_id) values (12, 'broken', '2020-01-01 00:00:00', 10), (13, 'broken', '2020-01-01 00:00:00', 10);
insert into template_active (name, template_id) values ('broken', 13);
insert into template_content (template_id, application_id, mode_id, subject, body) values (12, 1, 8, '{{ host', 'b'), (13, 1, 8, 's', '{% if host %}'),
    (13, 1, 17, '', '{% include "x" %}'), (13, 1, 26, '', '{% macro a() %}x{% endmacro %}{{ a() }}');

-- Incidents: contexts cut off, null, not an object; zero dates; plans and owners that are gone; states that contradict each other.
insert into incident (id, plan_id, created, updated, context, owner_id, application_id, current_step, active, resolved) values
    (2000, 2, '2022-01-01 00:00:00', '0000-00-00 00:00:00', '{"host": "cut o', null, 1, 2, 0, 0),
    (2001, 2, '0000-00-00 00:00:00', '2022-01-02 00:00:00', null, null, 1, 2, 0, 0),
    (2002, 2, '0000-00-00 00:00:00', null, '[1, 2]', 992, 1, 1, 0, 0),
    (2003, 555, '2022-01-01 00:00:00', null, '{}', null, 1, 1, 1, 0),
    (2004, 2, '2022-01-01 00:00:00', null, '{}', null, 991, 1, 0, 0),
    (2005, 2, '2022-01-01 00:00:00', null, '{}', null, 1, 1, 1, 1),
    (2006, 2, '2022-01-01 00:00:00', null, '{}', 10, 1, 1, 1, 0),
    (2007, 2, '2022-01-01 00:00:00', null, '{}', null, 1, -1, 0, 0),
    (2008, 2, '2022-01-01 00:00:00', null, '{"a": 1, "a": [NaN, "NaN"]}', null, 1, 1, 0, 0);
insert into dynamic_plan_map (incident_id, dynamic_index, role_id, target_id) values (2003, 0, 8, 10), (1003, 2, 71, 10);
insert into comment (id, incident_id, created, user_id, content) values (60, 2003, '2022-01-01 00:00:00', 10, 'lost with its incident'),
    (61, 2000, '2022-01-01 00:00:00', 990, 'by nobody'), (62, 2000, '0000-00-00 00:00:00', 10, 'zero \0 byte');
insert into message (id, batch, created, sent, application_id, target_id, destination, mode_id, plan_id, priority_id, subject, body, incident_id,
    plan_notification_id, active, template_id) values
    (6000, null, '0000-00-00 00:00:00', '2022-01-01 00:00:05', 1, 10, 'a', 53, 2, 44, 'S', 'B', 2000, 201, 0, 2),
    (6001, null, '2022-01-01 00:00:05', null, 1, 10, null, null, 2, 26, null, null, 2000, 201, 1, null),
    (6002, null, '2022-01-01 00:00:05', null, 1, 10, null, null, 2, 26, null, null, 2003, 201, 1, null),
    (6003, null, '2022-01-01 00:00:05', null, 1, 989, null, 8, 2, 26, null, null, 2000, 201, 0, null),
    (6004, null, '2022-01-01 00:00:05', '2022-01-01 00:00:05', 1, 10, 'ann', 44, 2, 26, null, null, 2000, null, 0, null),
    (6005, null, '2022-01-01 00:00:05', '2022-01-01 00:00:05', 1, 20, 'db@example.com', 8, 2, 26, 'S', 'B', 2000, 201, 0, null);
insert into message_changelog (id, date, message_id, change_type, old, new, description) values (9100, '2022-01-01 00:00:05', 6002, 'mode-change', 'a', 'b', null);
insert into twilio_delivery_status (twilio_sid, message_id, status) values ('SM2', null, 'sent'), ('SM3', 6000, null), ('SM4', 6002, 'delivered');

-- What is not Iris's.
create table site_notes (id int primary key, note text);
insert into site_notes values (1, 'a table of the site');
create table site_empty (id int primary key);
alter table application add column cost_centre varchar(20), add column nothing_in_it varchar(20);
update application set cost_centre = '4711' where id in (1, 8);

-- Rows about teams, lists, messages, modes, templates and plans that are gone; settings that say nothing.
insert into team (target_id, manager_id) values (988, 10), (10, null);
insert into mailing_list (target_id, count) values (987, 3);
update mailing_list set count = -3 where target_id = 31;
update application_quota set wait_time = -1 where application_id = 22;
insert into device (id, registration_id, user_id, platform) values (79, ' ', 10, 'Android');
insert into generic_message_sent_status (message_id, status) values (986, 0);
insert into message (id, batch, created, sent, application_id, target_id, destination, mode_id, plan_id, priority_id, subject, body, incident_id,
    plan_notification_id, active, template_id) values
    (6011, '', '2022-01-01 00:00:05', '0000-00-00', 1, 10, 'a', 8, 2, 8, 'S', 'B', 2000, 201, 0, null),
    (6010, null, '2022-01-01 00:00:05', '2022-01-01 00:00:05', 1, 10, 'a', 99, 985, 98, 'S', 'B', 2000, 984, 0, 983);
insert into user_setting (user_id, name, value) values (12, 'Timezone', 'Venus'), (42, 'timezone', '');
insert into application_custom_sender_address (application_id, mode_id, sender_address) values (1, 17, ' ');

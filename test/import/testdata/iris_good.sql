-- A small Iris as a site has it: everything in it can be taken.
set names utf8mb4;
set foreign_key_checks = 0;
set sql_mode = '';

-- Sites changed the character set of some columns.
alter table comment modify content text character set utf8mb4 not null;
alter table target_contact modify destination varchar(255) character set utf8 not null;

insert into target_type (id, name) values (1, 'user'), (2, 'team'), (3, 'mailing-list');
insert into mode (id, name) values (8, 'email'), (17, 'sms'), (26, 'call'), (35, 'slack'), (44, 'drop');
insert into priority (id, name, mode_id) values (8, 'low', 8), (17, 'medium', 8), (26, 'high', 17), (35, 'urgent', 26);
insert into target_role (id, name, type_id) values (8, 'user', 1), (17, 'manager', 2), (26, 'team', 2), (35, 'oncall-primary', 2),
    (44, 'oncall-secondary', 2), (53, 'mailing-list', 3), (62, 'oncall-manager', 2);

-- People 10-13, teams 20-21, a list 30. The same name may stand for a user, a team and a list.
insert into target (id, name, type_id, active) values (10, 'ann', 1, 1), (11, 'Bjørn', 1, 1), (12, 'carla', 1, 0), (13, 'noadmin', 1, 1),
    (20, 'db', 2, 1), (21, 'old team', 2, 0), (30, 'db', 3, 1), (31, 'empty-list', 3, 1);
insert into user (target_id, admin) values (10, 1), (11, 0), (12, 0), (13, 0);
insert into team (target_id, manager_id, director_id) values (20, 10, 11), (21, null, null);
insert into oncall_team (target_id, oncall_team_id) values (20, 7);
insert into user_team (user_id, team_id) values (11, 20), (10, 20), (12, 21);
insert into mailing_list (target_id, count) values (30, 2), (31, 5000);
insert into mailing_list_membership (list_id, user_id) values (30, 10), (30, 13);
insert into target_contact (target_id, mode_id, destination) values (10, 8, 'ann@example.com'), (10, 17, '+1 223-456-7890'),
    (10, 26, '+1 223-456-7890'), (10, 35, 'ann'), (11, 8, 'bjørn@example.com'), (12, 8, 'carla@example.com'), (13, 17, 'x5555');
insert into target_mode (target_id, priority_id, mode_id) values (10, 35, 17), (11, 8, 44);
insert into user_setting (user_id, name, value) values (10, 'timezone', 'Europe/Zurich'), (10, 'theme', 'dark'), (11, 'timezone', 'US/Pacific');
insert into mode_template_override (target_id, mode_id) values (11, 17);
insert into target_reprioritization (target_id, src_mode_id, dst_mode_id, count, duration) values (10, 17, 8, 5, 600);
insert into device (id, registration_id, user_id, platform) values (77, 'token-of-ann', 10, 'iOS');

-- Application 1 takes the number that ours would have; 'iris' is another one.
insert into application (id, name, `key`, context_template, summary_template, sample_context, mobile_template, auth_only,
    allow_other_app_incidents, allow_authenticating_users, secondary_key) values
    (1, 'Autoalerts', 'a7a9d7657ac8837cd7dfed0b93f4b8b864007724d7fa21422c24f4ff0adb2e49', '<b>{{context.host}}</b>', 'café {{context.host}}',
     '{"host": "db1", "n": 1}', null, 0, 0, 1, null),
    (8, 'iris', 'key-of-iris-itself', null, null, null, null, 0, 1, 1, 'second-key-of-iris'),
    (9, 'relay', 'key-of-the-relay', '', '', 'no json at all', '', 1, 0, 0, null);
insert into template_variable (id, application_id, name, required, title_variable) values (1, 1, 'host', 1, 1), (2, 1, 'message', 0, 0),
    (3, 8, 'quota_breach', 0, 1);
insert into application_owner (application_id, user_id) values (1, 10), (1, 11);
insert into application_mode (application_id, mode_id) values (1, 8), (1, 17), (1, 26), (8, 8), (9, 8);
insert into default_application_mode (application_id, priority_id, mode_id) values (1, 26, 35);
insert into target_application_mode (target_id, application_id, priority_id, mode_id) values (10, 1, 26, 26);
insert into application_custom_sender_address (application_id, mode_id, sender_address) values (1, 8, 'alerts@example.com');
insert into notification_category (id, application_id, name, description, mode_id) values (5, 1, 'deploys', 'What was deployed', 8);
insert into category_override (user_id, category_id, mode_id) values (11, 5, 44);

-- Three versions of a template, the second is active; one that lost its active version.
insert into template (id, name, created, user_id) values (1, 'page', '2020-01-01 00:00:00', 10), (2, 'page', '2021-06-01 12:30:00', 10),
    (3, 'page', '2021-07-01 00:00:00', 11), (4, 'gone', '2019-01-01 00:00:00', 12);
insert into template_active (name, template_id) values ('page', 2);
insert into template_content (template_id, application_id, mode_id, subject, body, email_subject, email_text, email_html) values
    (1, 1, 8, 'old {{host}}', 'old', null, null, null),
    (2, 1, 8, '{{ host }} is down – “now”', 'Host {{ host }}:\r\n{% if message %}{{ message }}{% endif %}\r\n', '', null, null),
    (2, 1, 17, '', '{{ host }}', null, null, null),
    (4, 1, 8, '', '', 'from before {{host}}', 'text {{host}}', '<p>{{host}}</p>');

-- Plans: two versions, tracking, a dynamic one, waits beyond 24 hours, a notification whose template was switched off.
insert into plan (id, name, created, user_id, team_id, description, step_count, threshold_window, threshold_count, aggregation_window,
    aggregation_reset, tracking_key, tracking_type, tracking_template) values
    (1, 'Night', '2020-01-01 00:00:00', 10, null, 'first', 1, 900, 10, 300, 300, null, null, null),
    (2, 'Night', '2021-01-01 00:00:00', 10, null, 'Übersicht', 2, 900, 10, 300, 300, 'track@example.com', 'email',
     '{"Autoalerts": {"email_subject": "T {{host}}", "email_text": "B"}}'),
    (3, 'dynamic', '2021-01-01 00:00:00', 11, null, null, 1, null, null, null, null, null, null, null),
    (4, 'long', '2021-01-01 00:00:00', 12, null, '', 1, 0, 0, 0, 0, null, null, null);
insert into plan_active (name, plan_id) values ('Night', 2), ('dynamic', 3), ('long', 4);
insert into plan_notification (id, plan_id, step, template, target_id, optional, role_id, priority_id, `repeat`, wait, dynamic_index) values
    (101, 1, 1, 'page', 10, 0, 8, 35, 0, 0, null),
    (201, 2, 1, 'page', 20, 0, 35, 26, 2, 300, null), (202, 2, 1, 'page', 10, 1, 8, 8, 0, 0, null),
    (205, 2, 2, 'page', 20, 0, 62, 35, 1, 600, null), (204, 2, 2, null, 30, 0, 53, 17, 0, 0, null),
    (301, 3, 1, 'page', null, 0, null, 26, 0, 60, 0), (302, 3, 1, 'page', null, 1, null, 8, 0, 60, 1),
    (401, 4, 1, 'page', 11, 0, 8, 17, 5, 90000, null);
insert into application_quota (application_id, hard_quota_threshold, soft_quota_threshold, hard_quota_duration, soft_quota_duration, plan_name,
    target_id, wait_time) values (1, 500, 50, 60, 120, 'Night', 20, 3600);
insert into incident_emails (email, application_id, plan_name) values ('Page-Me@example.com', 1, 'Night');

-- Incidents: claimed, exhausted, resolved, new, escalating in step 1 with one page not sent yet, escalating in step 2, and
-- there with everything made but one page of a list not sent yet.
insert into incident (id, plan_id, created, updated, context, owner_id, application_id, current_step, active, resolved) values
    (1000, 1, '2020-02-03 04:05:06', '2020-02-03 04:06:07', '{"host":"db1","message":"d\\u00e9j\\u00e0 vu \\ud83d\\ude00"}', 10, 1, 1, 0, 0),
    (1001, 2, '2021-02-03 04:05:06', null, '{"b": 1, "a": [1.50, null, true]}', null, 1, 2, 0, 0),
    (1002, 2, '2021-03-01 00:00:00', '2021-03-01 01:00:00', '{}', 11, 1, 1, 0, 1),
    (1003, 3, '2024-01-01 00:00:00', '2024-01-01 00:00:00', '{"host":"new"}', null, 1, 0, 1, 0),
    (1004, 2, '2024-01-02 00:00:00', '2024-01-02 00:01:00', '{"host":"one"}', null, 1, 1, 1, 0),
    (1005, 2, '2024-01-03 00:00:00', '2024-01-03 00:20:00', '{"host":"two"}', null, 1, 2, 1, 0),
    (1006, 2, '2024-01-04 00:00:00', '2024-01-04 00:20:00', '{"host":"three"}', null, 1, 2, 1, 0);
insert into dynamic_plan_map (incident_id, dynamic_index, role_id, target_id) values (1003, 0, 8, 10), (1003, 1, 35, 20);
insert into comment (id, incident_id, created, user_id, content) values (50, 1000, '2020-02-03 04:07:00', 10, 'on it 🔥 – Ann'),
    (51, 1000, '2020-02-03 04:08:00', 11, 'ok');
insert into message (id, batch, created, sent, application_id, target_id, destination, mode_id, plan_id, priority_id, subject, body, incident_id,
    plan_notification_id, active, template_id) values
    (5000, null, '2020-02-03 04:05:10', '2020-02-03 04:05:12', 1, 10, '+1 223-456-7890', 26, 1, 35, '[Autoalerts] db1', 'déjà vu', 1000, 101, 0, 2),
    (5001, null, '2021-02-03 04:05:10', '2021-02-03 04:05:12', 1, 11, 'bjørn@example.com', 8, 2, 26, 'S', 'B', 1001, 201, 0, 1),
    (5002, null, '2021-02-03 04:10:10', null, 1, 11, null, null, 2, 26, null, null, 1001, 201, 0, null),
    (5003, null, '2021-03-01 00:00:10', null, 1, 10, null, null, 2, 26, null, null, 1002, 201, 0, null),
    (5004, '0123456789abcdef0123456789abcdef', '2021-03-01 00:00:10', '2021-03-01 00:05:10', 1, 10, 'ann@example.com', 8, 2, 8,
     '[Autoalerts] 2 messages from plan Night', 'Batch ID: 0123456789abcdef0123456789abcdef', 1002, 202, 0, null),
    (5005, null, '2021-05-01 00:00:00', '2021-05-01 00:00:01', 8, 13, 'x5555', 17, null, 8, 'Re: 12', 'claimed', null, null, 0, null),
    (5010, null, '2024-01-02 00:00:01', '2024-01-02 00:00:02', 1, 10, 'ann', 35, 2, 26, 'S', 'B', 1004, 201, 0, 2),
    (5011, null, '2024-01-02 00:00:01', null, 1, 11, null, null, 2, 26, null, null, 1004, 201, 1, null),
    (5020, null, '2024-01-03 00:00:01', '2024-01-03 00:00:02', 1, 10, 'ann', 35, 2, 26, 'S', 'B', 1005, 201, 0, 2),
    (5021, null, '2024-01-03 00:10:01', '2024-01-03 00:10:02', 1, 10, 'ann', 35, 2, 26, 'S', 'B', 1005, 201, 0, 2),
    (5022, null, '2024-01-03 00:20:01', '2024-01-03 00:20:02', 1, 11, '+1', 26, 2, 35, 'S', 'B', 1005, 205, 0, 2),
    (5023, null, '2024-01-03 00:20:01', '2024-01-03 00:20:02', 1, 13, 'x5555', 17, 2, 17, 'S', 'B', 1005, 204, 0, null),
    (5024, null, '2024-01-03 00:20:01', '2024-01-03 00:20:03', 1, 10, 'ann@example.com', 8, 2, 17, 'S', 'B', 1005, 204, 0, null),
    (5030, null, '2024-01-04 00:20:01', '2024-01-04 00:20:02', 1, 10, 'ann@example.com', 8, 2, 17, 'S', 'B', 1006, 204, 0, null),
    (5031, null, '2024-01-04 00:20:01', null, 1, 13, null, null, 2, 17, null, null, 1006, 204, 1, null),
    (5032, null, '2024-01-04 00:20:01', '2024-01-04 00:20:02', 1, 10, '+1 223-456-7890', 26, 2, 35, 'S', 'B', 1006, 205, 0, 2),
    (5033, null, '2024-01-04 00:30:05', '2024-01-04 00:30:09', 1, 10, '+1 223-456-7890', 26, 2, 35, 'S', 'B', 1006, 205, 0, 2);
insert into message_changelog (id, date, message_id, change_type, old, new, description) values
    (9000, '2020-02-03 04:05:11', 5000, 'mode-change', 'sms', 'call', 'Changing mode due to original mode failure'),
    (9001, '2021-02-03 04:05:11', 5001, 'target-change', 'oncall-primary|db', 'Bjørn', 'no one on call');
insert into response (id, created, message_id, content, source) values (60, '2020-02-03 04:06:00', 5000, '2', 'call');
insert into twilio_delivery_status (twilio_sid, message_id, status) values ('CA00000000000000000000000000000001', 5000, 'completed');
insert into twilio_retry (message_id, retry_id) values (5000, 5001);
insert into generic_message_sent_status (message_id, status) values (5001, 1), (5003, 0);
insert into application_stats (application_id, statistic, value, timestamp) values (1, 'total_incidents', 3, '2024-01-01 00:00:00');
insert into global_stats (statistic, value, timestamp) values ('total_plans', 4, '2024-01-01 00:00:00');

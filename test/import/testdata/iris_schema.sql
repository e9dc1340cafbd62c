set foreign_key_checks = 0;

-- The tables of Iris, for a database of our own making. Text is latin1 unless a site changed it.

create table `application` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    `key` varchar(64) not null,
    `context_template` text,
    `summary_template` text,
    `sample_context` text,
    `mobile_template` text,
    `auth_only` tinyint(1) default 0,
    `allow_other_app_incidents` tinyint(1) unsigned not null default 0,
    `allow_authenticating_users` tinyint(1) unsigned not null default 0,
    `secondary_key` varchar(64),
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=latin1;

create table `application_custom_sender_address` (
    `application_id` int(11) not null,
    `mode_id` int(11) not null,
    `sender_address` varchar(255) not null,
    primary key (`application_id`, `mode_id`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade,
    foreign key (`mode_id`) references `mode` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `application_mode` (
    `application_id` int(11) not null,
    `mode_id` int(11) not null,
    primary key (`application_id`, `mode_id`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade,
    foreign key (`mode_id`) references `mode` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `application_owner` (
    `application_id` int(11) not null,
    `user_id` bigint(20) not null,
    primary key (`application_id`, `user_id`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`target_id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `application_quota` (
    `application_id` int(11) not null,
    `hard_quota_threshold` smallint(5) not null,
    `soft_quota_threshold` smallint(5) not null,
    `hard_quota_duration` smallint(5) not null,
    `soft_quota_duration` smallint(5) not null,
    `plan_name` varchar(255),
    `target_id` bigint(20),
    `wait_time` smallint(5) not null default 0,
    primary key (`application_id`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade,
    foreign key (`plan_name`) references `plan_active` (`name`) on delete set null,
    foreign key (`target_id`) references `target` (`id`) on delete set null
) engine=InnoDB default charset=latin1;

create table `application_stats` (
    `application_id` int(11) not null,
    `statistic` varchar(255) not null,
    `value` float,
    `timestamp` datetime not null,
    primary key (`application_id`, `statistic`, `timestamp`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `category_override` (
    `user_id` bigint(20) not null,
    `category_id` bigint(20) not null,
    `mode_id` int(11) not null,
    primary key (`user_id`, `category_id`),
    foreign key (`user_id`) references `user` (`target_id`) on delete cascade,
    foreign key (`category_id`) references `notification_category` (`id`) on delete cascade,
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `comment` (
    `id` bigint(20) not null auto_increment,
    `incident_id` bigint(20) not null,
    `created` datetime not null,
    `user_id` bigint(20) not null,
    `content` text not null,
    primary key (`id`),
    foreign key (`incident_id`) references `incident` (`id`),
    foreign key (`user_id`) references `user` (`target_id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `default_application_mode` (
    `application_id` int(11) not null,
    `priority_id` int(11) not null,
    `mode_id` int(11) not null,
    primary key (`application_id`, `priority_id`),
    foreign key (`application_id`) references `application` (`id`),
    foreign key (`priority_id`) references `priority` (`id`),
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `device` (
    `id` bigint(20) not null auto_increment,
    `registration_id` varchar(255) not null,
    `user_id` bigint(20) not null,
    `platform` varchar(255) not null,
    primary key (`id`),
    unique key (`registration_id`),
    foreign key (`user_id`) references `user` (`target_id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `dynamic_plan_map` (
    `incident_id` bigint(20) not null,
    `dynamic_index` int(11) not null,
    `role_id` int(11) not null,
    `target_id` bigint(20) not null,
    primary key (`incident_id`, `dynamic_index`),
    foreign key (`incident_id`) references `incident` (`id`) on delete cascade,
    foreign key (`role_id`) references `target_role` (`id`),
    foreign key (`target_id`) references `target` (`id`)
) engine=InnoDB default charset=latin1;

create table `generic_message_sent_status` (
    `message_id` bigint(20) not null,
    `status` tinyint(1) not null,
    primary key (`message_id`),
    foreign key (`message_id`) references `message` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `global_stats` (
    `statistic` varchar(255) not null,
    `value` float,
    `timestamp` datetime not null,
    primary key (`statistic`, `timestamp`)
) engine=InnoDB default charset=latin1;

create table `incident` (
    `id` bigint(20) not null auto_increment,
    `plan_id` bigint(20) not null,
    `created` datetime not null,
    `updated` datetime,
    `context` text,
    `owner_id` bigint(20),
    `application_id` int(11) not null,
    `current_step` int(11) not null,
    `active` tinyint(1) not null,
    `resolved` tinyint(1) unsigned not null default 0,
    primary key (`id`)
) engine=InnoDB default charset=latin1;

create table `incident_emails` (
    `email` varchar(255) not null,
    `application_id` int(11) not null,
    `plan_name` varchar(255) not null,
    primary key (`email`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade,
    foreign key (`plan_name`) references `plan_active` (`name`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `mailing_list` (
    `target_id` bigint(20) not null,
    `count` bigint(20) not null default 0,
    primary key (`target_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `mailing_list_membership` (
    `list_id` bigint(20) not null,
    `user_id` bigint(20) not null,
    primary key (`list_id`, `user_id`),
    foreign key (`list_id`) references `mailing_list` (`target_id`) on delete cascade,
    foreign key (`user_id`) references `user` (`target_id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `message` (
    `id` bigint(20) not null auto_increment,
    `batch` varchar(32),
    `created` datetime not null,
    `sent` datetime,
    `application_id` int(11) not null,
    `target_id` bigint(20) not null,
    `destination` varchar(255),
    `mode_id` int(11),
    `plan_id` bigint(20),
    `priority_id` int(11) not null,
    `subject` varchar(255),
    `body` text,
    `incident_id` bigint(20),
    `plan_notification_id` bigint(20),
    `active` tinyint(1) not null default 1,
    `template_id` int(11),
    primary key (`id`)
) engine=InnoDB default charset=latin1;

create table `message_changelog` (
    `id` bigint(20) not null auto_increment,
    `date` datetime not null,
    `message_id` bigint(20) not null,
    `change_type` varchar(255) not null,
    `old` varchar(255) not null,
    `new` varchar(255) not null,
    `description` varchar(255),
    primary key (`id`),
    foreign key (`message_id`) references `message` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `mode` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=latin1;

create table `mode_template_override` (
    `target_id` bigint(20) not null,
    `mode_id` int(11) not null,
    primary key (`target_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade,
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `notification_category` (
    `id` bigint(20) not null auto_increment,
    `application_id` int(11) not null,
    `name` varchar(255) not null,
    `description` varchar(255) not null,
    `mode_id` int(11) not null,
    unique key (`application_id`, `name`),
    primary key (`id`),
    foreign key (`application_id`) references `application` (`id`) on delete cascade,
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `oncall_team` (
    `target_id` bigint(20) not null,
    `oncall_team_id` bigint(20) not null,
    primary key (`oncall_team_id`),
    unique key (`target_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `plan` (
    `id` bigint(20) not null auto_increment,
    `name` varchar(255) not null,
    `created` datetime not null,
    `user_id` bigint(20) not null,
    `team_id` bigint(20),
    `description` text,
    `step_count` int(11) not null,
    `threshold_window` bigint(20),
    `threshold_count` bigint(20),
    `aggregation_window` bigint(20),
    `aggregation_reset` bigint(20),
    `tracking_key` varchar(255),
    `tracking_type` varchar(255),
    `tracking_template` text,
    primary key (`id`),
    foreign key (`user_id`) references `user` (`target_id`),
    foreign key (`team_id`) references `team` (`target_id`)
) engine=InnoDB default charset=latin1;

create table `plan_active` (
    `name` varchar(255) not null,
    `plan_id` bigint(20) not null,
    unique key (`plan_id`),
    primary key (`name`),
    foreign key (`plan_id`) references `plan` (`id`)
) engine=InnoDB default charset=latin1;

create table `plan_notification` (
    `id` bigint(20) not null auto_increment,
    `plan_id` bigint(20) not null,
    `step` int(11) not null,
    `template` varchar(255),
    `target_id` bigint(20),
    `optional` tinyint(1) not null default 0,
    `role_id` int(11),
    `priority_id` int(11) not null,
    `repeat` int(11) not null default 0,
    `wait` int(11) not null default 0,
    `dynamic_index` int(11),
    primary key (`id`),
    foreign key (`plan_id`) references `plan` (`id`),
    foreign key (`template`) references `template_active` (`name`) on delete set null,
    foreign key (`target_id`) references `target` (`id`),
    foreign key (`role_id`) references `target_role` (`id`),
    foreign key (`priority_id`) references `priority` (`id`)
) engine=InnoDB default charset=latin1;

create table `priority` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    `mode_id` int(11) not null,
    unique key (`name`),
    primary key (`id`),
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `response` (
    `id` bigint(20) not null auto_increment,
    `created` datetime not null,
    `message_id` bigint(20) not null,
    `content` text not null,
    `source` varchar(255) not null,
    primary key (`id`),
    foreign key (`message_id`) references `message` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `target` (
    `id` bigint(20) not null auto_increment,
    `name` varchar(255) not null,
    `type_id` int(11) not null,
    `active` tinyint(1) not null default 1,
    unique key (`name`, `type_id`),
    primary key (`id`),
    foreign key (`type_id`) references `target_type` (`id`)
) engine=InnoDB default charset=latin1;

create table `target_application_mode` (
    `target_id` bigint(20) not null,
    `application_id` int(11) not null,
    `priority_id` int(11) not null,
    `mode_id` int(11) not null,
    primary key (`target_id`, `application_id`, `priority_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade,
    foreign key (`application_id`) references `application` (`id`),
    foreign key (`priority_id`) references `priority` (`id`),
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `target_contact` (
    `target_id` bigint(20) not null,
    `mode_id` int(11) not null,
    `destination` varchar(255) not null,
    primary key (`target_id`, `mode_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade,
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `target_mode` (
    `target_id` bigint(20) not null,
    `priority_id` int(11) not null,
    `mode_id` int(11) not null,
    primary key (`target_id`, `priority_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade,
    foreign key (`priority_id`) references `priority` (`id`),
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `target_reprioritization` (
    `target_id` bigint(20) not null,
    `src_mode_id` int(11) not null,
    `dst_mode_id` int(11) not null,
    `count` tinyint(5) unsigned not null,
    `duration` smallint(5) unsigned not null,
    primary key (`target_id`, `src_mode_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade,
    foreign key (`src_mode_id`) references `mode` (`id`),
    foreign key (`dst_mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `target_role` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    `type_id` int(11) not null,
    unique key (`name`),
    primary key (`id`),
    foreign key (`type_id`) references `target_type` (`id`)
) engine=InnoDB default charset=latin1;

create table `target_type` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=latin1;

create table `team` (
    `target_id` bigint(20) not null,
    `manager_id` bigint(20),
    `director_id` bigint(20),
    primary key (`target_id`),
    foreign key (`target_id`) references `target` (`id`),
    foreign key (`manager_id`) references `user` (`target_id`),
    foreign key (`director_id`) references `user` (`target_id`)
) engine=InnoDB default charset=latin1;

create table `template` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    `created` datetime not null,
    `user_id` bigint(20) not null,
    primary key (`id`),
    foreign key (`user_id`) references `user` (`target_id`)
) engine=InnoDB default charset=latin1;

create table `template_active` (
    `name` varchar(255) not null,
    `template_id` int(11) not null,
    primary key (`name`),
    unique key (`template_id`),
    foreign key (`template_id`) references `template` (`id`)
) engine=InnoDB default charset=latin1;

create table `template_content` (
    `template_id` int(11) not null,
    `application_id` int(11) not null,
    `mode_id` int(11) not null,
    `subject` varchar(255) not null,
    `body` text not null,
    `call` text,
    `sms` text,
    `im` text,
    `email_subject` varchar(255),
    `email_text` text,
    `email_html` text,
    primary key (`template_id`, `application_id`, `mode_id`),
    foreign key (`template_id`) references `template` (`id`),
    foreign key (`application_id`) references `application` (`id`),
    foreign key (`mode_id`) references `mode` (`id`)
) engine=InnoDB default charset=latin1;

create table `template_variable` (
    `id` int(11) not null auto_increment,
    `application_id` int(11) not null,
    `name` varchar(255) not null,
    `required` tinyint(1) not null default 0,
    `title_variable` tinyint(1) not null default 0,
    primary key (`id`),
    foreign key (`application_id`) references `application` (`id`)
) engine=InnoDB default charset=latin1;

create table `twilio_delivery_status` (
    `twilio_sid` varchar(34) not null,
    `message_id` bigint(20),
    `status` varchar(30),
    primary key (`twilio_sid`),
    foreign key (`message_id`) references `message` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `twilio_retry` (
    `message_id` bigint(20) not null,
    `retry_id` bigint(20) not null,
    primary key (`message_id`),
    foreign key (`message_id`) references `message` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `user` (
    `target_id` bigint(20) not null,
    `admin` tinyint(1) unsigned not null default 0,
    primary key (`target_id`),
    foreign key (`target_id`) references `target` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `user_setting` (
    `user_id` bigint(20) not null,
    `name` varchar(255) not null,
    `value` varchar(255) not null,
    primary key (`user_id`, `name`),
    foreign key (`user_id`) references `target` (`id`) on delete cascade
) engine=InnoDB default charset=latin1;

create table `user_team` (
    `user_id` bigint(20) not null,
    `team_id` bigint(20) not null,
    primary key (`user_id`, `team_id`),
    foreign key (`user_id`) references `user` (`target_id`),
    foreign key (`team_id`) references `team` (`target_id`)
) engine=InnoDB default charset=latin1;

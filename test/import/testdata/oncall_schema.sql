set foreign_key_checks = 0;

-- The tables of Oncall, for a test database. Names compare as binary, so that names that differ only in case can exist together.

create table `application` (
    `id` int(11) unsigned not null auto_increment,
    `name` char(255) not null,
    `key` varchar(64) not null,
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `audit` (
    `id` bigint(20) not null auto_increment,
    `owner_name` varchar(255) not null,
    `team_name` varchar(255) not null,
    `action_name` varchar(255) not null,
    `context` text not null,
    `timestamp` bigint(20) not null,
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `contact_mode` (
    `id` int(11) not null auto_increment,
    `name` varchar(255) not null,
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `deleted_team` (
    `team_id` bigint(20) unsigned not null,
    `new_name` varchar(255) not null,
    `old_name` varchar(255) not null,
    `deletion_date` bigint(20) not null,
    unique key (`new_name`),
    primary key (`team_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `event` (
    `id` bigint(20) unsigned not null auto_increment,
    `team_id` bigint(20) unsigned not null,
    `role_id` int(10) unsigned not null,
    `schedule_id` bigint(20) unsigned,
    `link_id` char(32),
    `user_id` bigint(20) unsigned not null,
    `start` bigint(20) not null,
    `end` bigint(20) not null,
    `note` text,
    primary key (`id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`role_id`) references `role` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `ical_key` (
    `key` char(36) not null,
    `requester` char(255) not null,
    `name` char(255) not null,
    `type` enum('team','user') not null,
    `time_created` bigint(20) not null,
    primary key (`requester`, `name`, `type`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `notification_queue` (
    `id` bigint(20) unsigned not null auto_increment,
    `user_id` bigint(20) unsigned not null,
    `send_time` bigint(20) unsigned not null,
    `mode_id` int(11) not null,
    `context` text not null,
    `type_id` bigint(20) unsigned not null,
    `active` tinyint(1),
    `sent` tinyint(1),
    primary key (`id`),
    foreign key (`user_id`) references `user` (`id`) on delete cascade,
    foreign key (`type_id`) references `notification_type` (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `notification_setting` (
    `id` bigint(20) unsigned not null auto_increment,
    `user_id` bigint(20) unsigned not null,
    `team_id` bigint(20) unsigned not null,
    `mode_id` int(11) not null,
    `type_id` bigint(20) unsigned not null,
    `time_before` int(11),
    `only_if_involved` tinyint(1),
    primary key (`id`),
    foreign key (`user_id`) references `user` (`id`) on delete cascade,
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`mode_id`) references `contact_mode` (`id`),
    foreign key (`type_id`) references `notification_type` (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `notification_type` (
    `id` bigint(20) unsigned not null auto_increment,
    `name` varchar(255) not null,
    `subject` text not null,
    `body` text not null,
    `is_reminder` tinyint(1) not null,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `notifier_state` (
    `last_window_end` bigint(20) unsigned not null,
    primary key (`last_window_end`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `pinned_team` (
    `team_id` bigint(20) unsigned not null,
    `user_id` bigint(20) unsigned not null,
    primary key (`team_id`, `user_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `role` (
    `id` int(10) unsigned not null auto_increment,
    `name` varchar(45) not null,
    `display_order` int(10) unsigned not null default 1,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `roster` (
    `id` bigint(20) unsigned not null auto_increment,
    `name` varchar(255) not null,
    `team_id` bigint(20) unsigned not null,
    primary key (`id`),
    unique key (`name`, `team_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `roster_user` (
    `roster_id` bigint(20) unsigned not null,
    `user_id` bigint(20) unsigned not null,
    `in_rotation` tinyint(1) not null default 1,
    `roster_priority` int(11) unsigned not null,
    primary key (`roster_id`, `user_id`),
    foreign key (`roster_id`) references `roster` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `schedule` (
    `id` bigint(20) unsigned not null auto_increment,
    `team_id` bigint(20) unsigned not null,
    `roster_id` bigint(20) unsigned not null,
    `role_id` int(10) unsigned not null,
    `auto_populate_threshold` int(10) unsigned not null default 0,
    `advanced_mode` tinyint(1) not null,
    `last_epoch_scheduled` bigint(20) unsigned,
    `last_scheduled_user_id` bigint(20) unsigned,
    `scheduler_id` int(11) unsigned not null,
    primary key (`id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`roster_id`) references `roster` (`id`) on delete cascade,
    foreign key (`role_id`) references `role` (`id`) on delete cascade,
    foreign key (`last_scheduled_user_id`) references `user` (`id`),
    foreign key (`scheduler_id`) references `scheduler` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `scheduler` (
    `id` int(11) unsigned not null auto_increment,
    `name` varchar(255) not null,
    `description` text not null,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `schedule_event` (
    `id` bigint(20) unsigned not null auto_increment,
    `schedule_id` bigint(20) unsigned not null,
    `start` bigint(20) not null,
    `duration` bigint(20) not null,
    primary key (`id`),
    foreign key (`schedule_id`) references `schedule` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `schedule_order` (
    `schedule_id` bigint(20) unsigned not null,
    `user_id` bigint(20) unsigned not null,
    `priority` int(11) unsigned not null,
    primary key (`schedule_id`, `user_id`),
    foreign key (`schedule_id`) references `schedule` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `service` (
    `id` bigint(20) unsigned not null auto_increment,
    `name` varchar(255) not null,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `session` (
    `id` char(40) not null,
    `csrf_token` char(32) not null,
    `time_created` timestamp default current_timestamp(),
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `setting_role` (
    `setting_id` bigint(20) unsigned not null,
    `role_id` int(10) unsigned not null,
    primary key (`setting_id`, `role_id`),
    foreign key (`setting_id`) references `notification_setting` (`id`) on delete cascade,
    foreign key (`role_id`) references `role` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `team` (
    `id` bigint(20) unsigned not null auto_increment,
    `name` varchar(255) not null,
    `description` text,
    `slack_channel` varchar(255),
    `slack_channel_notifications` varchar(255),
    `email` varchar(255),
    `scheduling_timezone` varchar(255),
    `active` tinyint(1) not null default 1,
    `iris_plan` varchar(255),
    `iris_enabled` tinyint(1) not null default 0,
    `override_phone_number` varchar(255),
    `api_managed_roster` tinyint(1) not null default 0,
    unique key (`name`),
    primary key (`id`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `team_admin` (
    `team_id` bigint(20) unsigned not null,
    `user_id` bigint(20) unsigned not null,
    primary key (`team_id`, `user_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `team_service` (
    `team_id` bigint(20) unsigned not null,
    `service_id` bigint(20) unsigned not null,
    primary key (`team_id`, `service_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`service_id`) references `service` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `team_subscription` (
    `team_id` bigint(20) unsigned not null,
    `subscription_id` bigint(20) unsigned not null,
    `role_id` int(10) unsigned not null,
    primary key (`team_id`, `subscription_id`, `role_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`subscription_id`) references `team` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `team_user` (
    `team_id` bigint(20) unsigned not null,
    `user_id` bigint(20) unsigned not null,
    primary key (`team_id`, `user_id`),
    foreign key (`team_id`) references `team` (`id`) on delete cascade,
    foreign key (`user_id`) references `user` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `user` (
    `id` bigint(20) unsigned not null auto_increment,
    `name` varchar(45) not null,
    `active` tinyint(1) not null default 1,
    `full_name` varchar(255),
    `time_zone` varchar(64),
    `photo_url` varchar(255),
    `god` tinyint(1) not null default 0,
    primary key (`id`),
    unique key (`name`)
) engine=InnoDB default charset=utf8 collate=utf8_bin;

create table `user_contact` (
    `user_id` bigint(20) unsigned not null,
    `mode_id` int(11) not null,
    `destination` varchar(255) not null,
    primary key (`user_id`, `mode_id`),
    foreign key (`user_id`) references `user` (`id`) on delete cascade,
    foreign key (`mode_id`) references `contact_mode` (`id`) on delete cascade
) engine=InnoDB default charset=utf8 collate=utf8_bin;

set foreign_key_checks = 1;

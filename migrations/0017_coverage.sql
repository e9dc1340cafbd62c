-- When teams want a role covered, where that differs from their schedules.

-- +goose Up

create table coverage_wishes (
    team_id bigint not null references teams (id) on delete cascade,
    role_id bigint not null references oncall_roles (id) on delete cascade,
    cover   text not null check (cover in ('always', 'never', 'hours')),
    hours   jsonb not null default '[]',
    primary key (team_id, role_id)
);
comment on table coverage_wishes is 'when a team wants a role covered; without a row it is what the schedules of the role are for';
comment on column coverage_wishes.hours is 'with cover hours: windows {"days", "from", "to"} in days from Sunday = 0 and seconds after midnight on the team''s clock';

create index coverage_wishes_role on coverage_wishes (role_id);

-- +goose Down

drop table coverage_wishes;

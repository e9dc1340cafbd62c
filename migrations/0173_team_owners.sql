-- +goose Up

-- Teams that own plans and templates (by name, so for every version) and applications. Without a row or with null, the rights of the creator
-- and of the owners of the application hold as before.
create table plan_owners (
    name_key text primary key,
    team_id  bigint not null references teams (id) on delete cascade
);
comment on table plan_owners is 'the team that owns all versions of a plan';
comment on column plan_owners.name_key is 'lower(name) of the plan';
create index plan_owners_team on plan_owners (team_id);

create table template_owners (
    name_key text primary key,
    team_id  bigint not null references teams (id) on delete cascade
);
comment on table template_owners is 'the team that owns all versions of a template';
comment on column template_owners.name_key is 'lower(name) of the template';
create index template_owners_team on template_owners (team_id);

alter table applications add column team_id bigint references teams (id) on delete set null;
comment on column applications.team_id is 'the team that owns the application and its integrations; null = none';
create index applications_team on applications (team_id) where team_id is not null;

create view owning_teams as
select t.id, t.name,
    array(select m.user_id from team_members m where m.team_id = t.id and (m.member or m.admin) order by m.user_id) as members,
    array(select m.user_id from team_members m where m.team_id = t.id and m.admin order by m.user_id) as managers
from teams t where t.active;
comment on view owning_teams is 'the teams whose ownership counts: an inactive team owns nothing';

insert into schema_compatibility (version, oldest) values (173, 167);

-- +goose Down
delete from schema_compatibility where version = 173;
drop view owning_teams;
alter table applications drop column team_id;
drop table template_owners;
drop table plan_owners;

-- +goose Up

-- A person's own unavailability counts in all their teams. One that a team's administrator enters counts in that team only. The
-- release before takes both for a person's own.
alter table unavailabilities add column team_id bigint references teams (id) on delete cascade;
alter table unavailabilities add column set_by text not null default '';
comment on column unavailabilities.team_id is 'counts in this team only; null = the person''s own, in every team';
comment on column unavailabilities.set_by is 'who entered it; empty = entered by the release before';
create index unavailabilities_team on unavailabilities (team_id) where team_id is not null;
insert into schema_compatibility (version, oldest) values (31, 26);

-- +goose Down
delete from schema_compatibility where version = 31;
alter table unavailabilities drop column team_id, drop column set_by;

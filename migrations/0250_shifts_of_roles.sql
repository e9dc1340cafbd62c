-- +goose Up

-- Whether a team has ever had a shift of a role is read whenever its calendar changes.
create index shifts_team_role on shifts (team_id, role_id);
insert into schema_compatibility (version, oldest) values (250, 193);

-- +goose Down
delete from schema_compatibility where version = 250;
drop index shifts_team_role;

-- +goose Up

create view named_targets as
    select target_id, 'user' as kind, name from users
    union all
    select t.target_id, 'team', coalesce(d.old_name, t.name) from teams t left join deleted_teams d on d.team_id = t.id
    union all
    select target_id, 'mailing-list', name from mailing_lists;
comment on view named_targets is 'targets as people know them: a deleted team by its old name';
insert into schema_compatibility (version, oldest) values (48, 26);

-- +goose Down
delete from schema_compatibility where version = 48;
drop view named_targets;

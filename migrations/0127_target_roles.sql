-- +goose Up

-- Roles of teams that are not in the list of /v0: one member after the other, and who is on call after the present one.
alter table target_roles add column in_v0 boolean not null default true;
insert into target_roles (name, target_kind, position, in_v0)
select r.name, 'team', max(t.position) + r.place, false
from (values ('round-robin', 1), ('next-on-call', 2)) as r (name, place), target_roles t
group by r.name, r.place;

insert into schema_compatibility (version, oldest) values (127, 110);

-- +goose Down
delete from schema_compatibility where version = 127;
update incident_dynamic_targets set role = 'team' where role in ('round-robin', 'next-on-call');
update plan_notifications set role = 'team' where role in ('round-robin', 'next-on-call');
update plans set fallback_role = 'team' where fallback_role in ('round-robin', 'next-on-call');
update applications set fallback_role = 'team' where fallback_role in ('round-robin', 'next-on-call');
delete from target_roles where name in ('round-robin', 'next-on-call');
alter table target_roles drop column in_v0;

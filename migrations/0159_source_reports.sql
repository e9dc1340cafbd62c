-- +goose Up

alter table integrations
    add column resolves boolean not null default false,
    add column repeat_seconds int not null default 0 check (repeat_seconds >= 0);
comment on column integrations.resolves is 'its source resolved an incident at least once';
comment on column integrations.repeat_seconds is 'the longest time, about, after which its source repeated a delivery for an open incident without news; 0 = it never did';
update integrations g set resolves = true
where exists (select from resolved_groups r where r.application_id = g.application_id and r.plan_key = chr(31) || g.id);
insert into schema_compatibility (version, oldest) values (159, 148);

-- +goose Down
delete from schema_compatibility where version = 159;
alter table integrations drop column repeat_seconds, drop column resolves;

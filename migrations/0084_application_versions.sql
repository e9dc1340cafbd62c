-- +goose Up

-- The version of an application is the transaction that last changed its row (xmin). Its variables are part of it.
-- +goose StatementBegin
create function touch_application() returns trigger language plpgsql as $$
begin
    update applications set name = name where id = case when tg_op = 'DELETE' then old.application_id else new.application_id end;
    return null;
end
$$;
-- +goose StatementEnd
create trigger application_variables_changed after insert or update or delete on application_variables
    for each row execute function touch_application();
insert into schema_compatibility (version, oldest) values (84, 72);

-- +goose Down
delete from schema_compatibility where version = 84;
drop trigger application_variables_changed on application_variables;
drop function touch_application;

-- +goose Up

-- Switching a person off ends the person's tokens for good, as it ends the sessions (users_end_sessions): they do not work again when the
-- person is switched on.
-- +goose StatementBegin
create function end_tokens() returns trigger language plpgsql as $$
begin
    delete from personal_tokens where user_id = new.id;
    delete from token_grants where user_id = new.id;
    return null;
end
$$;
-- +goose StatementEnd
create trigger users_end_tokens after update on users for each row
    when (old.active and not new.active)
    execute function end_tokens();
delete from personal_tokens t using users u where u.id = t.user_id and not u.active;
insert into schema_compatibility (version, oldest) values (225, 193);

-- +goose Down
delete from schema_compatibility where version = 225;
drop trigger users_end_tokens on users;
drop function end_tokens();

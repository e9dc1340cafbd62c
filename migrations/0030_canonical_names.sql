-- +goose Up

-- The canonical form of a user's name, in which names are unique: Unicode NFKC with case folding, computed by the programs
-- (internal/users). Null: not computed yet, because the row was written by the release before or by an import, or because
-- another user has the same canonical name. `iris migrate` and the processors fill it in.
alter table users add column canonical_name text;
create unique index users_canonical_name_key on users (canonical_name);
comment on column users.canonical_name is 'NFKC and case-folded name, unique; null = not computed yet, or in conflict with another user';

-- The release before renames users without knowing the column.
-- +goose StatementBegin
create function forget_canonical_name() returns trigger language plpgsql as $$
begin
    new.canonical_name := null;
    return new;
end
$$;
-- +goose StatementEnd
create trigger users_forget_canonical_name before update of name on users for each row
    when (lower(old.name) <> lower(new.name) and old.canonical_name is not distinct from new.canonical_name)
    execute function forget_canonical_name();
insert into schema_compatibility (version, oldest) values (30, 26);

-- +goose Down
delete from schema_compatibility where version = 30;
drop trigger users_forget_canonical_name on users;
drop function forget_canonical_name;
alter table users drop column canonical_name;

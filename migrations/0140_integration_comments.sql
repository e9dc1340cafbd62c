-- +goose Up

-- Comments of integrations have no author. source says which integration.
alter table comments alter column author_id drop not null, add column source text;
comment on column comments.source is 'who wrote a comment without an author: integration NAME';
insert into schema_compatibility (version, oldest) values (140, 110);

-- +goose Down
delete from schema_compatibility where version = 140;
delete from comments where author_id is null;
alter table comments drop column source, alter column author_id set not null;

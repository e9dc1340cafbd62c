-- +goose Up

-- The directory's permanent id of a person (entryUUID, objectGUID, Slack's id): a person who is renamed there stays the
-- same person here.
alter table directory_people add column stable_id text;
create index directory_people_stable on directory_people (source, stable_id) where stable_id is not null;
comment on column directory_people.stable_id is 'the directory''s own id of the person; null = it never said one';

-- +goose Down
alter table directory_people drop column stable_id;

-- Reviews: what people write about an incident when it is over.

-- Reviews, newest incident first. The text is left out unless an incident is named. team 0, application 0, tag '' and state '' are any.
-- name: Reviews :many
select r.incident_id, r.title, (case when sqlc.arg(incident)::bigint <> 0 then r.body else '' end)::text as body, r.follow_ups, r.published,
    r.author, r.changed_by, r.created_at, r.changed_at, a.name as application,
    coalesce((select array_agg(t.value order by lower(t.value) collate "C", t.value collate "C") from tags t
        where t.kind = 'incident' and t.object_id = r.incident_id and t.name = 'review'), '{}')::text[] as tags
from reviews r
join incidents i on i.id = r.incident_id
join applications a on a.id = i.application_id
where (sqlc.arg(incident)::bigint = 0 or r.incident_id = sqlc.arg(incident)::bigint)
  and r.incident_id < sqlc.arg(before)::bigint
  and (sqlc.arg(application)::bigint = 0 or i.application_id = sqlc.arg(application)::bigint)
  and (sqlc.arg(state)::text = '' or r.published = (sqlc.arg(state)::text = 'published'))
  and (sqlc.arg(tag)::text = '' or exists (select from tags t where t.kind = 'incident' and t.object_id = r.incident_id
      and t.name = 'review' and lower(t.value) = lower(sqlc.arg(tag)::text)))
  and (sqlc.arg(words)::text = '' or position(lower(sqlc.arg(words)::text) in lower(r.title || ' ' || r.body)) > 0)
  and (sqlc.arg(team)::text = '' or exists (select from teams g where lower(g.name) = lower(sqlc.arg(team)::text) and (
      a.team_id = g.id
      or exists (select from plan_notifications n where n.plan_id = i.plan_id and n.target_id = g.target_id)
      or exists (select from plan_owners o join plans p on lower(p.name) = o.name_key where p.id = i.plan_id and o.team_id = g.id))))
order by r.incident_id desc
limit sqlc.arg(most);

-- name: LockReview :many
select incident_id from reviews where incident_id = sqlc.arg(incident)::bigint for update;

-- name: AddReview :execrows
insert into reviews (incident_id, title, body, follow_ups, published, author, changed_by)
values (sqlc.arg(incident)::bigint, @title, @body, @follow_ups, @published, @author, @author)
on conflict (incident_id) do nothing;

-- name: ReplaceReview :exec
update reviews set title = @title, body = @body, follow_ups = @follow_ups, published = @published, changed_by = @author,
    changed_at = clock_timestamp()
where incident_id = sqlc.arg(incident)::bigint;

-- name: DeleteReview :exec
delete from reviews where incident_id = sqlc.arg(incident)::bigint;

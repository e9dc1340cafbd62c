-- Counts of what was opened lately on a plan look at no more than that.

-- +goose Up

create index incidents_plan_created on incidents (plan_id, created_at);
drop index incidents_plan;

-- +goose Down
create index incidents_plan on incidents (plan_id);
drop index incidents_plan_created;

-- For counts of the incidents recently opened on a plan.

-- +goose Up

create index incidents_plan_created on incidents (plan_id, created_at);
drop index incidents_plan;

-- +goose Down
create index incidents_plan on incidents (plan_id);
drop index incidents_plan_created;

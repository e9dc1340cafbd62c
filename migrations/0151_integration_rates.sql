-- +goose Up

-- The allowances of integrations. Unlogged: after a crash each integration begins with a full allowance.
create unlogged table integration_rates (
    integration_id bigint primary key,
    tokens         double precision not null,
    taken_at       timestamptz not null,
    granted        int not null
) with (fillfactor = 50);
comment on table integration_rates is 'how many deliveries each integration may send now; API servers take parts of the allowance';
insert into schema_compatibility (version, oldest) values (151, 148);

-- +goose Down
delete from schema_compatibility where version = 151;
drop table integration_rates;

package pg

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// targetTTL is the greatest age of the answer of a lookup.
const targetTTL = time.Second

// targets finds targets by role and name, and caches those that exist. It is safe for concurrent use.
type targets struct {
	db    *postgres.DB
	found *cache.Cache[roleTarget, escalation.Lookup]
}

type roleTarget struct{ role, target string }

func newTargets(d *postgres.DB) *targets {
	return &targets{db: d, found: cache.New(cache.Config[roleTarget, escalation.Lookup]{TTL: targetTTL})}
}

func (t *targets) lookup(ctx context.Context, role, name string) (escalation.Lookup, error) {
	found, err := t.found.Get(ctx, roleTarget{role, name}, func(ctx context.Context) (escalation.Lookup, error) {
		l, err := t.read(ctx, role, name)
		if err == nil && l.TargetID == 0 {
			return l, errNoTarget{l} // errors are not cached
		}
		return l, err
	})
	if no := (errNoTarget{}); errors.As(err, &no) {
		return no.found, nil
	}
	if fault.Is(err, fault.NotFound) {
		return escalation.Lookup{}, nil
	}
	return found, err
}

func (t *targets) read(ctx context.Context, role, name string) (l escalation.Lookup, err error) {
	return postgres.Get(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (l escalation.Lookup, err error) {
		row, err := q.ResolveTarget(ctx, postgresdb.ResolveTargetParams{Role: postgres.Storable(strings.ToLower(role)),
			Target: postgres.Storable(strings.TrimRight(name, " "))})
		if err != nil {
			return l, err
		}
		l = escalation.Lookup{Role: row.Role, TargetID: row.TargetID, Exists: row.OtherKind != ""}
		return l, nil
	})
}

// errNoTarget is the answer of a lookup that found no target of the role.
type errNoTarget struct{ found escalation.Lookup }

func (errNoTarget) Error() string { return "no such target" }

package apiserver

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Local returns the handler of /v1 for the iris command on a database, without a listener. Every request is one of the
// operator, who has the rights of an administrator and no limit on incidents. The routes of the calendar need
// credentials of their own, so they refuse the operator. The processors see a change within a second. It logs only
// errors. The caller closes db.
func Local(cfg config.API, db *postgres.DB, in pgauth.Installation, log *zap.Logger) (http.Handler, error) {
	a := &API{cfg: cfg, log: log, reg: prometheus.NewRegistry(), errors: wire.NewErrors(log), db: db}
	a.cfg.IncidentRates.Enabled = false
	s, err := a.share(in)
	if err != nil {
		return nil, err
	}
	s.strict = s.strict.ForCommandLine()
	v1, err := NewV1(s.v1Deps())
	if err != nil {
		return nil, err
	}
	return v1.Handler(), nil
}

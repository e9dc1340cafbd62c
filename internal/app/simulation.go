package app

import (
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
)

// newSimulator returns a simulator over the database. Every simulation has a resolver of its own, with a calendar that
// answers for any instant. listLimit is the size from which on a mailing list stands for nobody.
func newSimulator(db *postgres.DB, apps *postgres.Applications, listLimit int, dummy oncall.FindUser) (*escalation.Simulator, error) {
	directory := postgres.NewDirectory(db)
	return escalation.NewSimulator(escalation.SimulatorDeps{
		Directory: directory, Rules: directory, Names: postgres.NewNames(db, apps), Clock: db,
		Resolver: func() *oncall.Resolver {
			r := oncall.NewResolver(oncall.LimitLists(directory, listLimit),
				oncall.NewForeseenCalendar(postgres.NewOncallCalendars(db), oncall.LiveConfig{}), time.Hour)
			if dummy != nil {
				r = r.Dummy(dummy)
			}
			return r
		},
	})
}

package operator

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/oncall"
	pgoncall "github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// SimulatorConfig has the settings of the installation that a simulation needs.
type SimulatorConfig struct {
	ListLimit  int  // mailing lists of more members are not paged; 0 = no limit
	PerDay     int  // calls and texts of people without a limit of their own; 0 = no limit
	DummyRoles bool // resolves targets as oncall.Resolver.Dummy does
}

// NewSimulator returns a simulator on the database. Each simulation has its own resolver, whose calendar covers any
// instant.
func NewSimulator(db *postgres.DB, apps *pg.Applications, c SimulatorConfig) (*simulation.Simulator, error) {
	directory := pgescalation.NewDirectory(db).WithDailyLimit(c.PerDay)
	return simulation.NewSimulator(simulation.SimulatorDeps{
		Reader: directory, Rules: directory, Names: pg.NewNames(db,
			apps), Clock: db, Waiting: pgescalation.NewRunner(db),
		Vendors: pgdelivery.NewServed(db),
		Populated: func() simulation.Populated {
			return &populated{db: db, directory: directory, known: map[int64]scheduling.Coverage{}}
		},
		Resolver: func() *oncall.Resolver {
			r := oncall.NewResolver(oncall.LimitLists(directory, c.ListLimit),
				oncall.NewSimulationCalendar(pgoncall.NewCalendars(db), oncall.LiveConfig{}), time.Hour)
			if c.DummyRoles {
				r = r.Dummy(pgusers.NewUsers(db).ByName)
			}
			return r
		},
	})
}

// populated finds until when the schedules of teams have been filled. It caches that for one simulation.
type populated struct {
	db        *postgres.DB
	directory *pgescalation.Directory
	known     map[int64]scheduling.Coverage // by target id of the team
}

// NotPopulated implements simulation.Populated. A target that is not a team has no calendar.
func (p *populated) NotPopulated(ctx context.Context, team escalation.Target, role string, at time.Time) (bool, error) {
	coverage, ok := p.known[team.TargetID]
	if !ok {
		found, err := p.directory.Teams(ctx, []int64{team.TargetID})
		if err != nil {
			return false, err
		}
		if t, is := found[team.TargetID]; is {
			if coverage, err = pgoncall.NewCoverage(p.db).Coverage(ctx, t.ID, nil); err != nil {
				return false, err
			}
		}
		p.known[team.TargetID] = coverage
	}
	return coverage.NotPopulated(role, at), nil
}

package senders

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/opening"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/incidents"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	pgsilences "github.com/iris-oncall/iris/internal/postgres/silences"
	"github.com/iris-oncall/iris/internal/silences"
)

// The parts of an incident that the operator opens.
type (
	// NewIncident names the plan, the application and the dynamic targets of an incident.
	NewIncident = opening.Request
	// IncidentContent describes an incident.
	IncidentContent = opening.Content
)

// OpenIncident opens an incident under the silences, and returns its number. If an incident of the application, plan and dedup key is
// open, it returns that incident's number and known. severity is as people write it; "" = none. The processors see a new incident within a second.
func (s *Senders) OpenIncident(ctx context.Context, r NewIncident, c IncidentContent, severity string) (id int64, known bool, err error) {
	c.Severity = intake.Severity(severity)
	n, err := c.New()
	if err != nil {
		return 0, false, err
	}
	by := opening.Caller{Actor: auth.Actor{Username: operatorName, OpensForOthers: true}}
	to, err := s.opener.Find(ctx, by, r)
	if err != nil {
		return 0, false, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no active plan %s", r.Plan))
	}
	opened, err := s.opener.Open(ctx, by, to, n)
	return int64(opened.ID), opened.Known, err
}

// openerOf returns what opens incidents. The operator has no limits.
func openerOf(db *postgres.DB, apps opening.Applications, plans opening.Plans) opening.Opener {
	return opening.Opener{
		Incidents: silences.Opener{Incidents: incidents.New(db), Current: silences.NewCurrent(pgsilences.New(db))},
		Plans:     plans, Applications: apps, Lookups: notifications.New(db), Load: unlimited{},
	}
}

type unlimited struct{}

func (unlimited) Overloaded(context.Context, auth.Application) (time.Duration, error) { return 0, nil }
func (unlimited) Accepted(int64, int)                                                 {}

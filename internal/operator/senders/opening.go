package senders

import (
	"context"
	"encoding/json"
	"strings"
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

// NewIncident is an incident to be opened, as people write it. Context is a JSON object, a target is a role and a name such as user:ann.
type NewIncident struct {
	Plan, Application, Title, Summary, Severity string
	Label                                       map[string]string
	Context                                     string
	Target                                      []string
	DedupKey                                    string
}

// OpenIncident opens an incident under the silences, and returns its number. If an incident of the application, plan and dedup key is
// open, it returns that incident's number and known. The processors see a new incident within a second.
func (s *Senders) OpenIncident(ctx context.Context, i NewIncident) (id int64, known bool, err error) {
	r := opening.Request{Plan: i.Plan, Application: i.Application}
	for _, text := range i.Target {
		role, name, ok := strings.Cut(text, ":")
		if !ok {
			return 0, false, fault.Invalidf("target", "target %.60q must be a role and a name, such as user:ann", text)
		}
		r = r.With(role, name)
	}
	c := opening.Content{Title: i.Title, Summary: i.Summary, Severity: intake.Severity(i.Severity), Labels: i.Label, DedupKey: i.DedupKey,
		Context: json.RawMessage(i.Context)}
	var members map[string]any
	if i.Context != "" && (json.Unmarshal(c.Context, &members) != nil || members == nil) {
		return 0, false, fault.Invalidf("context", "context must be a JSON object")
	}
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

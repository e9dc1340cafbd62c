package answers

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// IncidentOpener opens incidents. Open returns when the incident is stored durably.
type IncidentOpener interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Plans finds active plans by name; a NotFound fault if there is no such plan.
type Plans interface {
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
	// HasText reports whether a template of the plan has text for the application.
	HasText(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
}

// Load limits the pending work of applications.
type Load interface {
	// Overloaded returns zero if the application may send more, else how long it should wait.
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	// Accepted counts n accepted incidents of an application.
	Accepted(applicationID int64, n int)
}

// incidentHeader is the header of the answer to a mail for a mailbox: the incident's id, or the reason why none was
// opened.
const incidentHeader = "X-IRIS-INCIDENT"

// openIncident opens an incident and answers 204 with incidentHeader. A mail that opens no incident is also answered
// with 204.
func (s *mail) openIncident(w http.ResponseWriter, r *http.Request, box messages.Mailbox, m received) error {
	result := "Not created (email reply not fresh email)"
	if !m.isReply {
		app, err := s.Applications.ByName(r.Context(), box.Application)
		if err != nil {
			return err
		}
		if err := wire.Actor(r.Context()).MayPassOnMail(app.ID); err != nil {
			return err
		}
		plan, why, err := s.plan(r.Context(), box, app)
		if err != nil {
			return err
		}
		if result = why; why == "" {
			id, err := s.open(r.Context(), app, plan, m)
			if err != nil {
				return err
			}
			result = strconv.FormatInt(int64(id), 10)
		} else {
			// People do not see the header, so the log is the only trace of a lost page.
			s.log.Warn("mail opened no incident", zap.String("application", app.Name), zap.String("plan", box.Plan),
				zap.String("reason", why))
		}
	}
	w.Header().Set(incidentHeader, result)
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// plan finds the active plan of a mailbox. why is the reason not to open an incident; "" = open one.
func (s *mail) plan(ctx context.Context, box messages.Mailbox, app auth.Application) (id escalation.PlanID, why string, err error) {
	plan, err := s.Plans.Recent(ctx, box.Plan)
	if fault.Is(err, fault.NotFound) {
		return 0, "Not created (plan does not exist or is not active)", nil
	}
	if err != nil {
		return 0, "", err
	}
	const noTemplate = "Not created (no template actions for this app)"
	for _, step := range plan.Steps {
		for _, n := range step.Notifications {
			if n.DynamicIndex != nil {
				// Iris uses this text also for a plan with dynamic targets.
				s.log.Warn("a mail cannot name the dynamic targets that the plan needs", zap.String("plan", box.Plan))
				return 0, noTemplate, nil
			}
		}
	}
	ok, err := s.Plans.HasText(ctx, plan.ID, app.ID)
	if err == nil && !ok {
		why = noTemplate
	}
	return plan.ID, why, err
}

func (s *mail) open(ctx context.Context, app auth.Application, plan escalation.PlanID, m received) (incidents.ID, error) {
	if wait, err := s.Load.Overloaded(ctx, app); err != nil || wait > 0 {
		if err == nil {
			err = &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting",
				RetryAfter: wait}
		}
		return 0, err
	}
	context, err := mailContext(m)
	if err != nil {
		return 0, err
	}
	if err := s.Rates.Check(ctx, app, int64(plan)); err != nil {
		return 0, err
	}
	opened, err := s.Opener.Open(ctx, incidents.New{PlanID: int64(plan), ApplicationID: app.ID, Context: context,
		Actor: "application " + app.Name})
	if err != nil {
		return 0, err
	}
	s.Load.Accepted(app.ID, 1)
	s.Wake(ctx, buckets.Of(opened.Bucket))
	return opened.ID, nil
}

// mailContext returns the context of an incident that a mail opens. It shortens a body that is too long, so that the
// page is not lost.
func mailContext(m received) (json.RawMessage, error) {
	body := []rune(m.body)
	body = body[:min(len(body), incidents.MaxContext)]
	for {
		context, err := json.Marshal(struct {
			Body    string   `json:"body"`
			Email   []string `json:"email"`
			Subject string   `json:"subject"`
			Sender  string   `json:"sender"`
		}{string(body), m.to, m.subject, m.from})
		if err != nil {
			return nil, err
		}
		size := incidents.JSONSize(context)
		if size <= incidents.MaxContext {
			return context, nil
		}
		if len(body) == 0 {
			return nil, fault.New(fault.Invalid, "Context too long")
		}
		over := size - incidents.MaxContext
		body = body[:max(0, len(body)-max(over/12, 1))] // a character has at most 12 characters of JSON
	}
}

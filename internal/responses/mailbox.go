package responses

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/wire"
)

// incidentHeader tells a relay the result of a mail to a mailbox that opens incidents.
const incidentHeader = "X-IRIS-INCIDENT"

// openByMail opens an incident, or gives the reason in a header. The mail is accepted in both cases.
func (s *Responses) openByMail(w http.ResponseWriter, r *http.Request, box messages.Mailbox, l letter) error {
	said := "Not created (email reply not fresh email)"
	if !l.answers {
		app, err := s.d.Applications.ByName(r.Context(), box.Application)
		if err != nil {
			return err
		}
		if err := wire.Actor(r.Context()).MayPassOnMail(app.ID); err != nil {
			return err
		}
		plan, why, err := s.mailPlan(r.Context(), box, app)
		if err != nil {
			return err
		}
		if said = why; why == "" {
			id, err := s.openMail(r.Context(), app, plan, l)
			if err != nil {
				return err
			}
			said = strconv.FormatInt(int64(id), 10)
		} else {
			// People do not see the header: a page may be lost without anybody noticing.
			s.d.Log.Warn("mail opened no incident", zap.String("application", app.Name), zap.String("plan", box.Plan), zap.String("reason", why))
		}
	}
	w.Header().Set(incidentHeader, said)
	wire.Empty(w, http.StatusNoContent)
	return nil
}

// mailPlan finds the active plan of a mailbox. why is the reason not to open an incident; "" = none.
func (s *Responses) mailPlan(ctx context.Context, box messages.Mailbox, app auth.Application) (id escalation.PlanID, why string, err error) {
	plan, err := s.d.Plans.Recent(ctx, box.Plan)
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
				// The predecessor has no other text for a plan that a mail cannot start.
				s.d.Log.Warn("a mail cannot give the targets that the plan needs", zap.String("plan", box.Plan))
				return 0, noTemplate, nil
			}
		}
	}
	ok, err := s.d.Plans.HasWords(ctx, plan.ID, app.ID)
	if err == nil && !ok {
		why = noTemplate
	}
	return plan.ID, why, err
}

func (s *Responses) openMail(ctx context.Context, app auth.Application, plan escalation.PlanID, l letter) (incidents.ID, error) {
	if wait, err := s.d.Load.Overloaded(ctx, app); err != nil || wait > 0 {
		if err == nil {
			err = &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting", RetryAfter: wait}
		}
		return 0, err
	}
	context, err := mailContext(l)
	if err != nil {
		return 0, err
	}
	if err := s.d.Rates.Check(ctx, app, int64(plan)); err != nil {
		return 0, err
	}
	opened, err := s.d.Incidents.Open(ctx, incidents.New{PlanID: int64(plan), ApplicationID: app.ID, Context: context, Actor: "application " + app.Name})
	if err != nil {
		return 0, err
	}
	s.d.Load.Accepted(app.ID, 1)
	s.d.Wake(buckets.Of(opened.Bucket))
	return opened.ID, nil
}

// mailContext is the context of a mail for templates. A body that is too long is cut, so that the page is not lost.
func mailContext(l letter) (json.RawMessage, error) {
	body := []rune(l.body)
	body = body[:min(len(body), incidents.MaxContext)]
	for {
		context, err := json.Marshal(struct {
			Body    string   `json:"body"`
			Email   []string `json:"email"`
			Subject string   `json:"subject"`
			Sender  string   `json:"sender"`
		}{string(body), l.to, l.subject, l.from})
		if err != nil {
			return nil, err
		}
		size := wire.JSONSize(context)
		if size <= incidents.MaxContext {
			return context, nil
		}
		if len(body) == 0 {
			return nil, fault.New(fault.Invalid, "Context too long")
		}
		over := size - incidents.MaxContext
		body = body[:max(0, len(body)-max(over/12, 1))] // a character is twelve of JSON at most
	}
}

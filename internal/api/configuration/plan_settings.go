package configuration

import (
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a planSettings) routes() []routing.Route {
	const path = "/v1/plans/{plan}/settings"
	return []routing.Route{
		routing.Get(path, routing.Someone, a.read), routing.Put(path, routing.Write, a.replace),
		routing.Put("/v1/plans/{plan}/paused", routing.Write, a.pause),
	}
}

// pause pauses the plan, or lets it go on.
func (a planSettings) pause(w http.ResponseWriter, r *http.Request) error {
	p, err := changeablePlan(r, a.Plans)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "paused")
	if err != nil {
		return err
	}
	paused, given, err := b.Flag("paused")
	if err != nil {
		return err
	}
	if !given {
		return b.Missing("paused")
	}
	if err := a.Plans.SetPaused(r.Context(), p.Name, paused, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, struct {
		Paused bool `json:"paused"`
	}{paused})
}

func (a planSettings) read(w http.ResponseWriter, r *http.Request) error {
	p, err := activePlan(r, a.Plans)
	if err != nil {
		return err
	}
	return answerSettings(w, p.Settings)
}

// replace stores all settings. Those that the body leaves out get their standard.
func (a planSettings) replace(w http.ResponseWriter, r *http.Request) error {
	p, err := changeablePlan(r, a.Plans)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, Settings...)
	if err != nil {
		return err
	}
	settings, err := ReadSettings(b)
	if err != nil {
		return err
	}
	if err := a.Plans.SetSettings(r.Context(), p.Name, settings, wire.Actor(r.Context()).String()); err != nil {
		return err
	}
	if p, err = a.Plans.ByName(r.Context(), p.Name); err != nil {
		return err
	}
	return answerSettings(w, p.Settings)
}

// Settings are the names of the settings of a plan.
var Settings = []string{"repeat", "delay_seconds", "wait_for_on_call", "repage_after_seconds", "acknowledgement_timeout_seconds", "notify_owner", "resolved_notice"}

// ReadSettings reads all settings of a plan. Those that the body leaves out have their standard.
func ReadSettings(b jsonbody.Object) (p escalation.SettingsPatch, err error) {
	p = escalation.StandardSettings().Patch()
	for name, into := range map[string]**int64{"delay_seconds": &p.DelaySeconds, "repage_after_seconds": &p.RepageAfterSeconds,
		"acknowledgement_timeout_seconds": &p.AcknowledgementTimeoutSeconds} {
		if n, given, err := b.Number(name); err != nil {
			return p, err
		} else if given {
			*into = &n
		}
	}
	if n, given, err := b.Number("repeat"); err != nil {
		return p, err
	} else if given {
		repeat := int(min(n, escalation.MaxPlanRepeat+1))
		p.Repeat = &repeat
	}
	if wait, given, err := b.Flag("wait_for_on_call"); err != nil {
		return p, err
	} else if given {
		p.WaitForOnCall = &wait
	}
	if mode, err := b.TextPtr("notify_owner"); err != nil {
		return p, err
	} else if mode != nil {
		m := users.Mode(*mode)
		p.NotifyOwner = &m
	}
	if b.Given("resolved_notice") && json.Unmarshal(b.Members["resolved_notice"], &p.ResolvedNotice) != nil {
		return p, b.Fault("resolved_notice", "resolved_notice must be an object of modes with true or false, such as {\"email\": true}")
	}
	return p, p.Check()
}

func answerSettings(w http.ResponseWriter, s escalation.Settings) error {
	if s.ResolvedNotice == nil {
		s.ResolvedNotice = map[users.Mode]bool{}
	}
	return routing.Answer(w, http.StatusOK, s.Patch())
}

// changeablePlan finds the active plan that the path names, if the caller may change it.
func changeablePlan(r *http.Request, plans Plans) (escalation.PlanSteps, error) {
	p, err := activePlan(r, plans)
	if err == nil && !wire.Actor(r.Context()).MayChange(p.CreatorID, p.Team, auth.Openings{}) {
		err = fault.Newf(fault.Forbidden, "only %s or an admin may change the plan %s", p.Team.Or(p.Creator), p.Name)
	}
	return p, err
}

// activePlan finds the active plan that the path names.
func activePlan(r *http.Request, plans Plans) (escalation.PlanSteps, error) {
	name := wire.Param(r, "plan")
	missing := fault.Newf(fault.NotFound, "there is no active plan %.100q", name)
	if !wire.Storable(name) {
		return escalation.PlanSteps{}, missing
	}
	p, err := plans.ByName(r.Context(), name)
	return p, fault.When(err, fault.NotFound, missing)
}

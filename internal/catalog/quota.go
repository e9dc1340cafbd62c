package catalog

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// QuotaSettings are how many messages an application may send.
type QuotaSettings struct {
	Hard        int            `json:"hard_threshold" minimum:"1" maximum:"1073741824" doc:"More messages than this in hard_seconds are dropped. It must be above soft_threshold."`
	HardSeconds int64          `json:"hard_seconds" minimum:"1" maximum:"1073741824"`
	Soft        int            `json:"soft_threshold" minimum:"1" maximum:"1073741824" doc:"If there are more messages than this in soft_seconds, the target gets an e-mail."`
	SoftSeconds int64          `json:"soft_seconds" minimum:"1" maximum:"1073741824"`
	Plan        operation.Text `json:"plan" maxLength:"255" doc:"The plan of the incident that is opened when messages are dropped. An active plan is required; null = the plan was deleted."`
	Target      operation.Text `json:"target" maxLength:"255" doc:"The person, team or mailing list that gets the e-mail; required."`
	WaitSeconds int64          `json:"wait_seconds" minimum:"1" maximum:"1073741824" doc:"After an e-mail or an incident there is no further one for this time."`
}

// Quota is how many messages an application may send, and how many it sent.
type Quota struct {
	QuotaSettings
	HardUse int `json:"hard_use" doc:"Messages in the last hard_seconds."`
	SoftUse int `json:"soft_use" doc:"Messages in the last soft_seconds."`
}

// QuotaEdit replaces the quota of an application.
type QuotaEdit struct {
	OneApplication
	Body QuotaSettings `json:"body"`
}

// ErrThresholds refuses a quota that would drop messages before anybody is warned.
var ErrThresholds = fault.Invalidf("hard_threshold", "hard_threshold must be above soft_threshold")

// Check implements operation.Checker.
func (e QuotaEdit) Check() error {
	if e.Body.Hard <= e.Body.Soft {
		return ErrThresholds
	}
	return nil
}

// The operations on quotas.
var (
	QuotaOfApplication = operation.Define[OneApplication, Quota](operation.Doc{Name: "application.quota",
		Method: http.MethodGet, Path: "/v1/applications/{app}/quota",
		Needs: operation.Reader, Summary: "The quota of an application and its use", Note: "404: the application has no quota of its own."})
	ReplaceQuota = operation.Define[QuotaEdit, Quota](operation.Doc{Name: "application.set-quota",
		Method: http.MethodPut, Path: "/v1/applications/{app}/quota",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.ApplicationQuotaSet},
		Summary: "Set the quota of an application"})
	RemoveQuota = operation.Define[OneApplication, operation.None](operation.Doc{Name: "application.remove-quota",
		Method: http.MethodDelete, Path: "/v1/applications/{app}/quota",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.ApplicationQuotaRemoved},
		Summary: "Remove the quota of an application: that of the installation applies, if there is one"})
)

func (a *Applications) quota(ctx context.Context, _ operation.Actor, one OneApplication) (Quota, error) {
	found, err := a.find(ctx, one.Application)
	if err != nil {
		return Quota{}, err
	}
	q, err := a.deps.Store.Quota(ctx, found.ID)
	whole := func(d time.Duration) int64 { return int64(d / time.Second) }
	return Quota{QuotaSettings{q.HardThreshold, whole(q.HardDuration), q.SoftThreshold, whole(q.SoftDuration),
			operation.Text(q.Plan), operation.Text(q.Target), whole(q.WaitAfterwards)}, q.HardUse, q.SoftUse},
		fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "the application %s has no quota of its own", found.Name))
}

func (a *Applications) replaceQuota(ctx context.Context, by operation.Actor, e QuotaEdit) (Quota, error) {
	found, err := a.Owned(ctx, by, e.Application)
	if err != nil {
		return Quota{}, err
	}
	b, length := e.Body, func(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }
	err = a.deps.Store.SetQuota(ctx, found.ID, applications.Quota{HardThreshold: b.Hard, SoftThreshold: b.Soft,
		HardDuration: length(b.HardSeconds), SoftDuration: length(b.SoftSeconds), Plan: string(b.Plan),
		Target: string(b.Target), WaitAfterwards: length(b.WaitSeconds)}, by.Name)
	if err != nil {
		return Quota{}, err
	}
	return a.quota(ctx, by, OneApplication{found.Name})
}

func (a *Applications) removeQuota(ctx context.Context, by operation.Actor, one OneApplication) (none operation.None, err error) {
	found, err := a.Owned(ctx, by, one.Application)
	if err != nil {
		return none, err
	}
	return none, a.deps.Store.RemoveQuota(ctx, found.ID, by.Name)
}

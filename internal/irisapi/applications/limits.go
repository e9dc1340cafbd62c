package applications

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a limits) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v0/applications/{app}/quota", routing.Read, a.getQuota),
		routing.Post("/v0/applications/{app}/quota", routing.Write, a.setQuota),
		routing.Delete("/v0/applications/{app}/quota", routing.Write, a.removeQuota),
		routing.Get("/v0/applications/{app}/incident_emails", routing.Someone, a.getEmails),
		routing.Put("/v0/applications/{app}/incident_emails", routing.Write, a.setEmails),
	}
}

// getQuota answers {} for an application that has no quota or does not exist.
func (a limits) getQuota(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Applications.Describe(r.Context(), v0.ApplicationName(r))
	var q applications.Quota
	if err == nil {
		q, err = a.Limits.Quota(r.Context(), found.ID)
	}
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, v0.Record{})
	}
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, v0.Record{{"application", q.Application}, {"hard_quota_threshold", q.HardThreshold},
		{"soft_quota_threshold", q.SoftThreshold}, {"hard_quota_duration", v0.Seconds(q.HardDuration)},
		{"soft_quota_duration", v0.Seconds(q.SoftDuration)}, {"target_name", v0.OrNull(q.Target)}, {"target_role", v0.OrNull(q.TargetKind)},
		{"plan_name", v0.OrNull(q.Plan)}, {"wait_time", v0.Seconds(q.WaitAfterwards)}})
}

const (
	noQuotaPermission = "You don't have permissions to update this app's quota."
	noApplicationID   = "No ID found for that application"
)

func (a limits) setQuota(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{stranger: noQuotaPermission})
	if err != nil {
		return err
	}
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	q, err := parseQuota(b)
	if err != nil {
		return err
	}
	err = a.Limits.SetQuota(r.Context(), found.ID, q, actor.String())
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, noApplicationID)
	}
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, []int{})
}

// maxQuota is the largest threshold, and the longest duration in seconds.
const maxQuota = 1 << 30

func parseQuota(b v0.Body) (q applications.Quota, err error) {
	numbers := []struct {
		name string
		n    int64
	}{{name: "hard_quota_threshold"}, {name: "soft_quota_threshold"}, {name: "hard_quota_duration"}, {name: "soft_quota_duration"},
		{name: "wait_time"}}
	exact := len(b.Members) == len(numbers)+2
	for _, name := range []string{numbers[0].name, numbers[1].name, numbers[2].name, numbers[3].name, numbers[4].name, "plan_name", "target_name"} {
		_, ok := b.Members[name]
		exact = exact && ok
	}
	if !exact {
		return q, fault.New(fault.Invalid, "Missing required keys in post body")
	}
	for i := range numbers {
		n, ok := v0.Integer(b.Members[numbers[i].name])
		if !ok || n > maxQuota {
			return q, fault.Invalidf(numbers[i].name, "Some int keys are not integers")
		}
		numbers[i].n = n
	}
	for _, n := range numbers {
		if n.n <= 0 {
			return q, fault.Invalidf(n.name, "All int keys must be over 0")
		}
	}
	q.HardThreshold, q.SoftThreshold = int(numbers[0].n), int(numbers[1].n)
	if q.HardThreshold <= q.SoftThreshold {
		return q, fault.Invalidf("hard_quota_threshold", "Hard threshold must be bigger than soft threshold")
	}
	q.HardDuration, q.SoftDuration = time.Duration(numbers[2].n)*time.Second, time.Duration(numbers[3].n)*time.Second
	q.WaitAfterwards = time.Duration(numbers[4].n) * time.Second
	if q.Plan, err = b.Text("plan_name"); err != nil {
		return q, err
	}
	q.Target, err = b.Text("target_name")
	return q, err
}

func (a limits) removeQuota(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{stranger: noQuotaPermission, unknown: noApplicationID})
	if err != nil {
		return err
	}
	if err := a.Limits.RemoveQuota(r.Context(), found.ID, actor.String()); err != nil {
		return err
	}
	return routing.Empty(w, http.StatusNoContent)
}

func (a limits) getEmails(w http.ResponseWriter, r *http.Request) error {
	emails := map[string]string{}
	found, err := a.Applications.Describe(r.Context(), v0.ApplicationName(r))
	if err == nil {
		emails, err = a.Limits.IncidentEmails(r.Context(), found.ID)
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	return routing.Answer(w, http.StatusOK, emails)
}

func (a limits) setEmails(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{
		program:  "You must be a logged in user to change this application's email incident settings",
		stranger: "You don't have permissions to change this application's email incident settings.",
		unknown:  "Application " + v0.ApplicationName(r) + " not found"})
	if err != nil {
		return err
	}
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	plans := map[string]string{}
	seen := map[string]bool{}
	for _, email := range slices.Sorted(maps.Keys(b.Members)) {
		raw := b.Members[email]
		var plan string
		key := strings.ToLower(strings.TrimSpace(email))
		switch {
		case json.Unmarshal(raw, &plan) != nil || v0.IsNull(raw):
			return fault.Invalidf("", "The plan of %s must be a string", email)
		case !catalog.Destination(email) || !strings.Contains(email, "@"):
			return fault.Invalidf("", "%s is not an e-mail address", email)
		case seen[key]:
			return fault.Invalidf("", "The address %s is given twice", email)
		}
		seen[key] = true
		plans[strings.TrimSpace(email)] = plan
	}
	if err := a.Limits.SetIncidentEmails(r.Context(), found.ID, plans, actor.String()); err != nil {
		return fault.When(err, fault.Conflict, fault.New(fault.Invalid, "These email addresses are already in use by another app"))
	}
	return v0.Done(w)
}

package irisapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// getQuota answers {} for an application that has no quota or does not exist.
func (a limits) getQuota(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Applications.Describe(r.Context(), ApplicationName(r))
	var q applications.Quota
	if err == nil {
		q, err = a.Applications.Quota(r.Context(), found.ID)
	}
	if fault.Is(err, fault.NotFound) {
		return Answer(w, Record{}, nil)
	}
	return Answer(w, Record{{"application", q.Application}, {"hard_quota_threshold", q.HardThreshold},
		{"soft_quota_threshold", q.SoftThreshold}, {"hard_quota_duration", Seconds(q.HardDuration)},
		{"soft_quota_duration", Seconds(q.SoftDuration)}, {"target_name", OrNull(q.Target)}, {"target_role",
			OrNull(q.TargetKind)},
		{"plan_name", OrNull(q.Plan)}, {"wait_time", Seconds(q.WaitAfterwards)}}, err)
}

const noApplicationID = "No ID found for that application"

// The refusals of callers who may not change the quota or the addresses of an application.
var (
	noQuota       = refusals{stranger: "You don't have permissions to update this app's quota."}
	noQuotaRemove = refusals{stranger: noQuota.stranger, unknown: noApplicationID}
	noEmails      = refusals{program: "You must be a logged in user to change this application's email incident settings",
		stranger: "You don't have permissions to change this application's email incident settings.", unknown: "Application %s not found"}
)

func (a limits) setQuota(w http.ResponseWriter, r *http.Request, app applications.Application, by string) error {
	q, err := parseQuota(ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	if err = a.Applications.SetQuota(r.Context(), app.ID, q, by); err != nil {
		return fault.When(err, fault.NotFound, fault.New(fault.Invalid, noApplicationID))
	}
	return routing.Answer(w, http.StatusCreated, []int{})
}

// maxQuota is the largest threshold, and the longest duration in seconds.
const maxQuota = 1 << 30

func parseQuota(b Body) (q applications.Quota, err error) {
	var thresholds [2]int64
	var seconds [3]int64
	numbers := []struct {
		name string
		into *int64
	}{{"hard_quota_threshold", &thresholds[0]}, {"soft_quota_threshold", &thresholds[1]}, {"hard_quota_duration",
		&seconds[0]},
		{"soft_quota_duration", &seconds[1]}, {"wait_time", &seconds[2]}}
	exact := len(b.Members) == len(numbers)+2 && b.Has("plan_name") && b.Has("target_name")
	for _, n := range numbers {
		exact = exact && b.Has(n.name)
	}
	b.Check(exact, fault.New(fault.Invalid, "Missing required keys in post body"))
	for _, n := range numbers {
		var ok bool
		*n.into, ok = Integer(b.Members[n.name])
		b.Check(ok && *n.into <= maxQuota, fault.Invalidf(n.name, "Some int keys are not integers"))
	}
	for _, n := range numbers {
		b.Check(*n.into > 0, fault.Invalidf(n.name, "All int keys must be over 0"))
	}
	q.HardThreshold, q.SoftThreshold = int(thresholds[0]), int(thresholds[1])
	b.Check(q.HardThreshold > q.SoftThreshold, fault.Invalidf("hard_quota_threshold",
		"Hard threshold must be bigger than soft threshold"))
	q.HardDuration, q.SoftDuration = time.Duration(seconds[0])*time.Second, time.Duration(seconds[1])*time.Second
	q.WaitAfterwards = time.Duration(seconds[2]) * time.Second
	q.Plan, q.Target = b.Text("plan_name"), b.Text("target_name")
	return q, b.Err()
}

func (a limits) removeQuota(w http.ResponseWriter, r *http.Request, app applications.Application, by string) error {
	return Empty(w, http.StatusNoContent, a.Applications.RemoveQuota(r.Context(), app.ID, by))
}

func (a limits) getEmails(w http.ResponseWriter, r *http.Request) error {
	emails := map[string]string{}
	found, err := a.Applications.Describe(r.Context(), ApplicationName(r))
	if err == nil {
		emails, err = a.Applications.IncidentEmails(r.Context(), found.ID)
	}
	return Answer(w, emails, fault.When(err, fault.NotFound, nil))
}

func (a limits) setEmails(w http.ResponseWriter, r *http.Request, app applications.Application, by string) error {
	b := ReadBody(w, r, "")
	plans, seen := map[string]string{}, map[string]bool{}
	for _, email := range slices.Sorted(maps.Keys(b.Members)) {
		var plan string
		key := strings.ToLower(strings.TrimSpace(email))
		err := json.Unmarshal(b.Members[email], &plan)
		b.Check(err == nil && b.Given(email), fault.Invalidf("", "The plan of %s must be a string", email))
		b.Check(catalog.Destination(email) && strings.Contains(email, "@"),
			fault.Invalidf("", "%s is not an e-mail address", email))
		b.Check(!seen[key], fault.Invalidf("", "The address %s is given twice", email))
		seen[key], plans[strings.TrimSpace(email)] = true, plan
	}
	if err := b.Err(); err != nil {
		return err
	}
	err := a.Applications.SetIncidentEmails(r.Context(), app.ID, plans, by)
	return Done(w, fault.When(err, fault.Conflict, fault.New(fault.Invalid,
		"These email addresses are already in use by another app")))
}

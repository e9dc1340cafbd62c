package irisapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
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

func (a limits) setQuota(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	q, err := parseQuota(ReadBody(w, r, ""))
	if err == nil {
		_, err = a.Operations.ReplaceQuota.Do(r.Context(), by, catalog.QuotaEdit{OneApplication: one, Body: q})
	}
	if err != nil {
		return refusedQuota(err)
	}
	return routing.Answer(w, http.StatusCreated, []int{})
}

// maxQuota is the largest number of a quota.
const maxQuota = 1 << 30

func parseQuota(b Body) (q catalog.QuotaSettings, err error) {
	var thresholds [2]int64
	numbers := []struct {
		name string
		into *int64
	}{{"hard_quota_threshold", &thresholds[0]}, {"soft_quota_threshold", &thresholds[1]},
		{"hard_quota_duration", &q.HardSeconds}, {"soft_quota_duration", &q.SoftSeconds}, {"wait_time", &q.WaitSeconds}}
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
	q.Hard, q.Soft = int(thresholds[0]), int(thresholds[1])
	if b.Err() == nil {
		q.Plan, q.Target = operation.Text(b.Text("plan_name")), operation.Text(b.Text("target_name"))
	}
	return q, b.Err()
}

// refusedQuota returns the refusal of a quota in the words of Iris.
func refusedQuota(err error) error {
	field := fault.FieldOf(err)
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.New(fault.Invalid, noApplicationID)
	case errors.Is(err, catalog.ErrThresholds):
		return fault.Invalidf("hard_quota_threshold", "Hard threshold must be bigger than soft threshold")
	case strings.HasSuffix(field, "_threshold"), strings.HasSuffix(field, "_seconds"):
		return fault.Invalidf(field, "All int keys must be over 0")
	case field == "plan":
		return fault.New(fault.Invalid, "No active ID found for that plan")
	case field == "target":
		return fault.New(fault.Invalid, "No ID found for that target")
	}
	return err
}

func (a limits) removeQuota(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	_, err := a.Operations.RemoveQuota.Do(r.Context(), by, one)
	return Empty(w, http.StatusNoContent, err)
}

func (a limits) getEmails(w http.ResponseWriter, r *http.Request) error {
	emails := map[string]string{}
	found, err := a.Applications.Describe(r.Context(), ApplicationName(r))
	if err == nil {
		emails, err = a.Applications.IncidentEmails(r.Context(), found.ID)
	}
	return Answer(w, emails, fault.When(err, fault.NotFound, nil))
}

func (a limits) setEmails(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	b, edit := ReadBody(w, r, ""), catalog.AddressEdit{OneApplication: one}
	edit.Body.Addresses = []catalog.IncidentAddress{}
	for _, address := range slices.Sorted(maps.Keys(b.Members)) {
		var plan string
		if json.Unmarshal(b.Members[address], &plan) != nil || !b.Given(address) {
			b.Check(false, cmp.Or(edit.Check(), error(fault.Invalidf("", "The plan of %s must be a string", address))))
			break
		}
		edit.Body.Addresses = append(edit.Body.Addresses, catalog.IncidentAddress{Address: address, Plan: plan})
	}
	if err := b.Err(); err != nil {
		return err
	}
	_, err := a.Operations.ReplaceAddresses.Do(r.Context(), by, edit)
	return Done(w, fault.When(err, fault.Conflict, fault.New(fault.Invalid,
		"These email addresses are already in use by another app")))
}

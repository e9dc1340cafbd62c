package irisapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *applicationRoutes) key(w http.ResponseWriter, r *http.Request) error {
	found, _, err := a.owned(r, refusals{nobody: "You must be a logged in user to view this app's key",
		stranger: "You don't have permissions to view this app's key.", unknown: keyNotFound})
	if err != nil {
		return err
	}
	primary, _, err := a.keys.Key(r.Context(), found.ID)
	if err != nil {
		return err
	}
	if primary == "" { // the application of web sessions has none until somebody makes one
		return fault.New(fault.Invalid, keyNotFound)
	}
	w.Header().Set("Cache-Control", "no-store")
	wire.JSON(w, http.StatusOK, record{{"key", primary}})
	return nil
}

const keyNotFound = "Key for this application not found"

func (a *applicationRoutes) secondary(w http.ResponseWriter, r *http.Request) error {
	found, _, err := a.owned(r, refusals{nobody: "You must be a logged in user to view this app's key",
		stranger: "You don't have permissions to view this app's key.", unknown: keyNotFound})
	if err != nil {
		return err
	}
	_, secondary, err := a.keys.Key(r.Context(), found.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	wire.JSON(w, http.StatusOK, record{{"key", orNull(secondary)}})
	return nil
}

func (a *applicationRoutes) addSecondary(w http.ResponseWriter, r *http.Request) error {
	const exists = "Secondary key already exists, or app name incorrect"
	found, actor, err := a.owned(r, refusals{nobody: "You must be a logged in user to app",
		stranger: "You don't have permissions to re-key this app.", unknown: exists})
	if err != nil {
		return err
	}
	err = a.keys.AddSecondary(r.Context(), found.ID, actor.String())
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, exists)
	}
	if err != nil {
		return err
	}
	return done(w)
}

func (a *applicationRoutes) rekey(w http.ResponseWriter, r *http.Request) error {
	const failed = "Re-key failed; secondary key does not exist or invalid app name"
	found, actor, err := a.owned(r, refusals{nobody: "You must be a logged in user to re-key this app",
		stranger: "You don't have permissions to re-key this app.", unknown: failed})
	if err != nil {
		return err
	}
	err = a.keys.Rekey(r.Context(), found.ID, actor.String())
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, failed)
	}
	if err != nil {
		return err
	}
	return done(w)
}

// getQuota answers {} for an application without a quota, and for one that does not exist.
func (a *applicationRoutes) getQuota(w http.ResponseWriter, r *http.Request) error {
	found, err := a.settings.Describe(r.Context(), appName(r))
	var q applications.Quota
	if err == nil {
		q, err = a.limits.Quota(r.Context(), found.ID)
	}
	if fault.Is(err, fault.NotFound) {
		wire.JSON(w, http.StatusOK, record{})
		return nil
	}
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, record{{"application", q.Application}, {"hard_quota_threshold", q.HardThreshold},
		{"soft_quota_threshold", q.SoftThreshold}, {"hard_quota_duration", wholeSeconds(q.HardDuration)},
		{"soft_quota_duration", wholeSeconds(q.SoftDuration)}, {"target_name", orNull(q.Target)}, {"target_role", orNull(q.TargetKind)},
		{"plan_name", orNull(q.Plan)}, {"wait_time", wholeSeconds(q.WaitAfterwards)}})
	return nil
}

const (
	noQuotaPermission = "You don't have permissions to update this app's quota."
	noApplicationID   = "No ID found for that application"
)

func (a *applicationRoutes) setQuota(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{stranger: noQuotaPermission})
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	q, err := parseQuota(b)
	if err != nil {
		return err
	}
	err = a.limits.SetQuota(r.Context(), found.ID, q, actor.String())
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, noApplicationID)
	}
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusCreated, []int{})
	return nil
}

// maxQuota bounds thresholds and durations (in seconds).
const maxQuota = 1 << 30

func parseQuota(b body) (q applications.Quota, err error) {
	numbers := []struct {
		name string
		n    int64
	}{{name: "hard_quota_threshold"}, {name: "soft_quota_threshold"}, {name: "hard_quota_duration"}, {name: "soft_quota_duration"},
		{name: "wait_time"}}
	exact := len(b.members) == len(numbers)+2
	for _, name := range []string{numbers[0].name, numbers[1].name, numbers[2].name, numbers[3].name, numbers[4].name, "plan_name", "target_name"} {
		_, ok := b.members[name]
		exact = exact && ok
	}
	if !exact {
		return q, fault.New(fault.Invalid, "Missing required keys in post body")
	}
	for i := range numbers {
		n, ok := integer(b.members[numbers[i].name])
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
	if q.Plan, err = b.optionalText("plan_name"); err != nil {
		return q, err
	}
	q.Target, err = b.optionalText("target_name")
	return q, err
}

func (a *applicationRoutes) removeQuota(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{stranger: noQuotaPermission, unknown: noApplicationID})
	if err != nil {
		return err
	}
	if err := a.limits.RemoveQuota(r.Context(), found.ID, actor.String()); err != nil {
		return err
	}
	wire.Empty(w, http.StatusNoContent)
	return nil
}

func (a *applicationRoutes) getEmails(w http.ResponseWriter, r *http.Request) error {
	emails := map[string]string{}
	found, err := a.settings.Describe(r.Context(), appName(r))
	if err == nil {
		emails, err = a.limits.IncidentEmails(r.Context(), found.ID)
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	wire.JSON(w, http.StatusOK, emails)
	return nil
}

func (a *applicationRoutes) setEmails(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{
		nobody:   "You must be a logged in user to change this application's email incident settings",
		stranger: "You don't have permissions to change this application's email incident settings.",
		unknown:  "Application " + appName(r) + " not found"})
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	plans := map[string]string{}
	seen := map[string]bool{}
	for _, email := range sortedKeys(b.members) {
		raw := b.members[email]
		var plan string
		key := strings.ToLower(strings.TrimSpace(email))
		switch {
		case json.Unmarshal(raw, &plan) != nil || isNull(raw):
			return fault.Invalidf("", "The plan of %s must be a string", email)
		case !catalog.Destination(email) || !strings.Contains(email, "@"):
			return fault.Invalidf("", "%s is not an e-mail address", email)
		case seen[key]:
			return fault.Invalidf("", "The address %s is given twice", email)
		}
		seen[key] = true
		plans[strings.TrimSpace(email)] = plan
	}
	if err := a.limits.SetIncidentEmails(r.Context(), found.ID, plans, actor.String()); err != nil {
		if fault.Is(err, fault.Conflict) { // somebody else took one of them in this moment
			return fault.New(fault.Invalid, "These email addresses are already in use by another app")
		}
		return err
	}
	return done(w)
}

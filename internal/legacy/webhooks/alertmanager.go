package webhooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// alertGroup has the fields of version 4 of Alertmanager's webhook payload that decide about incidents. The context of
// the incident has the whole payload.
type alertGroup struct {
	Version      string            `json:"version"`
	GroupKey     string            `json:"groupKey"`
	Status       string            `json:"status"`
	GroupLabels  map[string]string `json:"groupLabels"`
	CommonLabels map[string]string `json:"commonLabels"`
	Alerts       []alert           `json:"alerts"`
	Truncated    json.RawMessage   `json:"truncatedAlerts"`
}

type alert struct {
	Fingerprint string            `json:"fingerprint"`
	Status      string            `json:"status"`
	StartsAt    string            `json:"startsAt"`
	EndsAt      string            `json:"endsAt"`
	Labels      map[string]string `json:"labels"`
	Annotations json.RawMessage   `json:"annotations"`
}

// planLabel is the label that names the plan if the query does not.
const planLabel = "groupLabels.iris_plan"

// alertmanager reads a delivery. The query names the plan, else the group label or common label iris_plan. A delivery
// without a status is firing.
func alertmanager(p payload) (delivery, error) {
	var g alertGroup
	if err := json.Unmarshal(p.body, &g); err != nil {
		return delivery{}, fault.Titled("Invalid alertmanager payload", wrongType(err))
	}
	if g.Status != "" && g.Status != "firing" && g.Status != "resolved" {
		return delivery{}, fault.Titled("Invalid alertmanager payload", `status must be "firing" or "resolved"`)
	}
	none := fault.Invalidf(planLabel, "missing iris_plan in group labels")
	if !p.has("version", "status", "alerts") {
		none = fault.Invalidf("alerts", "missing version, status and/or alert attributes")
	}
	d := delivery{}.withPlan(firstOf(p.plan, g.GroupLabels["iris_plan"], g.CommonLabels["iris_plan"]),
		none, fault.New(fault.NotFound, "no such plan"))
	d.setGroup(g)
	return d, nil
}

// setGroup sets what the delivery says about its alerts.
func (d *delivery) setGroup(g alertGroup) {
	d.resolved, d.key = g.Status == "resolved", g.GroupKey
	d.cut = !slices.Contains([]string{"", "0", `"0"`, `""`, "null"}, string(g.Truncated))
	if d.key == "" {
		d.key = labelKey(g.GroupLabels)
	}
	d.alerts, d.facts = alertsOf(g.Alerts), factsOf(g.Alerts)
}

// wrongType names the field with the wrong type, and the right type.
func wrongType(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	must := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list",
		reflect.Struct: "an object"}[wrong.Type.Kind()]
	if must == "" || strings.HasSuffix(wrong.Field, "abels") { // the error is in the map of labels or in a value of it
		must = "an object of strings"
	}
	return wrong.Field + " must be " + must
}

// storable reports whether PostgreSQL takes s as text.
func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// labelKey returns the sorted labels. They replace the group key of senders that have none.
func labelKey(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for k, v := range labels {
		pairs = append(pairs, fmt.Sprintf("%s=%q", k, v))
	}
	slices.Sort(pairs)
	return "{" + strings.Join(pairs, ",") + "}"
}

// id returns the fingerprint of the alert, or its labels if it has none. An id that is too long for an index is hashed.
func (a alert) id() string {
	id := a.Fingerprint
	if id == "" {
		id = labelKey(a.Labels)
	}
	if len(id) > intake.MaxKey {
		sum := sha256.Sum256([]byte(id))
		id = "sha256:" + hex.EncodeToString(sum[:])
	}
	return id
}

// alertsOf returns the alerts to store, one for each fingerprint: a firing one if there is one, else the last.
func alertsOf(alerts []alert) []incidents.Alert {
	out := make([]incidents.Alert, 0, len(alerts))
	at := map[string]int{}
	for _, a := range alerts {
		stored := incidents.Alert{Fingerprint: a.id(), Firing: a.Status != "resolved", StartsAt: instant(a.StartsAt),
			EndsAt: instant(a.EndsAt)}
		if len(a.Labels) > 0 {
			stored.Labels, _ = json.Marshal(a.Labels) // a map of strings is always valid JSON
		}
		if len(a.Annotations) > 0 && a.Annotations[0] == '{' {
			stored.Annotations = a.Annotations
		}
		k, twice := at[stored.Fingerprint]
		switch {
		case !twice:
			at[stored.Fingerprint] = len(out)
			out = append(out, stored)
		case stored.Firing || !out[k].Firing:
			out[k] = stored
		}
	}
	return out
}

// instant reads a time of the sender, in microseconds, as PostgreSQL stores it. It returns zero for a missing or
// unreadable time, and for the year 1, which senders use for a missing time.
func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() <= 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

func factsOf(alerts []alert) []intake.Fact {
	facts := make([]intake.Fact, len(alerts))
	for i, a := range alerts {
		facts[i] = intake.Fact{Fingerprint: a.id(), Status: a.Status, StartsAt: a.StartsAt, Name: a.Labels["alertname"]}
	}
	slices.SortFunc(facts, func(a, b intake.Fact) int {
		return strings.Compare(a.Fingerprint+a.Status+a.StartsAt, b.Fingerprint+b.Status+b.StartsAt)
	})
	return slices.Compact(facts)
}

package receiving

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
)

// request returns the incident that an event asks for, without a plan.
func request(app auth.Application, from intake.Integration, e intake.Event) (incidents.New, error) {
	severity := severity(from, e)
	n := incidents.New{
		ApplicationID: app.ID, Integration: int64(from.ID), Actor: "integration " +
			from.Name, Remark: e.FailureText(), DedupKey: e.Key,
		Severity: string(severity), DedupFacts: intake.Stored(facts(e)), Alerts: e.Alerts,
		StartsAt: e.StartsAt,
		Late:     incidents.Late{Within: app.LateWithin, Hold: app.LateHold},
	}
	if len(n.Alerts) == 0 && e.Key != "" && e.Status == intake.Firing {
		n.Alerts = []incidents.Alert{{Fingerprint: e.Key, Firing: true, StartsAt: e.StartsAt, EndsAt: e.EndsAt,
			Labels: object(e.Labels), Annotations: object(e.Annotations)}}
	}
	var err error
	n.Context, err = intake.ContextOf(e, from.Name, severity)
	n.Alert = intake.InGroup(e, severity, n.Context)
	return n, err
}

// severity returns that of the event, else the default of the integration, else Error.
func severity(from intake.Integration, e intake.Event) intake.Severity {
	switch {
	case e.Severity != "":
		return e.Severity
	case from.DefaultSeverity != "":
		return from.DefaultSeverity
	}
	return intake.Error
}

// facts returns what decides whether a delivery is new: its alerts, else one alert that only its key identifies.
func facts(e intake.Event) []intake.Fact {
	if len(e.Alerts) == 0 {
		return []intake.Fact{{Fingerprint: e.Key, Status: string(e.Status), Name: e.Title}}
	}
	out := make([]intake.Fact, len(e.Alerts))
	for k, a := range e.Alerts {
		var labels struct {
			Name string `json:"alertname"`
		}
		_ = json.Unmarshal(a.Labels, &labels) // a name is for people only
		out[k] = intake.Fact{Fingerprint: a.Fingerprint, Status: string(intake.Firing), Name: labels.Name}
		if !a.Firing {
			out[k].Status = string(intake.Resolved)
		}
		if !a.StartsAt.IsZero() {
			out[k].StartsAt = a.StartsAt.UTC().Format("2006-01-02T15:04:05.999999Z")
		}
	}
	return out
}

// object returns texts as a JSON object; nil = none.
func object(texts map[string]string) json.RawMessage {
	if len(texts) == 0 {
		return nil
	}
	raw, _ := json.Marshal(texts) // a map of texts is always valid
	return raw
}

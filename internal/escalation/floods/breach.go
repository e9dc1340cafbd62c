package floods

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Breach is a quota that an application exceeds.
type Breach struct {
	Application int64

	quota        messages.Quota
	usage        *messages.Usage
	at           time.Time
	soft         bool   // the e-mail about the soft quota is due
	dropped      []drop // messages that exceed the hard quota
	mailedBefore time.Time
}

// drop is a dropped message and its mode before.
type drop struct {
	*Message
	mode users.Mode
}

func (b *Breach) hard() bool { return len(b.dropped) > 0 }

// Incident returns the incident of the latest breach of the hard quota; 0 = none. The caller reads whether it is
// acknowledged, and passes that to Report.
func (b *Breach) Incident() incidents.ID {
	if !b.hard() {
		return 0
	}
	return incidents.ID(b.usage.Incident)
}

// Report is what to report about a breach. Parts that are not due are nil or empty.
type Report struct {
	Mail    *Mail           // about the soft quota
	Line    string          // for the timeline of Incident: no other incident is opened until somebody acknowledges it
	Context json.RawMessage // context of the incident to open; nil = no incident is opened
	Plan    string          // plan of the incident to open
	Entries []Entry         // about the dropped messages
}

// Mail is an e-mail about a soft breach, to the target of the quota (messages.Quota.TargetID).
type Mail struct {
	TargetID      int64
	Subject, Body string
}

// Report decides what to report. name is the application's name. unclaimed reports whether nobody has acknowledged
// Incident yet.
func (b *Breach) Report(name string, unclaimed bool, tally Tally) (Report, error) {
	var r Report
	if b.soft {
		subject, body := messages.SoftBreachText(name, b.quota)
		r.Mail = &Mail{b.quota.TargetID, subject, body}
		tally[QuotaSoft]++
	}
	if !b.hard() {
		return r, nil
	}
	for _, d := range b.dropped {
		if d.IncidentID != 0 {
			r.Entries = append(r.Entries, limited(d.IncidentID, d.At,
				"the page to %s by %s is DROPPED: application %s exceeds its hard quota of %d messages within %s",
				d.Target, d.mode, name, b.quota.HardLimit, humanize.Duration(b.quota.HardWithin)))
		}
	}
	if b.usage.WaitsDue(b.quota, unclaimed, b.at) {
		r.Line = fmt.Sprintf("application %s exceeds its hard quota again, and messages are DROPPED; no other incident is opened "+
			"before somebody acknowledges or resolves this one", name)
		tally[QuotaWaiting]++
		return r, nil
	}
	if !b.usage.BreachDue(b.quota, unclaimed, b.at) {
		return r, nil
	}
	var err error
	r.Plan = b.quota.Plan
	r.Context, err = json.Marshal(map[string]any{"quota_breach": map[string]any{
		"application": name, "limit": b.quota.HardLimit, "duration": int(b.quota.HardWithin.Seconds()),
	}})
	if err != nil {
		return r, fmt.Errorf("encode the context of a breach: %w", err)
	}
	return r, nil
}

// NotMailed records that the e-mail had no recipient. It is due again once there is one.
func (b *Breach) NotMailed() { b.usage.TextedAt = b.mailedBefore }

// Opened records the incident that was opened.
func (b *Breach) Opened(id incidents.ID, tally Tally) {
	b.usage.Incident, b.usage.BreachedAt = int64(id), b.at
	tally[QuotaIncident]++
}

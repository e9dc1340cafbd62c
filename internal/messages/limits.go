package messages

import (
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/users"
)

// Reprioritisation is a person's rule: messages that exceed a count in one mode get another mode
// (docs/reference/escalation.md 9).
type Reprioritisation struct {
	From   users.Mode
	To     users.Mode
	Count  int           // messages that exceed this count ...
	Within time.Duration // ... within this time get the mode To
	Usable bool          // the person can be reached in To for the application
}

// ReprioritisationText is the text for the audit log of a message whose mode a rule changed.
const ReprioritisationText = "Changing mode due to reprioritization"

// Reprioritise counts a message of the mode and returns its new mode. It changes counts, the person's counts by source
// mode. It follows the rules from mode to mode, and stops before a rule that leads back or to an unusable mode.
func Reprioritise(mode users.Mode, rules []Reprioritisation, counts map[users.Mode]*Window, now time.Time) users.Mode {
	visited := []users.Mode{mode}
	for {
		i := slices.IndexFunc(rules, func(r Reprioritisation) bool { return r.From == mode })
		if i < 0 {
			return mode
		}
		rule := rules[i]
		count := counts[mode]
		if count == nil {
			count = &Window{}
			counts[mode] = count
		}
		count.Add(now, 1, rule.Within)
		if count.Within(now, rule.Within) <= rule.Count || !rule.Usable || slices.Contains(visited, rule.To) {
			return mode
		}
		mode = rule.To
		visited = append(visited, mode)
	}
}

// Quota is how many messages an application may send (docs/reference/escalation.md 8).
type Quota struct {
	HardLimit  int // messages within HardWithin; more are dropped. 0 = none
	HardWithin time.Duration
	SoftLimit  int // messages within SoftWithin; if there are more, TargetID is notified. 0 = none
	SoftWithin time.Duration
	Plan       string        // of the incident that a hard breach opens; "" = it opens none
	TargetID   int64         // who gets the e-mail about a soft breach; 0 = nobody
	Wait       time.Duration // minimum time between the incidents of breaches
}

// quotaTextEvery is the minimum time between two e-mails about the same soft breach.
const quotaTextEvery = 30 * time.Minute

// QuotaDropText is the text for the audit log of a message that exceeded a hard quota.
const QuotaDropText = "Dropping due to hard quota violation."

// Usage is how much of its quota an application has used, and when breaches were reported.
type Usage struct {
	Sent       Window    `json:"w"`
	TextedAt   time.Time `json:"s,omitzero"` // last e-mail about a soft breach
	BreachedAt time.Time `json:"b,omitzero"` // last incident of a hard breach
	Incident   int64     `json:"i,omitempty"`
	WaitedAt   time.Time `json:"u,omitzero"` // last time that the timeline of Incident got a line about a further breach
}

// Allowed counts n messages and returns how many of them may be sent. Dropped messages do not count: an application
// that always exceeds its quota can still send what the quota allows.
func (u *Usage) Allowed(q Quota, n int, now time.Time) int {
	allowed := n
	if q.HardLimit > 0 {
		allowed = min(n, max(0, q.HardLimit-u.Sent.Within(now, q.HardWithin)))
	}
	if allowed > 0 {
		u.Sent.Add(now, allowed, max(q.HardWithin, q.SoftWithin))
	}
	return allowed
}

// TextDue reports whether the e-mail about the exceeded soft quota is due now, and records that it was sent.
func (u *Usage) TextDue(q Quota, now time.Time) bool {
	if q.SoftLimit <= 0 || q.TargetID == 0 || u.Sent.Within(now, q.SoftWithin) <= q.SoftLimit || now.Sub(u.TextedAt) < quotaTextEvery {
		return false
	}
	u.TextedAt = now
	return true
}

// BreachDue reports whether a hard breach may open an incident now. unclaimed: nobody has acknowledged the last one.
func (u *Usage) BreachDue(q Quota, unclaimed bool, now time.Time) bool {
	return q.Plan != "" && (u.Incident == 0 || !unclaimed && now.Sub(u.BreachedAt) >= q.Wait)
}

// WaitsDue reports whether the timeline of Incident must get a line now, and records that. The line says that a further
// breach opened no incident, because nobody has acknowledged Incident. It returns true at most once per Wait and per
// hour.
func (u *Usage) WaitsDue(q Quota, unclaimed bool, now time.Time) bool {
	every := max(q.Wait, time.Hour)
	if q.Plan == "" || !unclaimed || now.Sub(u.BreachedAt) < q.Wait || now.Sub(u.WaitedAt) < every {
		return false
	}
	u.WaitedAt = now
	return true
}

// SoftBreachText returns subject and body of the e-mail about a soft breach.
func SoftBreachText(application string, q Quota) (subject, body string) {
	return fmt.Sprintf("Application %s exceeding message quota", application),
		fmt.Sprintf("Application %s sent more than %d messages within %s, which is its soft quota.\n"+
			"When it sends more than %d within %s, its hard quota, messages are dropped.",
			application, q.SoftLimit, humanize.Duration(q.SoftWithin), q.HardLimit, humanize.Duration(q.HardWithin))
}

// Texts of digests (docs/reference/escalation.md 7).

// DigestSubject is the subject of a digest of n pages.
func DigestSubject(application string, n int, plan string) string {
	return fmt.Sprintf("[%s] %d messages from plan %s", application, n, plan)
}

// QuietSubject is the subject of a digest of n pages that a quiet-time limit held.
func QuietSubject(n int) string { return fmt.Sprintf("%d pages that were held for you", n) }

// DigestBody is the body of a digest.
func DigestBody(batch string) string { return "Batch ID: " + batch }

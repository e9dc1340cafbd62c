package messages

import (
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/humanize"
	"github.com/iris-oncall/iris/internal/users"
)

// Reprioritisation says where messages of one mode go when a person gets too many of them (docs/reference/escalation.md 9).
type Reprioritisation struct {
	From   users.Mode
	To     users.Mode
	Count  int           // what exceeds so many ...
	Within time.Duration // ... in the latest so much time goes to To
	Usable bool          // the person can be reached in To for the application
}

// ReprioritisationText is what the audit log of a message says whose mode was changed by a rule.
const ReprioritisationText = "Changing mode due to reprioritization"

// Reprioritise counts a message of the mode and returns the mode it is to have. Counts are of the person, by source mode,
// and are changed. Rules are followed from mode to mode; one that leads back, or to where nobody can be reached, is not.
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

// Quota is how much an application may send (docs/reference/escalation.md 8).
type Quota struct {
	HardLimit  int // messages within HardWithin; what exceeds it is dropped. 0 = none
	HardWithin time.Duration
	SoftLimit  int // messages within SoftWithin; who is responsible hears when it is exceeded. 0 = none
	SoftWithin time.Duration
	Plan       string        // of the incident that a hard breach opens; "" = it opens none
	TargetID   int64         // who hears of a soft breach by e-mail; 0 = nobody
	Wait       time.Duration // between the incidents of breaches, at least
}

// QuotaTextEvery is the least time between two e-mails about the same soft breach.
const QuotaTextEvery = 30 * time.Minute

// QuotaDropText is what the audit log of a message says that exceeded a hard quota.
const QuotaDropText = "Dropping due to hard quota violation."

// Usage is how much of its quota an application has used, and when somebody was told of a breach.
type Usage struct {
	Sent       Window    `json:"w"`
	TextedAt   time.Time `json:"s,omitzero"` // last e-mail about a soft breach
	BreachedAt time.Time `json:"b,omitzero"` // last incident of a hard breach
	Incident   int64     `json:"i,omitempty"`
	WaitedAt   time.Time `json:"u,omitzero"` // last time that Incident was told of a breach that opened none because of it
}

// Allowed counts n messages and returns how many of them may be sent. Dropped ones do not count: an application that
// asks for too much all the time still gets what its quota allows.
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

// TextDue reports whether somebody must be told by e-mail now that the soft quota is exceeded, and notes that.
func (u *Usage) TextDue(q Quota, now time.Time) bool {
	if q.SoftLimit <= 0 || q.TargetID == 0 || u.Sent.Within(now, q.SoftWithin) <= q.SoftLimit || now.Sub(u.TextedAt) < QuotaTextEvery {
		return false
	}
	u.TextedAt = now
	return true
}

// BreachDue reports whether a hard breach may open an incident now. unclaimed tells that nobody has claimed the last one.
func (u *Usage) BreachDue(q Quota, unclaimed bool, now time.Time) bool {
	return q.Plan != "" && (u.Incident == 0 || !unclaimed && now.Sub(u.BreachedAt) >= q.Wait)
}

// WaitsDue reports whether Incident, which nobody has claimed, must be told now that a breach would have opened another one but for
// it, and notes that. It is told no more often than incidents would be opened, and not more than once an hour.
func (u *Usage) WaitsDue(q Quota, unclaimed bool, now time.Time) bool {
	every := max(q.Wait, time.Hour)
	if q.Plan == "" || !unclaimed || now.Sub(u.BreachedAt) < q.Wait || now.Sub(u.WaitedAt) < every {
		return false
	}
	u.WaitedAt = now
	return true
}

// SoftBreachWords are subject and body of the e-mail about a soft breach.
func SoftBreachWords(application string, q Quota) (subject, body string) {
	return fmt.Sprintf("Application %s exceeding message quota", application),
		fmt.Sprintf("Application %s sent more than %d messages within %s, which is its soft quota.\n"+
			"When it sends more than %d within %s, its hard quota, messages are dropped.",
			application, q.SoftLimit, humanize.Duration(q.SoftWithin), q.HardLimit, humanize.Duration(q.HardWithin))
}

// Digest words (docs/reference/escalation.md 7).

// DigestSubject is the subject of a message that stands for several.
func DigestSubject(application string, n int, plan string) string {
	return fmt.Sprintf("[%s] %d messages from plan %s", application, n, plan)
}

// DigestBody is the body of a message that stands for several.
func DigestBody(batch string) string { return "Batch ID: " + batch }

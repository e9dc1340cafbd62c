package escalation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// The texts of the timeline. Their readers may just have been woken at 3 a.m.

// String names a target in plain English: "demo", "everybody in team db", "manager of db".
func (t Target) String() string {
	name := t.name()
	switch strings.ToLower(t.Role) {
	case "user":
		return name
	case "team":
		return "team " + name
	case "mailing-list":
		return "mailing list " + name
	case oncall.RoleRoundRobin:
		return "one of team " + name + " in turn"
	case oncall.RoleNextOnCall:
		return "the next person on call of " + name
	default:
		return t.Role + " of " + name
	}
}

// vacancy says that nobody holds the on-call role of a target.
func (t Target) vacancy() string {
	if strings.EqualFold(t.Role, oncall.RoleNextOnCall) {
		return "nobody is next on call in the calendar of " + t.name()
	}
	return "nobody is on call for " + t.String()
}

func (t Target) name() string {
	if t.Name == "" {
		return fmt.Sprintf("target number %d", t.TargetID)
	}
	return t.Name
}

// Covers reports whether the tracking template has content for an application.
func (t Tracking) Covers(application string) bool {
	var contents map[string]json.RawMessage
	if json.Unmarshal(t.Template, &contents) != nil {
		return false
	}
	for name, content := range contents {
		if strings.EqualFold(name, application) && len(content) > 0 && !bytes.Equal(content, []byte("null")) {
			return true
		}
	}
	return false
}

// Entryf returns a line of a timeline. Its text is valid UTF-8 and at most 2,000 bytes long.
func Entryf(at time.Time, kind incidents.EntryKind, format string, args ...any) incidents.Entry {
	return incidents.Entry{At: at, Kind: kind, Text: clean(fmt.Sprintf(format, args...))}
}

// add appends a line to the timeline of the change.
func (b *changeBuilder) add(kind incidents.EntryKind, detail json.RawMessage, format string, args ...any) {
	entry := Entryf(b.due.ReadAt, kind, format, args...)
	entry.Detail = detail
	b.Entries = append(b.Entries, entry)
}

// maxText is the longest text of a timeline line, in bytes.
const maxText = 2000

// clean makes text valid for PostgreSQL and readable on a screen.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}

// late adds one line: the wait of a step begins although some of its messages are not settled.
func (b *changeBuilder) late(late []Late) {
	if len(late) == 0 {
		return
	}
	waiting := 0
	for _, l := range late {
		waiting += l.Unsettled
	}
	b.add(incidents.EntryLate, nil, "%s not delivered yet, escalating: %s not settled, the wait begins anyway",
		b.plan.StepName(late[0].Step), humanize.Count(waiting, "page is", "pages are"))
}

// lost adds a line for each notification whose pages all failed for good.
func (b *changeBuilder) lost(lost []Lost) {
	for _, l := range lost {
		b.add(incidents.EntrySkipped, nil,
			"%s: every page of notification %d failed for good; it is neither waited for nor repeated",
			b.plan.StepName(l.Step), l.Position+1)
	}
}

// delayed adds when step 1 begins.
func (b *changeBuilder) delayed(to time.Time) {
	if !to.IsZero() {
		b.add(incidents.EntryStep, nil, "step 1 begins at %s: plan %s waits %s first",
			to.UTC().Format(time.DateTime+" UTC"), b.plan.Name, humanize.Duration(b.plan.Delay))
	}
}

// leftOut adds a line for each step that is left out.
func (b *changeBuilder) leftOut(steps []int) {
	for _, step := range steps {
		b.add(incidents.EntrySkipped, nil, "%s is left out: it applies %s", b.plan.StepName(step),
			b.plan.Steps[step-1].When)
	}
}

// over adds why the plan ended.
func (b *changeBuilder) over(why Over) {
	switch why {
	case NoSteps:
		b.add(incidents.EntryExhausted, nil, "plan %s has no steps: escalation ends here", b.plan.Name)
	case BeyondPlan:
		b.add(incidents.EntryExhausted, nil,
			"the incident is at step %d, but plan %s has only %s: escalation ends here",
			b.Progress.Step, b.plan.Name, humanize.Count(len(b.plan.Steps), "step", "steps"))
	default:
		repeats := ""
		if b.plan.Repeat > 0 {
			repeats = ", " + humanize.Count(b.plan.Repeat, "repeat", "repeats") + " included,"
		}
		b.add(incidents.EntryExhausted, nil,
			"plan %s is exhausted: %s over%s and nobody acknowledged; nobody is paged any more",
			b.plan.Name, humanize.Count(b.plan.once, "step is", "steps are"), repeats)
	}
}

// logPages adds who is paged: one line for each step and kind of round.
func (b *changeBuilder) logPages(d Decision) {
	type lineKey struct {
		step   int
		repeat int
		again  bool
	}
	keys, lines := grouped(b.pages, func(p page) lineKey {
		return lineKey{p.round.Step, p.round.Repeat,
			p.round.Again}
	})
	for _, k := range keys {
		pages := lines[k]
		kind, how := incidents.EntryStep, "paging"
		switch {
		case k.again:
			how = "paging again after the reopening, because the earlier page did not arrive:"
		case k.repeat > 0:
			kind, how = incidents.EntryRepeat, fmt.Sprintf("repeat %d, paging", k.repeat)
		}
		b.add(kind, pageDetails(pages), "%s: %s %s", b.plan.StepName(k.step), how, sentence(pages))
	}
	if d.Reopened && len(b.pages) == 0 && len(d.Rounds) == 0 {
		b.add(incidents.EntryReopened, nil, "escalation continues at %s; messages that were sent before count",
			b.plan.StepName(b.Progress.Step))
	}
}

// sentence describes pages. It names the modes, priorities and rule for each set of people found by one rule: "demo by
// email, sms and slack (urgent, named in the plan)".
func sentence(pages []page) string {
	rules, groups := grouped(pages, func(p page) string { return p.rule })
	parts := make([]string, len(rules))
	for i, rule := range rules {
		var priorities []string
		for _, p := range users.Priorities {
			if slices.ContainsFunc(groups[rule], func(q page) bool { return q.priority == p }) {
				priorities = append(priorities, string(p))
			}
		}
		parts[i] = fmt.Sprintf("%s (%s, %s)", byMode(groups[rule]), list(priorities), rule)
	}
	return strings.Join(parts, "; ")
}

// grouped returns the values by their key, and the keys in the order in which they first occur.
func grouped[K comparable, V any](all []V, key func(V) K) (keys []K, groups map[K][]V) {
	groups = map[K][]V{}
	for _, v := range all {
		k := key(v)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], v)
	}
	return keys, groups
}

// byMode lists people by their modes: "ana and bo by sms, cy by email because there is no call contact".
func byMode(pages []page) string {
	people, pagesOf := grouped(pages, nameOf)
	order, who := grouped(people, func(name string) string {
		modes, _ := grouped(pagesOf[name], modeText)
		return list(modes)
	})
	parts := make([]string, len(order))
	for i, modes := range order {
		parts[i] = list(who[modes]) + " by " + modes
	}
	return strings.Join(parts, ", ")
}

// modeText names the mode of a page, and why it is not the wanted one.
func modeText(p page) string {
	mode := string(p.choice.Mode)
	if p.choice.Mode == users.Drop {
		mode = "drop, which discards it"
	}
	if p.choice.Changed() {
		mode += " because " + p.choice.Missing
	}
	if len(p.followUps) > 0 {
		mode += " (then " + followUpText(p.followUps) + ")"
	}
	return mode
}

func nameOf(p page) string { return p.responder.Name }

func names(pages []page) string {
	out, _ := grouped(pages, nameOf)
	return list(out)
}

// list joins texts: "a", "a and b", "a, b and c".
func list(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " and " + texts[len(texts)-1]
}

func afterAll(tried []string) string {
	if len(tried) == 0 {
		return ""
	}
	return "; tried before: " + strings.Join(tried, "; ")
}

// pageDetail is the machine-readable form of a page on the timeline.
type pageDetail struct {
	Step     int            `json:"step"`
	Position int            `json:"position"`
	Repeat   int            `json:"repeat"`
	Target   string         `json:"target"`
	Rule     string         `json:"rule,omitempty"`
	Priority users.Priority `json:"priority"`
	Mode     users.Mode     `json:"mode"`
	Wanted   users.Mode     `json:"wanted_mode,omitempty"`
	ModeRule string         `json:"mode_rule"`

	FollowUps []followUpDetail `json:"follow_ups,omitempty"`
}

func pageDetails(pages []page) json.RawMessage {
	details := make([]pageDetail, len(pages))
	for i, p := range pages {
		details[i] = pageDetail{
			Step: p.round.Step, Position: p.round.Position, Repeat: p.round.Repeat, Target: p.responder.Name, Rule: p.rule,
			Priority: p.priority, Mode: p.choice.Mode, ModeRule: p.choice.Rule, FollowUps: followUpDetails(p.followUps),
		}
		if p.choice.Changed() {
			details[i].Wanted = p.choice.Wanted
		}
	}
	raw, err := json.Marshal(map[string]any{"pages": details})
	if err != nil {
		return nil
	}
	return raw
}

// maxCause is how much of an error text a timeline line holds, in bytes.
const maxCause = 300

// FailureEntry says that an incident could not be escalated because of cause, and how often in a row.
func FailureEntry(cause error, failures int, pause time.Duration) incidents.Entry {
	text := cause.Error()
	if len(text) > maxCause {
		text = strings.ToValidUTF8(text[:maxCause], "") + "..."
	}
	return Entryf(time.Time{}, incidents.EntryFailure, "escalation failed (%s so far), trying again in %s: %s",
		humanize.Count(failures, "time", "times"), pause.Round(time.Second), text)
}

// CancelledEntry says that n messages were cancelled because the incident is no longer escalating.
func CancelledEntry(n int, at time.Time) incidents.Entry {
	return Entryf(at, incidents.EntryCancelled, "%s",
		humanize.Count(n, "page that was not sent yet was cancelled", "pages that were not sent yet were cancelled"))
}

// HeldEntry says that a page waits for a digest because there were too many.
func HeldEntry(target string, a Aggregation, at time.Time) incidents.Entry {
	return Entryf(at, incidents.EntryHeld,
		"page to %s held: more than %s of this plan and priority within %s; it is sent in a digest within %s",
		target, humanize.Count(a.Threshold, "page", "pages"), humanize.Duration(a.Window), humanize.Duration(a.Every))
}

// DigestEntry says that a page is sent together with others.
func DigestEntry(target string, n int, mode users.Mode, batch string, at time.Time) incidents.Entry {
	return Entryf(at, incidents.EntryHeld, "notifying %s by %s of %s in one digest (batch %s)",
		target, mode, humanize.Count(n, "page", "pages"), batch)
}

// ReleasedEntry says that a held page is sent alone.
func ReleasedEntry(target string, mode users.Mode, at time.Time) incidents.Entry {
	return Entryf(at, incidents.EntryHeld, "the held page to %s is sent by %s alone: no others came", target, mode)
}

// RuledEntry says that a page is sent in another mode because of its recipient's rule.
func RuledEntry(target string, to, from users.Mode, at time.Time) incidents.Entry {
	return Entryf(at, incidents.EntryLimited,
		"paging %s by %s instead of %s: too many by %s recently, by their own rule", target, to, from, from)
}

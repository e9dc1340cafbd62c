package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// builtIn is shown instead of a template for a notification without one.
const builtIn = "none (built-in text)"

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// lineStep is a step on the drawn time line.
type lineStep struct {
	Number int
	After  string // when it begins, if nobody acknowledges
	When   string // when it applies; "" = always
	Rows   []lineRow
}

// lineRow is a notification on the time line.
type lineRow struct {
	Who, Name, Priority, Template, Repeat, Wait string
	Optional                                    bool
}

// line returns a plan as the time line shows it. delay is the time before step 1.
func line(p plan, delay time.Duration) []lineStep {
	steps := make([]lineStep, len(p.Steps))
	at := delay
	for i, s := range p.Steps {
		steps[i] = lineStep{Number: i + 1, After: "+" + humanize.Duration(at), When: p.when(i + 1)}
		var length time.Duration
		for _, n := range s {
			steps[i].Rows = append(steps[i].Rows, lineOf(n))
			length = max(length, seconds(n.WaitSeconds)*time.Duration(n.Repeat+1))
		}
		at += length
	}
	return steps
}

func lineOf(n catalog.Notification) lineRow {
	row := lineRow{Priority: string(n.Priority), Template: string(n.Template), Optional: n.Optional}
	switch {
	case n.DynamicIndex != nil:
		row.Who = fmt.Sprintf("target number %d of the incident", *n.DynamicIndex)
	case n.Target != nil:
		row.Who, row.Name = roleText(n.Target.Role), n.Target.Name
	}
	if n.Repeat > 0 {
		row.Repeat = fmt.Sprintf("again after %s, %s", humanize.Duration(seconds(n.WaitSeconds)), timesText(n.Repeat))
	}
	if n.WaitSeconds > 0 {
		row.Wait = "then wait " + humanize.Duration(seconds(n.WaitSeconds))
	}
	return row
}

// roleText returns the words in front of the name of a target.
func roleText(role string) string {
	switch role {
	case "user", "team", "mailing-list", "manager":
		return role
	}
	return role + " of"
}

func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// when describes the condition of a step; "" = it always applies.
func (p plan) when(step int) string {
	for _, c := range p.Conditions {
		if c.Step != step {
			continue
		}
		var windows []string
		for _, w := range c.Windows {
			days := "every day"
			if len(w.Days) > 0 {
				days = strings.Join(w.Days, ", ")
			}
			windows = append(windows, fmt.Sprintf("%s %s to %s", days, w.From, w.To))
		}
		zone := string(c.Zone)
		if c.Team != "" {
			zone = "time of team " + string(c.Team)
		}
		return strings.Join(windows, "; ") + " (" + zone + ")"
	}
	return ""
}

// facts describes the settings of the plan that are not those of its steps.
func (p plan) facts(s escalation.Settings) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if p.Tracking != nil {
		add("Before step 1, a message goes to %s by %s.", p.Tracking.Destination, p.Tracking.Mode)
	}
	if s.Delay > 0 {
		add("Step 1 begins %s after the incident was opened.", humanize.Duration(s.Delay))
	}
	if s.Repeat > 0 {
		add("After the last step, the steps are repeated %s.", timesText(s.Repeat))
	}
	if s.WaitForOnCall {
		add("A page to an on-call role that nobody holds waits until somebody does.")
	}
	if s.RepageAfter > 0 {
		add("A repeated alert restarts the plan %s after it was exhausted.", humanize.Duration(s.RepageAfter))
	}
	if s.AcknowledgementTimeout > 0 {
		add("An acknowledgement ends after %s; then the plan begins again.",
			humanize.Duration(s.AcknowledgementTimeout))
	}
	if s.NotifyOwner != "" {
		add("The owner of an acknowledged incident gets news by %s.", s.NotifyOwner)
	}
	for _, mode := range slices.Sorted(maps.Keys(s.ResolvedNotice)) {
		if s.ResolvedNotice[mode] {
			add("A resolve is announced by %s to people who were paged by %s.", mode, mode)
		} else {
			add("A resolve is not announced by %s.", mode)
		}
	}
	if f := p.Flood; f.Count > 0 && f.WindowSeconds > 0 && f.DigestSeconds > 0 {
		add("If one person gets more than %d pages within %s, further pages are held and sent together every %s. This ends after %s without a page.",
			f.Count, humanize.Duration(seconds(f.WindowSeconds)), humanize.Duration(seconds(f.DigestSeconds)), humanize.Duration(seconds(f.UntilQuietSeconds)))
	}
	if p.Fallback != nil {
		add("A person who cannot be reached is replaced by %s %s.", roleText(p.Fallback.Role), p.Fallback.Name)
	} else {
		add("A person who cannot be reached is replaced by the fallback of the application, or else by %s, who wrote the plan.", p.Creator)
	}
	return out
}

// Text returns the content of a version as lines that people can compare.
func (p plan) Text() string {
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	write("description: %s", p.Description)
	for i, s := range line(p, 0) {
		write("step %d%s", i+1, map[bool]string{true: ", only " + s.When}[s.When != ""])
		for _, n := range s.Rows {
			parts := []string{strings.TrimSpace("page " + n.Who + " " + n.Name), "priority " + n.Priority,
				"template " + cmp.Or(n.Template, builtIn)}
			for _, more := range []string{n.Repeat, n.Wait} {
				if more != "" {
					parts = append(parts, more)
				}
			}
			if n.Optional {
				parts = append(parts, "optional")
			}
			write("  %s", strings.Join(parts, ", "))
		}
	}
	f := p.Flood
	write("flood: more than %d pages within %s, digests every %s, ends after %s", f.Count,
		humanize.Duration(seconds(f.WindowSeconds)),
		humanize.Duration(seconds(f.DigestSeconds)), humanize.Duration(seconds(f.UntilQuietSeconds)))
	if t := p.Tracking; t != nil {
		write("tracking: %s by %s", t.Destination, t.Mode)
		write("tracking texts: %s", t.Templates)
	}
	return b.String()
}

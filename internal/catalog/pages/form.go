package pages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// form is a plan as it was typed. The names of its fields are the paths of the same members of catalog.PlanContent, so
// that a refusal names a field.
type form struct {
	Plan    string // the plan whose new version it is; "" = a new plan
	Base    string // the version that was read
	values  url.Values
	Steps   []stepForm
	Targets []targetField
}

// targetField is the field of a dynamic target of the preview.
type targetField struct {
	Number int
	Value  string
}

type stepForm struct {
	Index       int
	Number      int    // from 1
	After       string // when it begins, if nobody acknowledges
	Only        bool   // the step has a condition
	Team        string
	Zone        string
	Windows     []windowForm
	Rows        []rowForm
	First, Last bool
}

// Place returns the name of the fields of the step.
func (s stepForm) Place() string { return fmt.Sprintf("steps[%d]", s.Index) }

type windowForm struct {
	Index, Step int
	Days        map[string]bool
	From, To    string
}

// Place returns the name of the fields of the window.
func (w windowForm) Place() string { return fmt.Sprintf("steps[%d].windows[%d]", w.Step, w.Index) }

type rowForm struct {
	Index, Step                    int
	Role, Name, Priority, Template string
	Dynamic                        string
	Wait, Repeat                   string
	Optional                       bool
}

// Place returns the name of the fields of the notification.
func (n rowForm) Place() string { return fmt.Sprintf("steps[%d][%d]", n.Step, n.Index) }

// dynamicRole is the role of a target that the incident names.
const dynamicRole = "incident"

// Value returns a typed value of a field that belongs to no step.
func (f form) Value(name string) string { return f.values.Get(name) }

// maxFields is how many fields a form may have: net/url reads no more. /v1 takes plans of 2,000 notifications, which
// need more.
const maxFields = 10_000

// fits reports whether a form can hold all steps of the plan. A notification has at most 9 fields, a step 4, hours 9,
// and the rest 100.
func (f form) fits() bool {
	fields := 100
	for _, s := range f.Steps {
		fields += 4 + 9*len(s.Rows) + 9*len(s.Windows)
	}
	return fields <= maxFields
}

// most bounds the numbers in the names of fields.
const most = 2000

var stepField = regexp.MustCompile(`^steps\[(\d{1,4})\](?:\[(\d{1,4})\]|\.windows\[(\d{1,4})\])?`)

// typed reads a form.
func typed(v url.Values) form {
	f := form{Base: v.Get("base"), values: v}
	counts := map[int]*[2]int{}
	last := -1
	for name := range v {
		m := stepField.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		step, _ := strconv.Atoi(m[1])
		if step >= most {
			continue
		}
		last = max(last, step)
		if counts[step] == nil {
			counts[step] = &[2]int{}
		}
		for i, text := range m[2:] {
			if n, err := strconv.Atoi(text); err == nil && n < most {
				counts[step][i] = max(counts[step][i], n+1)
			}
		}
	}
	for i := range last + 1 {
		s := stepForm{Index: i}
		s.Only, s.Team, s.Zone = v.Get(s.Place()+".when") == "hours", v.Get(s.Place()+".team"), v.Get(s.Place()+".zone")
		n := counts[i]
		if n == nil {
			n = &[2]int{}
		}
		for j := range n[0] {
			s.Rows = append(s.Rows, typedRow(v, rowForm{Step: i, Index: j}))
		}
		for j := range n[1] {
			w := windowForm{Step: i, Index: j, Days: map[string]bool{}}
			for _, day := range v[w.Place()+".days"] {
				w.Days[day] = true
			}
			w.From, w.To = v.Get(w.Place()+".from"), v.Get(w.Place()+".to")
			s.Windows = append(s.Windows, w)
		}
		f.Steps = append(f.Steps, s)
	}
	return f.numbered()
}

func typedRow(v url.Values, n rowForm) rowForm {
	get := func(name string) string { return v.Get(n.Place() + "." + name) }
	n.Role, n.Name, n.Priority, n.Template = get("target.role"), get("target.name"), get("priority"), get("template")
	n.Dynamic, n.Wait, n.Repeat, n.Optional = get("dynamic_index"), get("wait_seconds"), get("repeat"), get("optional") == "true"
	return n
}

// numbered gives steps, notifications and windows their numbers, after some were added, moved or removed.
func (f form) numbered() form {
	dynamic, read := 0, &reader{}
	at := read.period("", f.values.Get("delay_seconds"))
	for i := range f.Steps {
		s := &f.Steps[i]
		s.After = "+" + humanize.Duration(seconds(at))
		var length int64
		s.Index, s.Number, s.First, s.Last = i, i+1, i == 0, i == len(f.Steps)-1
		for j := range s.Rows {
			row := &s.Rows[j]
			row.Step, row.Index = i, j
			length = max(length, read.period("", row.Wait)*int64(read.number("", row.Repeat)+1))
			if n, err := strconv.Atoi(row.Dynamic); row.Role == dynamicRole && err == nil && n < most {
				dynamic = max(dynamic, n+1)
			}
		}
		at += length
		for j := range s.Windows {
			s.Windows[j].Step, s.Windows[j].Index = i, j
		}
	}
	f.Targets = nil
	for i := range dynamic {
		t := targetField{Number: i}
		if given := f.values["targets"]; i < len(given) {
			t.Value = given[i]
		}
		f.Targets = append(f.Targets, t)
	}
	return f
}

// standardRow is a new notification. It copies the choices of the notification before.
func (f form) standardRow() rowForm {
	n := rowForm{Role: "oncall-primary", Priority: string(users.High), Wait: "5m"}
	for _, s := range f.Steps {
		for _, row := range s.Rows {
			n.Template, n.Role, n.Priority = row.Template, row.Role, row.Priority
		}
	}
	return n
}

// change carries out the button of a form that adds, moves or removes a part. what is such as "add-step" or
// "remove:1:0".
func (f form) change(what string) form {
	verb, place, _ := strings.Cut(what, ":")
	first, second, _ := strings.Cut(place, ":")
	i, errI := strconv.Atoi(first)
	j, errJ := strconv.Atoi(second)
	if strings.HasPrefix(verb, "add") && !f.fits() {
		return f.numbered()
	}
	if verb == "add-step" {
		f.Steps = append(f.Steps, stepForm{Rows: []rowForm{f.standardRow()}})
	}
	if errI != nil || i < 0 || i >= len(f.Steps) {
		return f.numbered()
	}
	s := &f.Steps[i]
	switch verb {
	case "add":
		s.Rows = append(s.Rows, f.standardRow())
	case "add-window":
		if s.Only = true; len(s.Windows) < 20 {
			s.Windows = append(s.Windows, windowForm{Days: map[string]bool{}, From: "09:00", To: "17:00"})
		}
	case "up", "down":
		to := i + map[string]int{"up": -1, "down": 1}[verb]
		if to >= 0 && to < len(f.Steps) {
			f.Steps[i], f.Steps[to] = f.Steps[to], f.Steps[i]
		}
	case "remove":
		switch {
		case second == "":
			f.Steps = slices.Delete(f.Steps, i, i+1)
		case errJ == nil && j >= 0 && j < len(s.Rows):
			s.Rows = slices.Delete(s.Rows, j, j+1)
		}
	case "remove-window":
		if errJ == nil && j >= 0 && j < len(s.Windows) {
			s.Windows = slices.Delete(s.Windows, j, j+1)
		}
	}
	return f.numbered()
}

// common has the values that all versions of a plan share.
type common struct {
	Settings escalation.SettingsPatch `json:"settings"`
	Fallback *catalog.Target          `json:"fallback"`
}

// formOf returns the form with the content of a plan.
func formOf(p plan, patch escalation.SettingsPatch) form {
	v, s := url.Values{}, patch.Settings()
	set := func(name, value string) { v.Set(name, value) }
	set("name", p.Name)
	set("team", string(p.Team))
	set("description", p.Description)
	set("flood.threshold_count", number(p.Flood.Count))
	set("flood.threshold_window_seconds", period(p.Flood.WindowSeconds))
	set("flood.aggregation_window_seconds", period(p.Flood.DigestSeconds))
	set("flood.aggregation_reset_seconds", period(p.Flood.UntilQuietSeconds))
	set("repeat", number(s.Repeat))
	set("delay_seconds", period(int64(s.Delay/time.Second)))
	set("repage_after_seconds", period(int64(s.RepageAfter/time.Second)))
	set("acknowledgement_timeout_seconds", period(int64(s.AcknowledgementTimeout/time.Second)))
	set("wait_for_on_call", strconv.FormatBool(s.WaitForOnCall))
	set("notify_owner", string(s.NotifyOwner))
	for mode, on := range s.ResolvedNotice {
		set("resolved_notice."+string(mode), strconv.FormatBool(on))
	}
	if p.Fallback != nil {
		set("fallback.role", p.Fallback.Role)
		set("fallback.name", p.Fallback.Name)
	}
	if t := p.Tracking; t != nil {
		set("tracking.mode", t.Mode)
		set("tracking.destination", t.Destination)
		set("tracking.templates", string(t.Templates))
	}
	opened, _ := json.Marshal(common{patch, p.Fallback}) // both were read from JSON
	set("opened", string(opened))
	f := form{values: v, Base: p.Tag()}
	for i, step := range p.Steps {
		s := stepForm{}
		for _, n := range step {
			s.Rows = append(s.Rows, rowOf(n))
		}
		for _, c := range p.Conditions {
			if c.Step != i+1 {
				continue
			}
			if s.Only, s.Team = true, string(c.Team); c.Team == "" {
				s.Zone = string(c.Zone)
			}
			for _, w := range c.Windows {
				typed := windowForm{Days: map[string]bool{}, From: string(w.From), To: string(w.To)}
				for _, d := range w.Days {
					typed.Days[d] = true
				}
				s.Windows = append(s.Windows, typed)
			}
		}
		f.Steps = append(f.Steps, s)
	}
	return f.numbered()
}

func rowOf(n catalog.Notification) rowForm {
	row := rowForm{Priority: string(n.Priority), Template: string(n.Template), Wait: period(n.WaitSeconds),
		Repeat: number(n.Repeat), Optional: n.Optional}
	if n.DynamicIndex != nil {
		row.Role, row.Dynamic = dynamicRole, strconv.Itoa(*n.DynamicIndex)
	} else if n.Target != nil {
		row.Role, row.Name = n.Target.Role, n.Target.Name
	}
	return row
}

// number shows a number; 0 is an empty field.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// period shows seconds as people type them, such as 1h30m; 0 is an empty field.
func period(n int64) string {
	if n == 0 {
		return ""
	}
	return page.Period(n)
}

// reader reads typed values and keeps the first problem.
type reader struct{ problem page.Refusal }

func (r *reader) wrong(field, format string, args ...any) {
	if r.problem.Text == "" {
		r.problem = page.Refusal{Status: 400, Field: field, Text: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) period(field, text string) int64 {
	n, err := page.Seconds(field, text)
	if err != nil {
		r.wrong(field, "%s", fault.Public(err))
	}
	return n
}

func (r *reader) number(field, text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		r.wrong(field, "%.40q is not a whole number", text)
	}
	return n
}

// content returns what the version brings.
func (f form) content(r *reader) catalog.PlanContent {
	c := catalog.PlanContent{Description: operation.Text(f.Value("description"))}
	c.Steps = make([][]catalog.Notification, len(f.Steps))
	for i, s := range f.Steps {
		c.Steps[i] = []catalog.Notification{}
		for _, row := range s.Rows {
			c.Steps[i] = append(c.Steps[i], row.content(r))
		}
		if len(c.Steps[i]) == 0 {
			r.wrong(s.Place(), "step %d pages nobody: add a notification or remove the step", s.Number)
		}
		if s.Only {
			when := catalog.Condition{Step: i + 1, Team: operation.Text(s.Team), Zone: operation.Text(s.Zone)}
			for _, w := range s.Windows {
				out := catalog.Window{From: operation.Text(w.From), To: operation.Text(w.To)}
				for _, d := range weekdays {
					if w.Days[d] {
						out.Days = append(out.Days, d)
					}
				}
				when.Windows = append(when.Windows, out)
			}
			if len(when.Windows) == 0 {
				r.wrong(s.Place()+".when", "step %d has no hours: add some, or let it apply always", s.Number)
			}
			c.Conditions = append(c.Conditions, when)
		}
	}
	c.Flood = catalog.Flood{
		Count:             r.number("flood.threshold_count", f.Value("flood.threshold_count")),
		WindowSeconds:     r.period("flood.threshold_window_seconds", f.Value("flood.threshold_window_seconds")),
		DigestSeconds:     r.period("flood.aggregation_window_seconds", f.Value("flood.aggregation_window_seconds")),
		UntilQuietSeconds: r.period("flood.aggregation_reset_seconds", f.Value("flood.aggregation_reset_seconds")),
	}
	if mode := f.Value("tracking.mode"); mode != "" {
		c.Tracking = &catalog.Tracking{Mode: mode, Destination: f.Value("tracking.destination"),
			Templates: json.RawMessage(cmp.Or(f.Value("tracking.templates"), "{}"))}
		if !json.Valid(c.Tracking.Templates) {
			r.wrong("tracking.templates", "the texts of the tracking message are not JSON")
			c.Tracking.Templates = json.RawMessage("{}")
		}
	}
	return c
}

var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

func (n rowForm) content(r *reader) catalog.Notification {
	out := catalog.Notification{Priority: users.Priority(n.Priority), Template: operation.Text(n.Template),
		WaitSeconds: r.period(n.Place()+".wait_seconds", n.Wait),
		Repeat:      r.number(n.Place()+".repeat", n.Repeat), Optional: n.Optional}
	if n.Role == dynamicRole {
		index := r.number(n.Place()+".dynamic_index", n.Dynamic)
		out.DynamicIndex = &index
		return out
	}
	if n.Name == "" {
		r.wrong(n.Place()+".target.name", "step %d needs the name of a person, team or list to page", n.Step+1)
	}
	out.Target = &catalog.Target{Role: n.Role, Name: n.Name}
	return out
}

// settings returns the typed settings.
func (f form) settings(r *reader) escalation.SettingsPatch {
	s := escalation.Settings{Repeat: r.number("repeat", f.Value("repeat")),
		Delay:         seconds(r.period("delay_seconds", f.Value("delay_seconds"))),
		WaitForOnCall: f.Value("wait_for_on_call") == "true", RepageAfter: seconds(r.period("repage_after_seconds",
			f.Value("repage_after_seconds"))),
		AcknowledgementTimeout: seconds(r.period("acknowledgement_timeout_seconds",
			f.Value("acknowledgement_timeout_seconds"))),
		NotifyOwner: users.Mode(f.Value("notify_owner")), ResolvedNotice: map[users.Mode]bool{}}
	for _, m := range users.Modes {
		if text := f.Value("resolved_notice." + string(m)); text != "" {
			s.ResolvedNotice[m] = text == "true"
		}
	}
	return s.Patch()
}

// opened returns the settings and the fallback as they were when the form was opened; now, if the form does not have
// them.
func (f form) opened(now common) common {
	var c common
	if json.Unmarshal([]byte(f.Value("opened")), &c) != nil {
		return now
	}
	return c
}

// over returns the settings now, in which the members of s that differ from opened replace the stored ones.
func over(s, opened, now escalation.SettingsPatch) escalation.SettingsPatch {
	to := reflect.ValueOf(&now).Elem()
	for i := range to.NumField() {
		if typed := reflect.ValueOf(s).Field(i); !reflect.DeepEqual(typed.Interface(), reflect.ValueOf(opened).Field(i).Interface()) {
			to.Field(i).Set(typed)
		}
	}
	return now
}

// fallback returns the typed fallback; nil = none.
func (f form) fallback(r *reader) *catalog.Target {
	t := catalog.Target{Role: f.Value("fallback.role"), Name: f.Value("fallback.name")}
	if t.Name == "" {
		return nil
	}
	if t.Role == "" {
		r.wrong("fallback.role", "choose the role of the fallback")
	}
	return &t
}

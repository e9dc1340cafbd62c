package pages

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
)

// ruleRow is a rule as it is typed. N is its number, from 1.
type ruleRow struct {
	N               int
	Match, To, Plan string // To is plan or record
	Targets, Times  string // one per line
	// The threshold: a number of events, a time such as 5m, and labels.
	After, AfterTime, CountBy string
	GroupBy, GroupTime        string // labels, and a time such as 5m
	Matches                   bool   // it is the rule of the tested event
	First, Last               bool
}

// What a rule does with an event.
const (
	toPlan   = "plan"
	toRecord = "record"
)

// Name is the name of a field of the rule.
func (r ruleRow) Name(field string) string { return field + "." + strconv.Itoa(r.N) }

func rowOf(rule intake.Rule) ruleRow {
	row := ruleRow{Match: rule.Match, To: toPlan, Plan: rule.Plan, CountBy: strings.Join(rule.CountBy, ", "),
		GroupBy: strings.Join(rule.GroupBy, ", ")}
	if rule.GroupSeconds > 0 {
		row.GroupTime = page.Period(int64(rule.GroupSeconds))
	}
	if rule.AfterEvents > 0 {
		row.After, row.AfterTime = strconv.Itoa(rule.AfterEvents), page.Period(int64(rule.AfterSeconds))
	}
	if rule.RecordOnly {
		row.To = toRecord
	}
	for _, t := range rule.Targets {
		row.Targets += t.String() + "\n"
	}
	for _, w := range rule.Times {
		row.Times += windowText(w) + "\n"
	}
	return row
}

// windowText is the text that window reads: "mon tue 18:00-08:00 Europe/Berlin".
func windowText(w hours.Window) string {
	parts := slices.Clone(w.Days)
	if w.From != "" || w.To != "" {
		from, to := w.From, w.To
		if from == "" {
			from = "00:00"
		}
		if to == "" {
			to = "24:00"
		}
		parts = append(parts, from+"-"+to)
	}
	if w.Zone != "" {
		parts = append(parts, w.Zone)
	}
	return strings.Join(parts, " ")
}

var (
	dayName  = regexp.MustCompile(`(?i)^(mon|tue|wed|thu|fri|sat|sun)$`)
	timeSpan = regexp.MustCompile(`^(\d\d?:\d\d)-(\d\d?:\d\d)$`)
)

// window reads days, a span and a zone, each of them optional. zone is the zone of a text without one.
func window(text, zone string) (w hours.Window, err error) {
	w.Zone = zone
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		if m := timeSpan.FindStringSubmatch(word); m != nil {
			w.From, w.To = padded(m[1]), padded(m[2])
			continue
		}
		if dayName.MatchString(word) {
			w.Days = append(w.Days, word)
			continue
		}
		if _, err := time.LoadLocation(word); err != nil || word == "Local" {
			return w, fault.Newf(fault.Invalid,
				"%.40q is no day, span or time zone: write for example mon tue 18:00-08:00 Europe/Berlin", word)
		}
		w.Zone = word
	}
	return w, w.Check()
}

func padded(at string) string {
	if len(at) == 4 {
		return "0" + at
	}
	return at
}

// rule reads a typed rule. An Invalid fault names the field.
func (r ruleRow) rule(zone string) (intake.Rule, error) {
	out := intake.Rule{Match: r.Match, RecordOnly: r.To == toRecord}
	if !out.RecordOnly {
		out.Plan = r.Plan
	}
	for _, line := range lines(r.Targets) {
		role, name, _ := strings.Cut(line, " ")
		out.Targets = append(out.Targets, intake.Target{Role: role, Name: strings.TrimSpace(name)})
	}
	for _, line := range lines(r.Times) {
		w, err := window(line, zone)
		if err != nil {
			return out, fault.Invalidf(r.Name("times"), "rule %d: %s", r.N, fault.Public(err))
		}
		out.Times = append(out.Times, w)
	}
	group, err := page.Seconds(r.Name("group_seconds"), r.GroupTime)
	if err != nil {
		return out, err
	}
	out.Grouping = intake.Grouping{GroupBy: labelNames(r.GroupBy), GroupSeconds: int(group)}
	out.Threshold, err = r.threshold()
	return out, err
}

// labelNames reads names of labels between commas.
func labelNames(text string) (names []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// threshold reads a typed threshold. An Invalid fault names the field.
func (r ruleRow) threshold() (t intake.Threshold, err error) {
	t.CountBy = labelNames(r.CountBy)
	in, err := page.Seconds(r.Name("after_seconds"), r.AfterTime)
	if err != nil {
		return t, err
	}
	t.AfterSeconds = int(in)
	if r.After == "" {
		return t, nil
	}
	if t.AfterEvents, err = strconv.Atoi(r.After); err != nil {
		return t, fault.Invalidf(r.Name("after_events"), "rule %d: %.20q is no number of events", r.N, r.After)
	}
	return t, nil
}

type rulesView struct {
	page.Frame
	I        integration
	ETag     string
	Changed  bool // the form has changes that are not stored
	Refusal  page.Refusal
	Rows     []ruleRow
	Plans    []string // suggestions
	To       []page.Option
	Zone     string
	Payloads []payload
	// What is tested: a stored delivery by number, the pasted one, or the labels.
	Source          string
	Sources         []page.Option
	Payload, Labels string
	EventTitle      string
	EventSeverity   string
	Severities      []page.Option
	Tried           *tried
}

// Parts selects the elements that a test replaces besides its result. It keeps the fields, so that nothing typed
// meanwhile is lost.
func (v rulesView) Parts() string {
	parts := "#rules-state"
	for _, row := range v.Rows {
		parts += fmt.Sprintf(",#match-%d", row.N)
	}
	return parts
}

// rules shows the rules, and with ?stored= which rule matches a stored delivery.
func (h Handlers) rules(rw http.ResponseWriter, r *http.Request) {
	v := rulesView{Source: r.URL.Query().Get("stored")}
	var err error
	if v.I, err = h.editable(r); err == nil {
		v.ETag = page.ETag(v.I)
		for _, rule := range v.I.Rules {
			v.Rows = append(v.Rows, rowOf(rule))
		}
		err = h.fillRules(r, &v)
	}
	if err == nil && number(v.Source) > 0 {
		err = h.test(r, &v)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.showRules(rw, r, v)
}

// fillRules reads what the page needs besides the rules.
func (h Handlers) fillRules(r *http.Request, v *rulesView) (err error) {
	v.Payloads, err = h.payloads(r, v.I)
	v.Plans = pagescatalog.PlanNames(r, h.Plans)
	for _, p := range v.Payloads {
		v.Sources = append(v.Sources, page.Option{Value: strconv.Itoa(p.N),
			Label: fmt.Sprintf("delivery %d: %s, %s", p.N, at(p.At).In(page.Zone(r)).Format("2 Jan 15:04"), p.Outcome)})
	}
	v.Sources = append(v.Sources, page.Option{Value: "labels", Label: "the labels below"},
		page.Option{Value: "payload", Label: "the payload below"})
	if v.Source == "" {
		v.Source = v.Sources[0].Value
	}
	return err
}

func (h Handlers) showRules(rw http.ResponseWriter, r *http.Request, v rulesView) {
	v.Zone = page.Zone(r).String()
	v.To = []page.Option{{Value: toPlan, Label: "open an incident on a plan"},
		{Value: toRecord, Label: "only record it: no incident"}}
	v.Severities = severities("none")
	for k := range v.Rows {
		row := &v.Rows[k]
		row.N, row.First, row.Last = k+1, k == 0, k == len(v.Rows)-1
		row.Matches = v.Tried != nil && slices.ContainsFunc(v.Tried.Events,
			func(e integrations.Previewed) bool { return e.Route != nil && e.Route.Rule == k+1 })
	}
	v.Frame = h.Pages.Frame(r, "Rules of "+v.I.Name, "integrations")
	status := max(v.Refusal.Status, http.StatusOK)
	if page.IsRefresh(r) { // the script shows the answer only if it is no error
		status = http.StatusOK
	}
	h.Pages.Render(rw, r, status, "integration-rules", v)
}

// maxRows is more than the rules that an integration can have.
const maxRows = 250

// typedRules returns the typed rules and test.
func typedRules(r *http.Request) rulesView {
	form := page.Typed(r)
	v := rulesView{ETag: form.Get("etag"), Source: form.Get("source"), Payload: r.PostFormValue("payload"),
		Labels:     r.PostFormValue("labels"),
		EventTitle: form.Get("title"), EventSeverity: form.Get("severity"), Changed: form.Get("changed") != ""}
	for n := 1; n <= maxRows; n++ {
		row := ruleRow{N: n}
		if !form.Has(row.Name("to")) {
			break
		}
		row.Match, row.To, row.Plan = form.Get(row.Name("match")), form.Get(row.Name("to")), form.Get(row.Name("plan"))
		row.After, row.AfterTime = form.Get(row.Name("after_events")), form.Get(row.Name("after_seconds"))
		row.CountBy = form.Get(row.Name("count_by"))
		row.GroupBy, row.GroupTime = form.Get(row.Name("group_by")), form.Get(row.Name("group_seconds"))
		row.Targets, row.Times = r.PostFormValue(row.Name("targets")), r.PostFormValue(row.Name("times"))
		v.Rows = append(v.Rows, row)
	}
	return v
}

// edit does one step in the form: add, up.N, down.N or remove.N. Other steps change nothing, and edit returns false.
func (v *rulesView) edit(step string) bool {
	what, text, _ := strings.Cut(step, ".")
	n := number(text)
	there := n > 0 && n <= len(v.Rows)
	switch {
	case what == "add":
		v.Rows = append(v.Rows, ruleRow{To: toPlan})
	case what == "up" && there && n > 1:
		v.Rows[n-2], v.Rows[n-1] = v.Rows[n-1], v.Rows[n-2]
	case what == "down" && there && n < len(v.Rows):
		v.Rows[n-1], v.Rows[n] = v.Rows[n], v.Rows[n-1]
	case what == "remove" && there:
		v.Rows = slices.Delete(v.Rows, n-1, n)
	default:
		return false
	}
	v.Changed = true
	return true
}

// changeRules does a step in the form, tests the typed rules, or stores them.
func (h Handlers) changeRules(rw http.ResponseWriter, r *http.Request) {
	v := typedRules(r)
	var err error
	if v.I, err = h.editable(r); err == nil {
		err = h.fillRules(r, &v)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	do := page.Typed(r).Get("do")
	if v.edit(do) {
		h.showRules(rw, r, v)
		return
	}
	v.I.Rules, err = v.typedContent(page.Zone(r).String())
	switch {
	case err != nil:
	case do == "test":
		if err = h.test(r, &v); err == nil {
			v.Changed = true
			h.showRules(rw, r, v)
			return
		}
	case do != "save":
		err = fault.Invalidf("do", "There is no step %.40q of this form", do)
	default:
		_, err = h.Integrations.Replace.Do(r.Context(), page.Actor(r),
			integrations.Edit{One: oneOf(r), State: operation.State{IfMatch: v.ETag}, Body: v.I.content()})
	}
	h.Pages.Finish(rw, r, "The rules are stored. They hold for the next delivery.", v.I.Href()+"/rules", err, func(refusal page.Refusal) {
		if refusal.Field == "rules" {
			refusal.Field = fieldOf(refusal.Text)
		}
		v.Refusal, v.Changed, v.ETag = refusal, true, refusal.Tag(v.ETag, page.ETag(v.I))
		h.showRules(rw, r, v)
	})
}

// typedContent returns the typed rules; never nil, because rules that are not given are the stored ones.
func (v *rulesView) typedContent(zone string) ([]intake.Rule, error) {
	out := []intake.Rule{}
	for _, row := range v.Rows {
		rule, err := row.rule(zone)
		if err != nil {
			return nil, err
		}
		out = append(out, rule)
	}
	return out, nil
}

var aboutRule = regexp.MustCompile(`^rule (\d+):? (match|targets|times|after_events|after_seconds|count_by|there is no target|plan \S+ (?:needs|has))?`)

// fieldOf returns the field of the form that a refusal of the API is about.
func fieldOf(text string) string {
	m := aboutRule.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "rules"
	case m[2] == "":
		return "plan." + m[1]
	case strings.Contains(m[2], " "):
		return "targets." + m[1]
	}
	return m[2] + "." + m[1]
}

// test asks which of the typed rules matches what is tested.
func (h Handlers) test(r *http.Request, v *rulesView) (err error) {
	in := integrations.Delivery{Rules: v.I.Rules}
	v.Tried = &tried{}
	switch v.Source {
	case "labels":
		labels := map[string]string{}
		for _, line := range lines(v.Labels) {
			name, value, ok := strings.Cut(line, "=")
			if !ok {
				return fault.Invalidf("labels", "%.60q is no label: write name=value", line)
			}
			labels[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"`)
		}
		v.Tried.Events = []integrations.Previewed{{Status: intake.Firing, Title: v.EventTitle,
			Severity: intake.Severity(v.EventSeverity), Labels: labels}}
	case "payload":
		in.Payload = typedPayload(v.Payload)
		*v.Tried, err = h.try(r, in)
	default:
		n := number(v.Source)
		in.Stored = &n
		*v.Tried, err = h.try(r, in)
	}
	for k := range v.Tried.Events {
		if e := &v.Tried.Events[k]; err == nil && e.Route == nil && e.Status == intake.Firing { // an open incident takes the event, so no rule ran
			var route integrations.Route
			route, err = h.Integrations.TestRoute.Do(r.Context(), page.Actor(r), integrations.RouteTest{One: oneOf(r),
				Body: integrations.Event{Labels: e.Labels, Title: operation.Text(e.Title),
					Severity: operation.Text(e.Severity), Rules: v.I.Rules}})
			e.Route = &route
		}
	}
	if err != nil {
		v.Tried = nil
	}
	return err
}

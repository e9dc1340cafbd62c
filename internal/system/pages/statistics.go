// This file serves the charts of volume, times and interruptions, and their values as CSV.

package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/web/page"
)

// StatisticsPages serves the pages. It is safe for concurrent use.
type StatisticsPages struct {
	Pages  *page.Pages
	System *system.System
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h StatisticsPages) Routes(r chi.Router) {
	page.Get(r, "/statistics", h.show)
	page.Get(r, "/statistics/export", h.export)
}

const address = "/statistics"

// period is the time that a page shows.
type period struct {
	Name     string // day, week, month, quarter or custom
	From, To string // as typed: the first and the last day
	in       *time.Location
	begin    time.Time
	end      time.Time
	unit     string
}

func readPeriod(r *http.Request, now time.Time) (p period, err error) {
	given := r.URL.Query()
	p = period{Name: given.Get("period"), From: given.Get("from"), To: given.Get("to"), in: page.Zone(r)}
	if p.From != "" || p.To != "" {
		p.Name = "custom"
	}
	now = now.In(p.in)
	p.end = now
	if p.Name == "custom" {
		return p, p.custom(now)
	}
	usual, known := applications.Periods[p.Name]
	if !known {
		p.Name, usual = "week", applications.Periods["week"]
	}
	q := usual.Until(now)
	p.begin, p.unit = q.From, string(q.Unit)
	if p.Name == "day" {
		p.begin = hour(now).Add(-23 * time.Hour)
	}
	return p, nil
}

// hour returns the beginning of the hour in the zone of t. In some zones, hours begin at half past of other zones.
func hour(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// custom sets a period from the first to the last day that were typed.
func (p *period) custom(now time.Time) error {
	p.begin = midnight(now).AddDate(0, 0, -6)
	for _, day := range []struct {
		name, text string
		at         *time.Time
		plus       int
	}{{"from", p.From, &p.begin, 0}, {"to", p.To, &p.end, 1}} {
		if day.text == "" {
			continue
		}
		at, err := time.ParseInLocation(time.DateOnly, day.text, p.in)
		if err != nil {
			return fault.Invalidf(day.name, "%s must be a day, such as 2026-11-22", day.name)
		}
		*day.at = at.AddDate(0, 0, day.plus)
	}
	if p.end.After(now) {
		p.end = now
	}
	switch length := p.end.Sub(p.begin).Hours() / 24; {
	case length <= 0:
		return fault.Invalidf("from", "from must be before the last day, and not in the future")
	case length <= 3:
		p.unit = "hour"
	case length <= 62:
		p.unit = "day"
	case length <= 200:
		p.unit = "week"
	default:
		p.unit = "month"
	}
	return nil
}

// places returns the beginnings of the hours, days, weeks or months of the period.
func (p period) places() []time.Time {
	at, next := midnight(p.begin), func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	switch p.unit {
	case "hour":
		at, next = hour(p.begin), func(t time.Time) time.Time { return t.Add(time.Hour) }
	case "week":
		at, next = at.AddDate(0, 0, -(int(at.Weekday())+6)%7), func(t time.Time) time.Time { return t.AddDate(0, 0, 7) }
	case "month":
		at, next = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0,
			p.in), func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	}
	var all []time.Time
	for ; at.Before(p.end) && len(all) < 1000; at = next(at) {
		all = append(all, at)
	}
	return all
}

type statisticsView struct {
	page.Frame
	period
	Periods                 []page.Tab
	Application, Plan, Team string
	Refusal                 page.Refusal
	Numbers                 []number
	Diagrams                []chart
	Warnings                []page.Warning
	ZoneName                string
	Chosen                  bool
}

// number is a figure of the whole period.
type number struct{ Value, Label string }

// chart is a diagram or a ranking, with the address of its values.
type chart struct {
	Name   string
	Line   *page.Chart
	Rank   *page.Rank
	Note   string
	Export string
}

// read reads the figures of a request.
func (h StatisticsPages) read(r *http.Request, p period) (out system.Figures, filters url.Values, err error) {
	filters = url.Values{}
	in := system.Period{From: p.begin.UTC().Truncate(time.Second), To: p.end.UTC().Truncate(time.Second),
		Unit: applications.Unit(p.unit), Zone: p.in.String()}
	for name, to := range map[string]*string{"application": &in.Application, "plan": &in.Plan, "team": &in.Team} {
		if *to = page.Storable(strings.TrimSpace(r.URL.Query().Get(name))); *to != "" {
			filters.Set(name, *to)
		}
	}
	out, err = h.System.Statistics.Do(r.Context(), page.Actor(r), in)
	return out, filters, err
}

func (p period) query(filters url.Values) url.Values {
	q := url.Values{}
	for name := range filters {
		q.Set(name, filters.Get(name))
	}
	if p.Name == "custom" {
		q.Set("from", p.From)
		q.Set("to", p.To)
	} else {
		q.Set("period", p.Name)
	}
	return q
}

func (h StatisticsPages) show(rw http.ResponseWriter, r *http.Request) {
	p, err := readPeriod(r, time.Now())
	v := statisticsView{period: p, ZoneName: p.in.String()}
	filters := url.Values{}
	if err == nil {
		var found system.Figures
		if found, filters, err = h.read(r, p); err == nil {
			v.fill(found, filters)
		}
	}
	status := http.StatusOK
	if err != nil {
		refusal, ok := h.Pages.Refused(rw, r, err)
		if !ok {
			return
		}
		v.Refusal, status = refusal, refusal.Status
	}
	v.Application, v.Plan, v.Team, v.Chosen = filters.Get("application"), filters.Get("plan"), filters.Get("team"), len(filters) > 0 || p.Name == "custom"
	for _, o := range []page.Option{{Value: "day", Label: "Day"}, {Value: "week", Label: "Week"}, {Value: "month", Label: "Month"}, {Value: "quarter", Label: "Quarter"}} {
		q := period{Name: o.Value}.query(filters)
		v.Periods = append(v.Periods, page.Tab{Label: o.Label, Href: address + "?" + q.Encode(),
			Current: o.Value == p.Name})
	}
	v.Frame = h.Pages.Frame(r, "Statistics", "statistics")
	v.Frame.Charts = true
	h.Pages.Render(rw, r, status, "statistics", v)
}

func (v *statisticsView) fill(f system.Figures, filters url.Values) {
	v.Diagrams = charts(f, v.period)
	for i, c := range v.Diagrams {
		q := v.period.query(filters)
		q.Set("chart", c.Name)
		v.Diagrams[i].Export = address + "/export?" + q.Encode()
	}
	v.Numbers = numbers(f)
	if f.Counting {
		v.Warnings = append(v.Warnings, page.Warning{Text: "Past hours are being counted, so these figures are incomplete. A processor counts them; it takes minutes."})
	}
	if f.HoursFrom != nil && v.begin.Before(*f.HoursFrom) {
		v.Warnings = append(v.Warnings, page.Warning{Text: "The first part of this period is more than seven weeks ago. Times and interruptions are kept for seven weeks only."})
	}
	if filters.Get("plan") != "" {
		v.Warnings = append(v.Warnings, page.Warning{Text: "Messages and vendors are not counted by plan: their charts have all plans."})
	}
}

// export answers with the values of a chart.
func (h StatisticsPages) export(rw http.ResponseWriter, r *http.Request) {
	p, err := readPeriod(r, time.Now())
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	found, _, err := h.read(r, p)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	all := charts(found, p)
	i := slices.IndexFunc(all, func(c chart) bool { return c.Name == r.URL.Query().Get("chart") })
	if i < 0 {
		h.Pages.Fail(rw, r, fault.New(fault.NotFound, "there is no such chart"))
		return
	}
	out := page.NewCSV(rw, "iris-"+all[i].Name+".csv")
	for _, row := range all[i].rows() {
		out.Row(row...)
	}
	_ = out.Flush() // the reader has gone
}

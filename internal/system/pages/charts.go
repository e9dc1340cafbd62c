package pages

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/web/page"
)

// charts returns everything that a page shows, in its order.
func charts(f system.Figures, p period) []chart {
	places := p.places()
	return []chart{
		{Name: "incidents", Line: incidentChart(f, places)},
		{Name: "messages", Line: messageChart(f, places)},
		{Name: "time-to-acknowledge", Line: timeChart("Time to acknowledge", f, places,
			func(i applications.IncidentFigure) (median, p90 applications.Seconds) {
				return i.AcknowledgeMedian, i.AcknowledgeP90
			})},
		{Name: "time-to-resolve", Line: timeChart("Time to resolve", f, places,
			func(i applications.IncidentFigure) (median, p90 applications.Seconds) {
				return i.ResolveMedian, i.ResolveP90
			})},
		{Name: "hours", Line: hourChart(f),
			Note: "In the time zone of each person. An interruption is a page by call, text, chat, push or webhook; e-mail does not count."},
		{Name: "vendor-failures", Line: failureChart(f, places)},
		{Name: "people", Rank: peopleRank(f),
			Note: "Outside: not on Monday to Friday from 8 to 18 o'clock in the person's time zone."},
		{Name: "vendors", Rank: vendorRank(f)},
		{Name: "teams", Rank: incidentRank("Incidents by team", "Team", f.Teams, "no team")},
		{Name: "plans", Rank: incidentRank("Incidents by plan", "Plan", f.Plans, "no plan")},
	}
}

// rows returns the values of a chart as a table.
func (c chart) rows() [][]string {
	var out [][]string
	if c.Line != nil {
		axis := c.Line.Axis
		if axis == "" {
			axis = "time"
		}
		out = append(out, append([]string{axis}, c.Line.Names...))
		for _, r := range c.Line.Rows {
			row := []string{r.Label}
			if !r.At.IsZero() {
				row[0] = r.At.Format(time.RFC3339)
			}
			for _, v := range r.Values {
				row = append(row, value(v))
			}
			out = append(out, row)
		}
		return out
	}
	out = append(out, append([]string{c.Rank.Axis}, c.Rank.Names...))
	for _, r := range c.Rank.Rows {
		out = append(out, append([]string{r.Label}, r.Values...))
	}
	return out
}

func value(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// rowsAt returns a row for each place, whose values are at first zero.
func rowsAt(places []time.Time, values int) ([]page.ChartRow, map[int64][]float64) {
	rows, at := make([]page.ChartRow, len(places)), map[int64][]float64{}
	for i, p := range places {
		rows[i] = page.ChartRow{At: p, Values: make([]float64, values)}
		at[p.Unix()] = rows[i].Values
	}
	return rows, at
}

func incidentChart(f system.Figures, places []time.Time) *page.Chart {
	c := page.Chart{Title: "Incidents", Names: []string{"opened", "acknowledged"}}
	rows, at := rowsAt(places, 2)
	for _, i := range f.Times {
		if values := at[instant(i.Key)]; values != nil {
			values[0], values[1] = float64(i.Incidents), float64(i.Acknowledged)
			c.Rows = rows
		}
	}
	return &c
}

func instant(key string) int64 {
	at, _ := time.Parse(time.RFC3339, key)
	return at.Unix()
}

func messageChart(f system.Figures, places []time.Time) *page.Chart {
	modes := map[string]bool{}
	for _, m := range f.Messages {
		modes[m.Mode] = true
	}
	c := page.Chart{Title: "Sent messages by mode", Kind: "stack", Names: slices.Sorted(maps.Keys(modes))}
	rows, at := rowsAt(places, len(c.Names))
	for _, m := range f.Messages {
		if values := at[m.At.Unix()]; values != nil {
			values[slices.Index(c.Names, m.Mode)] += float64(m.Sent)
			c.Rows = rows
		}
	}
	return &c
}

// timeChart shows the median and the 90th percentile of times, in minutes.
func timeChart(title string, f system.Figures, places []time.Time, of func(applications.IncidentFigure) (median, p90 applications.Seconds)) *page.Chart {
	c := page.Chart{Title: title, Unit: "min", Names: []string{"median", "90 %"}}
	rows, at := rowsAt(places, 2)
	for _, values := range at {
		values[0], values[1] = math.NaN(), math.NaN()
	}
	for _, i := range f.Times {
		median, p90 := of(i)
		if values := at[instant(i.Key)]; values != nil && median >= 0 && p90 >= 0 {
			values[0], values[1] = minutes(median), minutes(p90)
			c.Rows = rows
		}
	}
	return &c
}

func minutes(s applications.Seconds) float64 { return math.Round(float64(s)/6) / 10 }

func hourChart(f system.Figures) *page.Chart {
	c := page.Chart{Title: "Interruptions by hour of the day", Kind: "stack", Axis: "Hour",
		Names: []string{"Monday to Friday", "Saturday and Sunday"}}
	values := map[string]applications.PageFigure{}
	some := false
	for _, h := range f.Hours {
		values[h.Key] = h
		some = some || h.Interruptions > 0
	}
	if !some {
		c.Empty = "Nobody was interrupted in this period."
		return &c
	}
	for hour := range 24 {
		h := values[fmt.Sprintf("%02d", hour)]
		c.Rows = append(c.Rows, page.ChartRow{Label: fmt.Sprintf("%02d", hour),
			Values: []float64{float64(h.Interruptions - h.Weekend), float64(h.Weekend)}})
	}
	return &c
}

func failureChart(f system.Figures, places []time.Time) *page.Chart {
	names := map[string]bool{}
	for _, v := range f.Vendors {
		if v.Failed > 0 {
			names[account(v)] = true
		}
	}
	c := page.Chart{Title: "Failed calls of vendors", Kind: "stack", Names: slices.Sorted(maps.Keys(names)),
		Empty: "No call failed in this period."}
	rows, at := rowsAt(places, len(c.Names))
	for _, v := range f.Vendors {
		if values := at[v.At.Unix()]; values != nil && v.Failed > 0 {
			values[slices.Index(c.Names, account(v))] += float64(v.Failed)
			c.Rows = rows
		}
	}
	return &c
}

func account(v applications.VendorFigure) string {
	if v.Account == "" {
		return v.Vendor
	}
	return v.Vendor + "/" + v.Account
}

func vendorRank(f system.Figures) *page.Rank {
	r := page.Rank{Title: "Calls by account", Axis: "Account", Names: []string{"calls", "failed", "failed, %"}}
	calls, failed := map[string]float64{}, map[string]float64{}
	for _, v := range f.Vendors {
		calls[account(v)] += float64(v.Attempts)
		failed[account(v)] += float64(v.Failed)
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		share := 100 * failed[name] / calls[name]
		r.Rows = append(r.Rows, page.RankRow{Label: name, Share: share,
			Values: []string{value(calls[name]), value(failed[name]), strconv.FormatFloat(share, 'f', 1, 64)}})
	}
	return &r
}

func peopleRank(f system.Figures) *page.Rank {
	r := page.Rank{Title: "Interruptions by person", Axis: "Person",
		Names: []string{"interruptions", "outside", "at weekends", "all pages"}}
	most := int64(1)
	for _, p := range f.People {
		most = max(most, p.Interruptions)
	}
	for _, p := range f.People {
		r.Rows = append(r.Rows, page.RankRow{Label: p.Key, Share: 100 * float64(p.Interruptions) / float64(most),
			Values: []string{whole(p.Interruptions), whole(p.Outside), whole(p.Weekend), whole(p.Pages)}})
	}
	return &r
}

func incidentRank(title, axis string, all []applications.IncidentFigure, none string) *page.Rank {
	r := page.Rank{Title: title, Axis: axis, Names: []string{"incidents", "acknowledged", "acknowledge, median min",
		"acknowledge, 90 % min", "resolve, median min"}}
	most := int64(1)
	for _, i := range all {
		most = max(most, i.Incidents)
	}
	for _, i := range all {
		label := i.Key
		if label == "" {
			label = none
		}
		r.Rows = append(r.Rows, page.RankRow{Label: label, Share: 100 * float64(i.Incidents) / float64(most),
			Values: []string{whole(i.Incidents), whole(i.Acknowledged), orNothing(i.AcknowledgeMedian),
				orNothing(i.AcknowledgeP90), orNothing(i.ResolveMedian)}})
	}
	return &r
}

func orNothing(s applications.Seconds) string {
	if s < 0 {
		return ""
	}
	return value(minutes(s))
}

// numbers are the figures of the whole period.
func numbers(f system.Figures) []number {
	var opened, acknowledged, sent, failed, interruptions, outside int64
	for _, i := range f.Times {
		opened, acknowledged = opened+i.Incidents, acknowledged+i.Acknowledged
	}
	for _, m := range f.Messages {
		sent, failed = sent+m.Sent, failed+m.Failed
	}
	for _, h := range f.Hours {
		interruptions, outside = interruptions+h.Interruptions, outside+h.Outside
	}
	count := func(n int64, one, many string) number {
		return number{whole(n), map[bool]string{true: one, false: many}[n == 1]}
	}
	return []number{count(opened, "incident", "incidents"), count(acknowledged, "acknowledged", "acknowledged"),
		count(sent, "message sent", "messages sent"),
		count(failed, "message failed", "messages failed"), count(interruptions, "interruption",
			"interruptions"), count(outside, "outside working hours", "outside working hours")}
}

package irisapi

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// figure is one statistic: its name on the wire, and its value at a point in time. A value of nil is not defined.
type figure struct {
	name  string
	value func(s *applications.Statistics, f *applications.Figures, point int) any
}

func percent(n, all int64) any {
	if p, known := applications.Percent(n, all); known {
		return p
	}
	return nil
}

func median(m [applications.Points]float64, point int) any {
	if m[point] < 0 {
		return nil
	}
	return math.Round(m[point]*100) / 100
}

// Figures of applications that are also figures of the installation.
var (
	totalIncidents = figure{"total_incidents",
		func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Incidents.Total(k) }}
	totalSent = figure{"total_messages_sent",
		func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Sent().Total(k) }}
	weekIncidents = figure{"total_incidents_last_week",
		func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Incidents[k] }}
	weekSent = figure{"total_messages_sent_last_week",
		func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Sent()[k] }}
	claimed = figure{"pct_incidents_claimed_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any {
		return percent(f.Claimed[k], f.Incidents[k])
	}}
	medianClaim = figure{"median_seconds_to_claim_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any {
		return median(f.ClaimMedian, k)
	}}
	callRetries = figure{"total_call_retry_last_week",
		func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.CallRetries[k] }}
	highWeek = figure{"high_priority_incidents_last_week",
		func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.High[k] }}
)

var globalFigures = []figure{
	{"total_plans", func(s *applications.Statistics, _ *applications.Figures, k int) any { return s.Plans[k] }},
	totalIncidents, totalSent, weekIncidents, weekSent,
	{"total_active_users", func(s *applications.Statistics, _ *applications.Figures, k int) any { return s.Users[k] }},
	claimed, medianClaim,
	{"total_applications", func(s *applications.Statistics, _ *applications.Figures, k int) any { return s.Applications[k] }},
	{"total_high_priority_incidents_last_week", highWeek.value},
}

var applicationFigures = slices.Concat([]figure{totalIncidents, totalSent, weekIncidents, weekSent, claimed,
	medianClaim, callRetries, highWeek},
	shareFigures(), sentFigures())

func shareFigures() []figure {
	var out []figure
	for _, mode := range []users.Mode{users.SMS, users.Call, users.Email} {
		for which, word := range []string{"success", "fail", "other"} {
			out = append(out, figure{"pct_" + string(mode) + "_" + word + "_last_week",
				func(_ *applications.Statistics, f *applications.Figures, k int) any {
					success, fail, other, known := f.Mode(mode).Shares(mode, k)
					if !known {
						return nil
					}
					return []float64{success, fail, other}[which]
				}})
		}
	}
	return out
}

func sentFigures() []figure {
	var out []figure
	for _, mode := range users.Modes {
		out = append(out, figure{"total_" + string(mode) + "_sent_last_week",
			func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Mode(mode).Sent[k] }})
	}
	return out
}

var singleFigures = []figure{totalIncidents, totalSent, weekIncidents, weekSent, claimed, callRetries, highWeek}

// at is the name of a point in time on the wire: its Unix seconds.
func at(s *applications.Statistics, point int) string {
	return strconv.FormatInt(s.At(point).Unix(), 10)
}

// show answers with figures at all points, newest first.
func show(w http.ResponseWriter, r *http.Request, all []figure, s *applications.Statistics, f *applications.Figures) error {
	names := List{}
	for _, fig := range all {
		names.Columns = append(names.Columns, fig.name)
	}
	q, err := names.Read(w, r)
	if err != nil {
		return err
	}
	page := Record{}
	for _, fig := range all {
		if len(q.Fields) > 0 && !slices.Contains(q.Fields, fig.name) {
			continue
		}
		points := make([]Record, applications.Points)
		for k := range points {
			points[k] = Record{{at(s, k), fig.value(s, f, k)}}
		}
		page = append(page, Member{fig.name, points})
	}
	return routing.Answer(w, http.StatusOK, page)
}

func (s statistics) global(w http.ResponseWriter, r *http.Request) error {
	now, err := s.Statistics.Current(r.Context())
	if err != nil {
		return err
	}
	return show(w, r, globalFigures, now, now.All())
}

func (s statistics) application(w http.ResponseWriter, r *http.Request) error {
	found, err := s.described(r)
	if err != nil {
		return err
	}
	now, err := s.Statistics.Current(r.Context())
	if err != nil {
		return err
	}
	return show(w, r, applicationFigures, now, now.Figures(found.ID))
}

// single answers with one figure of every application that has figures, largest first.
func (s statistics) single(w http.ResponseWriter, r *http.Request) error {
	name := wire.Param(r, "name")
	i := slices.IndexFunc(singleFigures, func(f figure) bool { return f.name == name })
	if i < 0 {
		return fault.Newf(fault.Invalid, "Stat %s not found", name)
	}
	apps, err := s.Applications.List(r.Context(), filters.Query{})
	if err != nil {
		return err
	}
	now, err := s.Statistics.Current(r.Context())
	if err != nil {
		return err
	}
	out := make([]Record, applications.Points)
	for k := range out {
		out[k] = Record{{at(now, k), ranking(now, apps, singleFigures[i], k)}}
	}
	return routing.Answer(w, http.StatusOK, out)
}

func ranking(s *applications.Statistics, apps []applications.Application, fig figure, point int) []Record {
	type place struct {
		name  string
		value any
		size  float64
	}
	var places []place
	for _, a := range apps {
		if s.ByID[a.ID] == nil {
			continue
		}
		p := place{name: a.Name, value: fig.value(s, s.Figures(a.ID), point)}
		switch v := p.value.(type) {
		case int64:
			p.size = float64(v)
			if v == 0 {
				continue
			}
		case float64:
			p.size = v
		default:
			continue
		}
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.size, a.size), strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)))
	})
	out := make([]Record, len(places))
	for i, p := range places {
		out[i] = Record{{p.name, p.value}}
	}
	return out
}

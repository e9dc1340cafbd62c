package irisapi

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Statistics computes the figures of the full hour that it is.
type Statistics interface {
	Current(ctx context.Context) (applications.Statistics, error)
}

// pauseAfterFailure is for how long nobody asks again after figures could not be computed: that may be because they are much work.
const pauseAfterFailure = time.Minute

// statistics are the routes of figures. Figures are those of the full hour: they are computed once an hour, and read again
// each minute, because an import has them computed anew.
type statistics struct {
	store    Statistics
	settings ApplicationSettings
	asking   singleflight.Group

	mu      sync.Mutex
	kept    *applications.Statistics
	readAt  time.Time
	failed  error
	retryAt time.Time
}

// readAgain is how long figures are answered without asking the database for them.
const readAgain = time.Minute

func newStatistics(d Deps) *statistics {
	return &statistics{store: d.Statistics, settings: d.Settings}
}

func (s *statistics) table() []route {
	return []route{
		{get, "/v0/stats", read, s.global},
		{get, "/v0/applications/{app}/stats", read, s.application},
		{get, "/v0/singlestats/{name}", read, s.single},
	}
}

// current returns the figures, waiting for whoever asked first.
func (s *statistics) current(ctx context.Context) (*applications.Statistics, error) {
	if kept, err := s.remembered(time.Now()); kept != nil || err != nil {
		return kept, err
	}
	result := s.asking.DoChan("", func() (any, error) {
		if kept, err := s.remembered(time.Now()); kept != nil || err != nil {
			return kept, err
		}
		found, err := s.store.Current(context.WithoutCancel(ctx)) // others wait for it too
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			s.failed, s.retryAt = err, time.Now().Add(pauseAfterFailure)
			return nil, err
		}
		s.kept, s.readAt, s.failed = &found, time.Now(), nil
		return &found, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-result:
		found, _ := r.Val.(*applications.Statistics)
		return found, r.Err
	}
}

func (s *statistics) remembered(now time.Time) (*applications.Statistics, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ofThisHour := s.kept != nil && now.Before(s.kept.Hour.Add(time.Hour)) && !now.Before(s.kept.Hour)
	failing := s.failed != nil && now.Before(s.retryAt)
	if ofThisHour && (failing || now.Before(s.readAt.Add(readAgain))) {
		return s.kept, nil
	}
	if failing {
		return nil, s.failed
	}
	return nil, nil
}

// figure is one statistic: its name on the wire and its value at a point, nil when it is not defined.
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

// Figures that applications and the whole have in common.
var (
	totalIncidents = figure{"total_incidents", func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Incidents.Total(k) }}
	totalSent      = figure{"total_messages_sent", func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Sent().Total(k) }}
	weekIncidents  = figure{"total_incidents_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Incidents[k] }}
	weekSent       = figure{"total_messages_sent_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.Sent()[k] }}
	claimed        = figure{"pct_incidents_claimed_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any {
		return percent(f.Claimed[k], f.Incidents[k])
	}}
	medianClaim = figure{"median_seconds_to_claim_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any {
		return median(f.ClaimMedian, k)
	}}
	callRetries = figure{"total_call_retry_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.CallRetries[k] }}
	highWeek    = figure{"high_priority_incidents_last_week", func(_ *applications.Statistics, f *applications.Figures, k int) any { return f.High[k] }}
)

var globalFigures = []figure{
	{"total_plans", func(s *applications.Statistics, _ *applications.Figures, k int) any { return s.Plans[k] }},
	totalIncidents, totalSent, weekIncidents, weekSent,
	{"total_active_users", func(s *applications.Statistics, _ *applications.Figures, k int) any { return s.Users[k] }},
	claimed, medianClaim,
	{"total_applications", func(s *applications.Statistics, _ *applications.Figures, k int) any { return s.Applications[k] }},
	{"total_high_priority_incidents_last_week", highWeek.value},
}

var applicationFigures = slices.Concat([]figure{totalIncidents, totalSent, weekIncidents, weekSent, claimed, medianClaim, callRetries, highWeek},
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

// at names a point on the wire: Unix seconds.
func at(s *applications.Statistics, point int) string {
	return strconv.FormatInt(s.Hour.Add(-time.Duration(point)*applications.Week).Unix(), 10)
}

// show answers with figures at all points, newest first.
func show(w http.ResponseWriter, r *http.Request, all []figure, s *applications.Statistics, f *applications.Figures) error {
	names := list{}
	for _, fig := range all {
		names.columns = append(names.columns, fig.name)
	}
	q, err := names.read(w, r)
	if err != nil {
		return err
	}
	page := record{}
	for _, fig := range all {
		if len(q.Fields) > 0 && !slices.Contains(q.Fields, fig.name) {
			continue
		}
		points := make([]record, applications.Points)
		for k := range points {
			points[k] = record{{at(s, k), fig.value(s, f, k)}}
		}
		page = append(page, member{fig.name, points})
	}
	wire.JSON(w, http.StatusOK, page)
	return nil
}

func (s *statistics) global(w http.ResponseWriter, r *http.Request) error {
	now, err := s.current(r.Context())
	if err != nil {
		return err
	}
	return show(w, r, globalFigures, now, now.All())
}

func (s *statistics) application(w http.ResponseWriter, r *http.Request) error {
	found, err := s.settings.Describe(r.Context(), appName(r))
	if fault.Is(err, fault.NotFound) {
		return noSuchApplication(appName(r))
	}
	if err != nil {
		return err
	}
	now, err := s.current(r.Context())
	if err != nil {
		return err
	}
	return show(w, r, applicationFigures, now, figuresOf(now, found.ID))
}

// figuresOf are those of an application, without noting anything: statistics are shared by requests.
func figuresOf(s *applications.Statistics, id int64) *applications.Figures {
	one := applications.NewStatistics(s.Hour)
	of := one.Of(id)
	if have := s.ByID[id]; have != nil {
		*of = *have
		of.Modes = map[users.Mode]*applications.Delivered{}
		for mode, d := range have.Modes {
			of.Modes[mode] = d
		}
	}
	return of
}

// single answers with one figure of every application that has any, by size.
func (s *statistics) single(w http.ResponseWriter, r *http.Request) error {
	name := wire.Param(r, "name")
	i := slices.IndexFunc(singleFigures, func(f figure) bool { return f.name == name })
	if i < 0 {
		return fault.Newf(fault.Invalid, "Stat %s not found", name)
	}
	apps, err := s.settings.List(r.Context(), filters.Query{})
	if err != nil {
		return err
	}
	now, err := s.current(r.Context())
	if err != nil {
		return err
	}
	out := make([]record, applications.Points)
	for k := range out {
		out[k] = record{{at(now, k), ranking(now, apps, singleFigures[i], k)}}
	}
	wire.JSON(w, http.StatusOK, out)
	return nil
}

func ranking(s *applications.Statistics, apps []app, fig figure, point int) []record {
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
		p := place{name: a.Name, value: fig.value(s, figuresOf(s, a.ID), point)}
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
	out := make([]record, len(places))
	for i, p := range places {
		out[i] = record{{p.name, p.value}}
	}
	return out
}

// This file answers /v1/statistics: what happened in a period, from counts by hour.

package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Limits of a request.
const (
	longest = 400 * 24 * time.Hour
	// mostPlaces is how many places the time axis has at most.
	mostPlaces = 750
	apiUsual   = 7 * 24 * time.Hour
)

// Figures reads what happened in a period.
type Figures interface {
	Figures(ctx context.Context, q applications.FigureQuery) (applications.PeriodFigures, error)
}

// Routes returns the route on the figures. own returns the application that the caller is confined to; 0 = none.
func Routes(f Figures, own func(ctx context.Context) (id int64, name string)) []routing.Route {
	a := statistics{f, own}
	return []routing.Route{routing.Get("/v1/statistics", routing.Someone, a.get)}
}

type statistics struct {
	figures Figures
	own     func(ctx context.Context) (int64, string)
}

// object is the answer on the wire.
type object struct {
	From      *string             `json:"from"`
	To        *string             `json:"to"`
	Unit      string              `json:"unit"`
	Zone      string              `json:"zone"`
	CountedTo *string             `json:"counted_to"`
	HoursFrom *string             `json:"hours_from"`
	Counting  bool                `json:"counting"`
	Incidents []apiIncidentFigure `json:"incidents"`
	Plans     []apiIncidentFigure `json:"plans"`
	Teams     []apiIncidentFigure `json:"teams"`
	Messages  []apiMessageFigure  `json:"messages"`
	Vendors   []apiVendorFigure   `json:"vendors"`
	People    []apiPageFigure     `json:"people"`
	Hours     []apiPageFigure     `json:"hours"`
}

type apiIncidentFigure struct {
	Key               string   `json:"key"`
	Incidents         int64    `json:"incidents"`
	Acknowledged      int64    `json:"acknowledged"`
	Resolved          int64    `json:"resolved"`
	AcknowledgeMedian *float64 `json:"acknowledge_median_seconds"`
	AcknowledgeP90    *float64 `json:"acknowledge_p90_seconds"`
	ResolveMedian     *float64 `json:"resolve_median_seconds"`
	ResolveP90        *float64 `json:"resolve_p90_seconds"`
}

type apiMessageFigure struct {
	At        *string `json:"at"`
	Mode      string  `json:"mode"`
	Sent      int64   `json:"sent"`
	Delivered int64   `json:"delivered"`
	Failed    int64   `json:"failed"`
}

type apiVendorFigure struct {
	At       *string `json:"at"`
	Vendor   string  `json:"vendor"`
	Account  string  `json:"account"`
	Mode     string  `json:"mode"`
	Attempts int64   `json:"attempts"`
	Failed   int64   `json:"failed"`
}

type apiPageFigure struct {
	Key           string `json:"key"`
	Pages         int64  `json:"pages"`
	Interruptions int64  `json:"interruptions"`
	Outside       int64  `json:"outside_working_hours"`
	Weekend       int64  `json:"weekend"`
}

// query reads the period and the filters of a request.
func query(r *http.Request, now time.Time) (f applications.FigureQuery, err error) {
	q, err := listing.Read(r, "from", "to", "unit", "zone", "application", "plan", "team")
	if err != nil {
		return f, err
	}
	var given bool
	if f.To, given, err = q.Time("to"); err != nil {
		return f, err
	} else if !given {
		f.To = now
	}
	if f.From, given, err = q.Time("from"); err != nil {
		return f, err
	} else if !given {
		f.From = f.To.Add(-apiUsual)
	}
	for name, to := range map[string]*string{"application": &f.Application, "plan": &f.Plan, "team": &f.Team} {
		if *to, err = q.StorableText(name); err != nil {
			return f, err
		}
	}
	unit, _ := q.Text("unit")
	f.Unit = applications.Unit(unit)
	f.Zone, _ = q.Text("zone")
	return f, check(&f)
}

// check checks the period, and sets the unit and the zone that the request does not name.
func check(f *applications.FigureQuery) error {
	length := f.To.Sub(f.From)
	if length <= 0 || length > longest {
		return fault.Invalidf("from", "the period must end after its beginning, and may last 400 days")
	}
	if f.Zone == "" {
		f.Zone = "UTC"
	}
	if _, err := time.LoadLocation(f.Zone); err != nil || f.Zone == "Local" {
		return fault.Invalidf("zone", "zone must be the name of a time zone, such as Europe/Berlin")
	}
	if f.Unit == "" {
		f.Unit = applications.ByDay
	}
	lengths := map[applications.Unit]time.Duration{applications.ByHour: time.Hour, applications.ByDay: 24 * time.Hour,
		applications.ByWeek: 7 * 24 * time.Hour, applications.ByMonth: 28 * 24 * time.Hour}
	switch each, ok := lengths[f.Unit]; {
	case !ok:
		return fault.Invalidf("unit", "unit must be hour, day, week or month")
	case length/each > mostPlaces:
		return fault.Invalidf("unit", "the period has more than %d places of this unit: choose a longer unit",
			mostPlaces)
	}
	return nil
}

func (a statistics) get(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, time.Now())
	if err != nil {
		return err
	}
	if id, name := a.own(r.Context()); id != 0 {
		if q.Application != "" && q.Application != name {
			return auth.ErrNotReached
		}
		q.Application = name
	}
	found, err := a.figures.Figures(r.Context(), q)
	if err != nil {
		return err
	}
	out := object{From: listing.Time(q.From), To: listing.Time(q.To), Unit: string(q.Unit), Zone: q.Zone,
		CountedTo: listing.Time(found.CountedTo), HoursFrom: listing.Time(found.HoursFrom),
		Counting: found.Counting, Incidents: each(found.Times, showIncidents), Plans: each(found.Plans,
			showIncidents), Teams: each(found.Teams, showIncidents)}
	out.Messages = each(found.Messages, func(m applications.MessageFigure) apiMessageFigure {
		return apiMessageFigure{listing.Time(m.At), m.Mode, m.Sent, m.Delivered, m.Failed}
	})
	out.Vendors = each(found.Vendors, func(v applications.VendorFigure) apiVendorFigure {
		return apiVendorFigure{listing.Time(v.At), v.Vendor, v.Account, v.Mode, v.Attempts, v.Failed}
	})
	showPages := func(p applications.PageFigure) apiPageFigure { return apiPageFigure(p) }
	out.People, out.Hours = each(found.People, showPages), each(found.Hours, showPages)
	return routing.Answer(w, http.StatusOK, out)
}

func showIncidents(f applications.IncidentFigure) apiIncidentFigure {
	seconds := func(s float64) *float64 {
		if s < 0 {
			return nil
		}
		return &s
	}
	return apiIncidentFigure{f.Key, f.Incidents, f.Acknowledged, f.Resolved,
		seconds(f.AcknowledgeMedian), seconds(f.AcknowledgeP90), seconds(f.ResolveMedian), seconds(f.ResolveP90)}
}

func each[T, W any](rows []T, show func(T) W) []W {
	out := make([]W, len(rows))
	for i, r := range rows {
		out[i] = show(r)
	}
	return out
}

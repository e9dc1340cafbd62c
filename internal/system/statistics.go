package system

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

const (
	// longest is how long a period of figures may be.
	longest = 400 * 24 * time.Hour
	// mostPlaces is how many places the time axis has at most.
	mostPlaces = 750
	// usual is the length of a period without a beginning.
	usual = 7 * 24 * time.Hour
)

// ReadStatistics is the operation on figures.
var ReadStatistics = operation.Define[Period, Figures](operation.Doc{Name: "statistics.get", Method: http.MethodGet,
	Path: "/v1/statistics", Needs: operation.Reader, Summary: "What happened in a period", Errors: []int{404},
	Note: "Computed from counts by hour. The filter plan does not apply to messages and vendors. The key of an application sees only figures of that application; 404 for another one."})

// Period selects incidents and messages. A zero From or To is seven days before the end, and now.
type Period struct {
	From        time.Time         `query:"from" json:"from,omitzero" doc:"The beginning; seven days before the end when it is not given."`
	To          time.Time         `query:"to" json:"to,omitzero" doc:"The end; now when it is not given. The period has at most 400 days."`
	Unit        applications.Unit `query:"unit" json:"unit,omitempty" enum:"hour,day,week,month" doc:"The length of a place on the time axis; day when it is not given."`
	Zone        string            `query:"zone" json:"zone,omitempty" doc:"The time zone in which days begin; UTC when it is not given."`
	Application string            `query:"application" json:"application,omitempty" doc:"The name of an application."`
	Plan        string            `query:"plan" json:"plan,omitempty" doc:"The name of a plan."`
	Team        string            `query:"team" json:"team,omitempty" doc:"The team that owns the plan, else the application."`
}

// Figures are what happened in a period.
type Figures struct {
	From time.Time         `json:"from"`
	To   time.Time         `json:"to"`
	Unit applications.Unit `json:"unit"`
	Zone string            `json:"zone"`
	applications.PeriodFigures
}

// Counts reads what happened in a period.
type Counts interface {
	Figures(ctx context.Context, q applications.FigureQuery) (applications.PeriodFigures, error)
}

// query returns the query of a period, with what it does not name.
func (p Period) query(now time.Time) (applications.FigureQuery, error) {
	q := applications.FigureQuery(p)
	if q.To.IsZero() {
		q.To = now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-usual)
	}
	if q.Zone == "" {
		q.Zone = "UTC"
	}
	if q.Unit == "" {
		q.Unit = applications.ByDay
	}
	lengths := map[applications.Unit]time.Duration{applications.ByHour: time.Hour, applications.ByDay: 24 * time.Hour,
		applications.ByWeek: 7 * 24 * time.Hour, applications.ByMonth: 28 * 24 * time.Hour}
	length := q.To.Sub(q.From)
	_, err := time.LoadLocation(q.Zone)
	var wrong fault.Wrong
	wrong.If(length <= 0 || length > longest, "from",
		"to must be after from, by at most 400 days")
	wrong.If(err != nil || q.Zone == "Local", "zone", "zone must be the name of a time zone, such as Europe/Berlin")
	wrong.If(length <= longest && length/lengths[q.Unit] > mostPlaces, "unit",
		"the period has more than %d units of one %s: choose a longer unit", mostPlaces, q.Unit)
	return q, wrong.Err()
}

func (s *System) statistics(ctx context.Context, by operation.Actor, p Period) (out Figures, err error) {
	q, err := p.query(time.Now())
	if err != nil {
		return out, err
	}
	if by.Application != 0 {
		if q.Application != "" && q.Application != by.ApplicationName {
			return out, operation.ErrNotReached
		}
		q.Application = by.ApplicationName
	}
	found, err := s.deps.Counts.Figures(ctx, q)
	for _, list := range []*[]applications.IncidentFigure{&found.Times, &found.Plans, &found.Teams} {
		*list = append([]applications.IncidentFigure{}, *list...)
	}
	for _, list := range []*[]applications.PageFigure{&found.People, &found.Hours} {
		*list = append([]applications.PageFigure{}, *list...)
	}
	found.Messages = append([]applications.MessageFigure{}, found.Messages...)
	found.Vendors = append([]applications.VendorFigure{}, found.Vendors...)
	return Figures{q.From.UTC(), q.To.UTC(), q.Unit, q.Zone, found}, err
}

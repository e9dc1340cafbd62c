package catalog

import (
	"context"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Limits of the rows of figures.
const (
	mostPlaces = 2000 // of a time axis
	mostNames  = 100  // of plans, teams and people
)

// Figures returns what happened in a period. It reads counts by hour, and rows of the last hours only.
func (s *Statistics) Figures(ctx context.Context, f applications.FigureQuery) (applications.PeriodFigures, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *db.Queries) (out applications.PeriodFigures, err error) {
		at, err := q.StatisticsCountedTo(ctx)
		if err != nil {
			return out, err
		}
		hour, err := q.ThisHour(ctx)
		if err != nil {
			return out, err
		}
		if at.CountedTo.Unix() > 0 {
			out.CountedTo, out.HoursFrom = at.CountedTo, at.DaysTo
		}
		out.Counting = at.Waiting > 0 || at.CountedTo.Before(hour)
		if out.Times, err = incidentFigures(ctx, q, f, "time", mostPlaces); err != nil {
			return out, err
		}
		if out.Plans, err = incidentFigures(ctx, q, f, "plan", mostNames); err != nil {
			return out, err
		}
		if out.Teams, err = incidentFigures(ctx, q, f, "team", mostNames); err != nil {
			return out, err
		}
		if out.Hours, err = pageFigures(ctx, q, f, "hour", 24); err != nil {
			return out, err
		}
		if out.People, err = pageFigures(ctx, q, f, "person", mostNames); err != nil {
			return out, err
		}
		return out, sendingFigures(ctx, q, f, &out)
	})
}

func incidentFigures(ctx context.Context, q *db.Queries, f applications.FigureQuery, by string, most int32) ([]applications.IncidentFigure, error) {
	rows, err := q.IncidentFigures(ctx, db.IncidentFiguresParams{By: by, Most: most, After: f.From, Until: f.To, Unit: string(f.Unit), Zone: f.Zone,
		Application: postgres.NullText(f.Application), Plan: postgres.NullText(f.Plan), Team: postgres.NullText(f.Team)})
	return postgres.Convert(rows, func(r db.IncidentFiguresRow) applications.IncidentFigure { return applications.IncidentFigure(r) }), err
}

func pageFigures(ctx context.Context, q *db.Queries, f applications.FigureQuery, by string, most int32) ([]applications.PageFigure, error) {
	rows, err := q.PageFigures(ctx, db.PageFiguresParams{By: by, Most: most, After: f.From, Until: f.To,
		Application: postgres.NullText(f.Application), Plan: postgres.NullText(f.Plan), Team: postgres.NullText(f.Team)})
	return postgres.Convert(rows, func(r db.PageFiguresRow) applications.PageFigure { return applications.PageFigure(r) }), err
}

// sendingFigures reads the figures of messages and of vendors. They do not know plans.
func sendingFigures(ctx context.Context, q *db.Queries, f applications.FigureQuery, out *applications.PeriodFigures) error {
	sent, err := q.MessageFigures(ctx, db.MessageFiguresParams{After: f.From, Until: f.To, Unit: string(f.Unit), Zone: f.Zone,
		Application: postgres.NullText(f.Application), Team: postgres.NullText(f.Team)})
	if err != nil {
		return err
	}
	out.Messages = postgres.Convert(sent, func(r db.MessageFiguresRow) applications.MessageFigure { return applications.MessageFigure(r) })
	calls, err := q.VendorFigures(ctx, db.VendorFiguresParams{After: f.From, Until: f.To, Unit: string(f.Unit), Zone: f.Zone,
		Application: postgres.NullText(f.Application), Team: postgres.NullText(f.Team)})
	out.Vendors = postgres.Convert(calls, func(r db.VendorFiguresRow) applications.VendorFigure { return applications.VendorFigure(r) })
	return err
}

package catalog

import (
	"context"
	"time"

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
		if err = incidentFigures(ctx, q, f, &out); err != nil {
			return out, err
		}
		if err = pageFigures(ctx, q, f, &out); err != nil {
			return out, err
		}
		return out, sendingFigures(ctx, q, f, &out)
	})
}

func incidentFigures(ctx context.Context, q *db.Queries, f applications.FigureQuery, out *applications.PeriodFigures) error {
	rows, err := q.IncidentFigures(ctx, db.IncidentFiguresParams{After: f.From, Until: f.To, Unit: string(f.Unit), Zone: f.Zone,
		Application: postgres.NullText(f.Application), Plan: postgres.NullText(f.Plan), Team: postgres.NullText(f.Team)})
	for _, r := range rows {
		of, most, key := &out.Times, mostPlaces, r.Name
		switch r.Kind {
		case 0:
			key = time.Unix(r.ID, 0).UTC().Format(time.RFC3339)
		case 1:
			of, most = &out.Plans, mostNames
		case 2:
			of, most = &out.Teams, mostNames
		}
		if len(*of) < most {
			*of = append(*of, applications.IncidentFigure{Key: key, Incidents: r.Incidents, Acknowledged: r.Acknowledged, Resolved: r.Resolved,
				AcknowledgeMedian: r.AcknowledgeMedian, AcknowledgeP90: r.AcknowledgeP90, ResolveMedian: r.ResolveMedian, ResolveP90: r.ResolveP90})
		}
	}
	return err
}

func pageFigures(ctx context.Context, q *db.Queries, f applications.FigureQuery, out *applications.PeriodFigures) error {
	rows, err := q.PageFigures(ctx, db.PageFiguresParams{After: f.From, Until: f.To,
		Application: postgres.NullText(f.Application), Plan: postgres.NullText(f.Plan), Team: postgres.NullText(f.Team)})
	for _, r := range rows {
		of := &out.Hours
		if r.Kind == 1 {
			of = &out.People
		}
		if len(*of) < mostNames {
			*of = append(*of, applications.PageFigure{Key: r.Key, Pages: r.Pages, Interruptions: r.Interruptions, Outside: r.Outside, Weekend: r.Weekend})
		}
	}
	return err
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

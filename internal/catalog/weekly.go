package catalog

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// WeeklyFigures are figures of an application, by week.
type WeeklyFigures struct {
	Hour  time.Time `json:"hour" doc:"The full hour up to which the figures count. They are computed once an hour."`
	Weeks []Week    `json:"weeks" doc:"The week that ended at that hour and the six before it, the latest first."`
}

// Week has the figures of seven days.
type Week struct {
	Until             time.Time            `json:"until" doc:"Its end."`
	Incidents         int64                `json:"incidents"`
	Acknowledged      int64                `json:"acknowledged" doc:"Of these incidents, those that were acknowledged, also if they escalated again."`
	HighPriority      int64                `json:"high_priority" doc:"Of these incidents, those whose plan pages with priority high or urgent."`
	AcknowledgeMedian applications.Seconds `json:"acknowledge_median_seconds" nullable:"true" doc:"From opening to acknowledging; null = unknown."`
	Messages          int64                `json:"messages_sent" doc:"Messages that their vendor accepted."`
}

// FiguresOfApplication are the weekly figures of an application.
var FiguresOfApplication = operation.Define[OneApplication, WeeklyFigures](operation.Doc{Name: "application.statistics",
	Method: http.MethodGet, Path: "/v1/applications/{app}/statistics", Needs: operation.Reader,
	Summary: "The incidents and messages of an application in the last seven weeks"})

func (a *Applications) figures(ctx context.Context, _ operation.Actor, one OneApplication) (out WeeklyFigures, err error) {
	found, err := a.find(ctx, one.Application)
	if err != nil {
		return out, err
	}
	now, err := a.deps.Statistics.Current(ctx)
	if err != nil {
		return out, err
	}
	out.Hour = now.Hour.UTC()
	f := now.Figures(found.ID)
	sent := f.Sent()
	for k := range applications.Points {
		out.Weeks = append(out.Weeks, Week{Until: now.At(k).UTC(), Incidents: f.Incidents[k], Acknowledged: f.Claimed[k],
			HighPriority: f.High[k], AcknowledgeMedian: applications.Seconds(f.ClaimMedian[k]), Messages: sent[k]})
	}
	return out, nil
}

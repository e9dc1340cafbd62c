package pages

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (a holidays) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/holidays", routing.Read, a.getHolidays),
		routing.Put("/v1/teams/{team}/holidays", routing.Write, a.setHolidays),
		routing.Delete("/v1/teams/{team}/holidays", routing.Write, a.dropHolidays),
	}
}

// getHolidays answers with a team's holidays, and who uploaded them when; 404 if the team has no holiday calendar.
func (a holidays) getHolidays(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	c, err := a.Holidays.Holidays(r.Context(), t.ID)
	if err != nil {
		return err
	}
	days := []map[string]string{}
	for _, d := range c.Days {
		days = append(days, map[string]string{"date": d.Day.String(), "name": d.Name})
	}
	return routing.Answer(w, http.StatusOK, map[string]any{"holidays": days, "uploaded_by": c.UploadedBy,
		"uploaded_at": c.UploadedAt.Unix()})
}

// setHolidays replaces a team's holidays by the events of an iCalendar text. Administrators of the team may.
func (a holidays) setHolidays(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	if err := a.ownHolidays(r.Context(), t); err != nil {
		return err
	}
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	days, err := editing.ReadHolidays(raw)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusNoContent, a.Holidays.SetHolidays(r.Context(), t,
		scheduling.HolidayCalendar{Source: string(raw), Days: days}, requests.By(r, nil)))
}

// dropHolidays deletes a team's holiday calendar. Administrators of the team may.
func (a holidays) dropHolidays(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	if err := a.ownHolidays(r.Context(), t); err != nil {
		return err
	}
	return routing.Done(w, http.StatusNoContent, a.Holidays.DropHolidays(r.Context(), t, requests.By(r, nil)))
}

// ownHolidays returns a Conflict fault if the team's holidays come from a subscribed calendar.
func (a holidays) ownHolidays(ctx context.Context, t oncall.Profile) error {
	all, err := a.Subscribed.OfTeam(ctx, t.ID)
	for _, s := range all {
		if s.Kind == editing.KindHolidays {
			return fault.Newf(fault.Conflict,
				"the holidays of %s come from the calendar subscription %d: remove it first", t.Name, s.ID)
		}
	}
	return err
}

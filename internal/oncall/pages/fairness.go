package pages

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a fairness) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/fairness", routing.Read, a.fairness),
	}
}

// fairness answers with each person's shifts and hours on call: all, at night, at weekends and on holidays.
func (a fairness) fairness(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, from, to, err := a.teamAndWindow(r, -90, 0)
	if err != nil {
		return err
	}
	start, end := from.Unix(), to.Unix()
	rows, err := a.Shifts.Find(ctx, oncall.ShiftQuery{Teams: []int64{t.ID}, End: oncall.Range{Min: &start},
		Start: oncall.Range{Max: &end}})
	if err != nil {
		return err
	}
	shifts, names := make([]oncall.Shift, len(rows)), map[users.ID]oncall.ShiftRow{}
	for i, row := range rows {
		shifts[i], names[row.User] = row.Shift, row
	}
	holidays, err := holidays(a).holidaysOf(ctx, t)
	if err != nil {
		return err
	}
	roles, err := a.askedRoles(r)
	if err != nil {
		return err
	}
	var out []map[string]any
	for _, l := range scheduling.Fairness(shifts, a.ZoneOf(t), holidays, from, to, roles...) {
		out = append(out, map[string]any{"user": names[l.User].UserName,
			"full_name": requests.OrNull(names[l.User].FullName), "shifts": l.Shifts,
			"hours": l.Total.Hours(), "nights": l.Night.Hours(), "weekends": l.Weekend.Hours(), "holidays": l.Holidays.Hours()})
	}
	return listing.AnswerAll(w, out)
}

package planning

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/countries"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// HolidayCalendar is the holidays of a team.
type HolidayCalendar struct {
	Holidays   []Holiday  `json:"holidays"`
	UploadedBy string     `json:"uploaded_by"`
	UploadedAt *time.Time `json:"uploaded_at" nullable:"true"`
	LeftOut    []string   `json:"left_out" doc:"Lines and events of the iCalendar that were not used, and why; at most 20."`
}

// Holiday is a day with a name.
type Holiday struct {
	Date string `json:"date"`
	Name string `json:"name"`
}

// HolidayCountry is a country, or a part of one, whose holidays a team can subscribe to.
type HolidayCountry struct {
	Code string `json:"code" doc:"Of ISO 3166, such as CH or CH-ZH."`
	Name string `json:"name"`
}

// HolidayUpload replaces the holidays of a team.
type HolidayUpload struct {
	users.OneTeam
	RawBody []byte `contentType:"text/calendar" json:"body" doc:"An iCalendar text."`
}

// The operations on holidays.
var (
	ListHolidayCountries = operation.Define[operation.None, operation.Page[HolidayCountry]](operation.Doc{
		Name: "holiday-country.list", Method: http.MethodGet, Path: "/v1/holiday-countries", Needs: operation.Reader,
		Summary: "The countries whose holidays are known",
		Note:    "To use them, subscribe a team with kind holidays and the code as country."})
	GetHolidays = operation.Define[users.OneTeam, HolidayCalendar](operation.Doc{Name: "team.holidays",
		Method: http.MethodGet, Path: "/v1/teams/{team}/holidays", Needs: operation.Reader,
		Summary: "The holidays of a team", Note: "uploaded_at is null if the team has no holiday calendar."})
	SetHolidays = operation.Define[HolidayUpload, operation.None](operation.Doc{Name: "team.set-holidays",
		Method: http.MethodPut, Path: "/v1/teams/{team}/holidays", Needs: operation.Member, Rule: operation.OfTeam,
		Status: http.StatusNoContent, Audit: []audit.Action{audit.HolidaysChanged},
		Summary: "Set the holidays of a team from an iCalendar", Errors: []int{409},
		Note: "Lines and events that cannot be read are left out: see left_out. 409: they come from a calendar subscription."})
	DropHolidays = operation.Define[users.OneTeam, operation.None](operation.Doc{Name: "team.drop-holidays",
		Method: http.MethodDelete, Path: "/v1/teams/{team}/holidays", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.HolidaysDeleted}, Summary: "Forget the holidays of a team", Errors: []int{409},
		Note: "409: they come from a calendar subscription."})
)

func (p *Planning) holidayCountries(context.Context, operation.Actor, operation.None) (operation.Page[HolidayCountry], error) {
	var out []HolidayCountry
	for _, c := range countries.All {
		out = append(out, HolidayCountry{c.Code, c.Name})
	}
	return whole(out), nil
}

func (p *Planning) holidays(ctx context.Context, _ operation.Actor, of users.OneTeam) (HolidayCalendar, error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return HolidayCalendar{}, err
	}
	c, err := p.deps.Holidays.Holidays(ctx, t.ID)
	if fault.Is(err, fault.NotFound) {
		return HolidayCalendar{Holidays: []Holiday{}, LeftOut: []string{}}, nil
	}
	at := c.UploadedAt.UTC()
	out := HolidayCalendar{[]Holiday{}, c.UploadedBy, &at, append([]string{}, c.LeftOut...)}
	for _, d := range c.Days {
		out.Holidays = append(out.Holidays, Holiday{d.Day.String(), d.Name})
	}
	return out, err
}

func (p *Planning) setHolidays(ctx context.Context, by operation.Actor, u HolidayUpload) (none operation.None, err error) {
	t, err := p.ownHolidays(ctx, by, u.Team)
	if err != nil {
		return none, err
	}
	now, err := p.deps.People.Clock(ctx)
	if err != nil {
		return none, err
	}
	days, leftOut, err := editing.ReadHolidays(u.RawBody, now)
	if err != nil {
		return none, err
	}
	return none, p.deps.Holidays.SetHolidays(ctx, t,
		scheduling.HolidayCalendar{Source: string(u.RawBody), Days: days, LeftOut: leftOut}, Author(by, nil))
}

func (p *Planning) dropHolidays(ctx context.Context, by operation.Actor, of users.OneTeam) (none operation.None, err error) {
	t, err := p.ownHolidays(ctx, by, of.Team)
	if err != nil {
		return none, err
	}
	return none, p.deps.Holidays.DropHolidays(ctx, t, Author(by, nil))
}

// ownHolidays finds a team whose administrator the caller is, and whose holidays come from no subscription.
func (p *Planning) ownHolidays(ctx context.Context, by operation.Actor, name string) (oncall.Profile, error) {
	t, err := p.Own(ctx, by, name)
	if err != nil {
		return t, err
	}
	return t, p.notSubscribed(ctx, t)
}

// notSubscribed returns a Conflict fault if the holidays of a team come from a subscribed calendar.
func (p *Planning) notSubscribed(ctx context.Context, t oncall.Profile) error {
	all, err := p.deps.Subscribed.OfTeam(ctx, t.ID)
	for _, s := range all {
		if s.Kind == editing.KindHolidays {
			return fault.Newf(fault.Conflict,
				"the holidays of %s come from the calendar subscription %d: remove it first", t.Name, s.ID)
		}
	}
	return err
}

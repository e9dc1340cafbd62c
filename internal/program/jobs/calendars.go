// This file reads subscribed calendars of other programs when they are due, and stores their shifts, holidays and
// unavailability. The processors run it; each subscription is claimed by one process. People enter the URLs, so only
// public addresses are read unless the configuration allows others. A URL is never logged.

package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	kitclock "github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/pg"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/vendors"
)

const (
	// CalendarsEvery is the interval between searches for due subscriptions.
	CalendarsEvery = 2 * time.Second
	// calendarsAtOnce is how many calendars are read at the same time. A server that does not answer delays only the
	// calendars of the same pass.
	calendarsAtOnce = 8
	timeout         = 15 * time.Second
	// hold is how long a claim lasts. It is longer than a request with all its redirects can take.
	hold = 5 * time.Minute
	// busySince is how long past unavailability is kept.
	busySince = 24 * time.Hour
)

// Reader reads subscribed calendars.
type Reader struct {
	subscriptions *pg.Subscriptions
	shifts        *pg.Shifts
	requests      *pg.Requests
	clock         *kitclock.Database
	client        *vendors.Client
	private       bool
	log           *zap.Logger
}

// New returns a reader. private allows addresses that are not public, and http.
func New(s *pg.Subscriptions, shifts *pg.Shifts, requests *pg.Requests, clk *kitclock.Database, private bool, log *zap.Logger) *Reader {
	client := vendors.NewClient(vendors.ClientConfig{Timeout: timeout, PublicOnly: !private,
		MaxBody: editing.MaxCalendar + 1, MaxConns: calendarsAtOnce})
	return &Reader{s, shifts, requests, clk, client, private, log.Named("calendars")}
}

// Pass reads the calendars that are due.
func (r *Reader) Pass(ctx context.Context) error {
	due, err := r.subscriptions.Claim(ctx, calendarsAtOnce, hold)
	errs := make([]error, len(due))
	var all sync.WaitGroup
	for i, d := range due {
		all.Go(func() {
			defer fault.Recover(&errs[i])
			errs[i] = r.read(ctx, d)
		})
	}
	all.Wait()
	return errors.Join(append(errs, err)...)
}

// read reads one calendar and stores the result, or why it failed.
func (r *Reader) read(ctx context.Context, d pg.DueSubscription) error {
	a, err := answer{}, error(nil)
	if d.Country == "" {
		a, err = r.fetch(ctx, d.URL, d.ETag, d.LastModified)
	}
	out := pg.Reading{Changed: a.text != nil || d.Country != "", ETag: a.etag, LastModified: a.lastModified}
	if err == nil && out.Changed {
		out.Events, out.LeftOut, err = r.apply(ctx, d, a.text)
	}
	switch {
	case err == nil:
		return r.subscriptions.Done(ctx, d, out)
	case ctx.Err() != nil || fault.Is(err, fault.Conflict):
		return nil // the claim expires, or the change made the subscription due again
	case !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Unavailable):
		return err
	}
	if d.Failures == 0 {
		r.log.Warn("a subscribed calendar cannot be read, retrying later", zap.Int64("subscription", d.ID),
			zap.String("host", d.Host), zap.String("reason", fault.Public(err)), zap.Error(err))
	}
	return r.subscriptions.Failed(ctx, d, fault.Public(err))
}

// apply stores the shifts, holidays or unavailability of a calendar. It returns how many it stored, and the events that
// it left out, with the reasons.
func (r *Reader) apply(ctx context.Context, d pg.DueSubscription, text []byte) (int, []string, error) {
	now := r.clock.Now()
	by := oncall.By{Owner: "calendar subscription"}
	switch d.Kind {
	case editing.KindShifts:
		return r.shiftsOf(ctx, d, text, now, by)
	case editing.KindHolidays:
		days, leftOut, err := holidaysOf(d, text, now)
		if err != nil {
			return 0, nil, err
		}
		known, err := r.requests.Holidays(ctx, d.TeamID)
		if err == nil && slices.Equal(known.Days, days) && slices.Equal(known.LeftOut, leftOut) {
			return len(days), leftOut, nil
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return 0, nil, err
		}
		team := oncall.Profile{ID: d.TeamID, TeamSettings: oncall.TeamSettings{Name: d.Team}}
		return len(days), leftOut, r.requests.SetHolidays(ctx, team,
			scheduling.HolidayCalendar{Source: string(text), Days: days, LeftOut: leftOut}, by)
	}
	busy, left, err := editing.ReadBusy(text, d.Zone, now.Add(-busySince), now.Add(editing.ReadAhead), d.WholeDays)
	if err != nil {
		return 0, nil, err
	}
	return len(busy), left, r.subscriptions.SetBusy(ctx, d, busy)
}

// holidaysOf returns the holidays of a calendar, or of the country of the subscription.
func holidaysOf(d pg.DueSubscription, text []byte, now time.Time) ([]scheduling.Holiday, []string, error) {
	if d.Country == "" {
		return editing.ReadHolidays(text, now)
	}
	days, err := editing.CountryHolidays(d.Country, now)
	return days, nil, err
}

// shiftsOf stores the shifts of a calendar. It does not change shifts that were edited by hand.
func (r *Reader) shiftsOf(ctx context.Context, d pg.DueSubscription, text []byte, now time.Time, by oncall.By) (int, []string, error) {
	candidates, err := r.subscriptions.Candidates(ctx, d.TeamID)
	if err != nil {
		return 0, nil, err
	}
	c := editing.ExternalCalendar{TeamID: d.TeamID, Role: d.Role, Since: now, Subscription: d.ID}
	unmatched, err := editing.ReadShifts(&c, text, candidates, d.Zone, now.Add(editing.ReadAhead))
	if err != nil {
		return 0, nil, err
	}
	_, err = r.shifts.TakeOver(ctx, c, by, false)
	return len(c.Wanted), editing.LeftOut(unmatched), err
}

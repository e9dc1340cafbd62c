package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/metrics"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// PopulateStores has the storage that a Populator uses.
type PopulateStores struct {
	Schedules interface {
		Due(ctx context.Context, buckets []int, every time.Duration, limit int) ([]oncall.TeamName, error)
		Fill(ctx context.Context, processID string, lease buckets.Lease, team int64) ([]scheduling.Result, error)
		Failed(ctx context.Context, team int64, problem string) error
	}
	Calendars oncall.CalendarStore
	Coverage  interface {
		Coverage(ctx context.Context, team int64, calendar *oncall.TeamCalendar) (scheduling.Coverage, error)
	}
	Teams interface {
		ByID(ctx context.Context, id int64) (oncall.Profile, error)
		People(ctx context.Context, team int64) ([]oncall.TeamPerson, error)
	}
	People interface {
		ByID(ctx context.Context, ids []users.ID) ([]oncall.Person, error)
		Clock(ctx context.Context) (time.Time, error)
	}
	Applications interface {
		ByName(ctx context.Context, name string) (auth.Application, error)
	}
	Warnings interface {
		Warn(ctx context.Context, processID string, lease buckets.Lease, team int64, warnings []scheduling.Warning,
			compose func(fresh []scheduling.Warning) messages.Notification) ([]scheduling.Warning, buckets.Set, error)
	}
}

// Populator fills the calendars of the teams in the owned buckets, one team after the other, and warns teams of future
// times without anybody on call. The bucket's lease fences its writes, so only one process does it. An error of one
// team does not delay the others (promise P7).
type Populator struct {
	stores    PopulateStores
	holder    Leases
	wake      func(buckets.Set)
	every     time.Duration // interval between two fills of a team
	ahead     time.Duration // gaps that begin within it are warned of
	log       *zap.Logger
	populated *prometheus.CounterVec
	warnings  *prometheus.CounterVec
}

const (
	populateTick  = 5 * time.Second
	populateBatch = 50
)

// NewPopulator returns a Populator that fills a team at the interval every and warns of gaps that begin within ahead.
// The defaults (0) are an hour and two days.
func NewPopulator(s PopulateStores, every, ahead time.Duration, e Engine) *Populator {
	if every <= 0 {
		every = time.Hour
	}
	if ahead <= 0 {
		ahead = 48 * time.Hour
	}
	return &Populator{
		stores: s, holder: e.Leases, wake: e.Wake, every: every, ahead: ahead, log: e.Log.Named("populator"),
		populated: metrics.Start(promauto.With(e.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_calendars_populated_total", Help: "Teams whose calendars were filled from their schedules, by outcome.",
		}, []string{"outcome"}), []string{"done", "failed"}),
		warnings: metrics.Start(promauto.With(e.Registerer).NewCounterVec(prometheus.CounterOpts{
			Name: "iris_app_coverage_warnings_total", Help: "Warnings to teams about times without anybody on call, by kind (gap, unfilled).",
		}, []string{"kind"}), []string{"gap", "unfilled"}),
	}
}

// Run fills calendars until ctx ends.
func (p *Populator) Run(ctx context.Context) error {
	return repeat(ctx, populateTick, p.pass, func(err error) {
		p.log.Warn("schedules cannot be read: calendars are not filled, retrying", zap.Error(err))
	})
}

// pass fills the teams whose last fill is the oldest.
func (p *Populator) pass(ctx context.Context) error {
	leases := map[int]buckets.Lease{}
	var held []int
	for _, l := range p.holder.Leases() {
		leases[l.Bucket] = l
		held = append(held, l.Bucket)
	}
	if len(held) == 0 {
		return nil
	}
	due, err := p.stores.Schedules.Due(ctx, held, p.every, populateBatch)
	if err != nil {
		return err
	}
	for _, team := range due {
		if ctx.Err() != nil {
			return nil
		}
		err := safely(func() error { return p.team(ctx, leases[int(team.ID%buckets.Count)], team) })
		var lost *buckets.LostError
		switch {
		case err == nil:
			p.populated.WithLabelValues("done").Inc()
		case errors.As(err, &lost):
			return err // another process owns the bucket now
		default: // stored, so that the next pass begins with other teams; if that fails, too, the database cannot be reached
			p.populated.WithLabelValues("failed").Inc()
			p.log.Error("calendar of a team cannot be filled, retrying later", zap.String("team", team.Name),
				zap.Error(err))
			if err := p.stores.Schedules.Failed(ctx, team.ID, fault.Public(err)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Populator) team(ctx context.Context, lease buckets.Lease, team oncall.TeamName) error {
	plans, err := p.stores.Schedules.Fill(ctx, p.holder.ProcessID(), lease, team.ID)
	if err != nil {
		return err
	}
	profile, err := p.stores.Teams.ByID(ctx, team.ID)
	if err != nil {
		return err
	}
	warnings, err := p.gaps(ctx, profile)
	if err != nil {
		return err
	}
	for _, plan := range plans {
		for _, u := range plan.Unfilled {
			warnings = append(warnings, scheduling.Warning{
				Kind: "unfilled", Role: u.Role, Since: u.Period, Span: oncall.Span{Start: u.Start,
					End: u.End}, Why: u.Why,
			})
		}
	}
	if len(warnings) == 0 {
		return nil
	}
	return p.warn(ctx, lease, profile, warnings)
}

// gaps returns the times until p.ahead that the team wants to be covered and in which nobody has a shift. Times that
// schedules have not filled yet are left out.
func (p *Populator) gaps(ctx context.Context, team oncall.Profile) ([]scheduling.Warning, error) {
	now, err := p.stores.People.Clock(ctx)
	if err != nil {
		return nil, err
	}
	// The start of the search moves only once a week. So a gap that has begun keeps its start, and the team is warned
	// of it once.
	const week = 7 * 24 * time.Hour
	from := now.Truncate(week).Add(-4 * week)
	found, err := p.stores.Calendars.TeamCalendars(ctx, []int64{team.ID}, from, now.Add(p.ahead))
	if err != nil {
		return nil, err
	}
	calendar := found[team.ID].TeamCalendar
	coverage, err := p.stores.Coverage.Coverage(ctx, team.ID, calendar)
	if err != nil {
		return nil, err
	}
	var out []scheduling.Warning
	for _, gap := range coverage.Gaps(calendar, from, now.Add(p.ahead), coverage.Roles()...) {
		if gap.Kind != scheduling.GapNobody || !gap.End.After(now) {
			continue
		}
		// A gap is identified by its start: its end may lie beyond the end of the search.
		left := gap.Span
		if left.Start.Before(now) {
			left.Start = now
		}
		out = append(out, scheduling.Warning{Kind: "gap", Role: gap.Role, Since: gap.Start, Span: left,
			Why: "nobody is on the calendar"})
	}
	return out, nil
}

// warningLifetime is how long a warning may wait to be sent.
const warningLifetime = 12 * time.Hour

// warn sends the warnings that are new to the administrators and the address of the team. It logs and counts them.
func (p *Populator) warn(ctx context.Context, lease buckets.Lease, team oncall.Profile, warnings []scheduling.Warning) error {
	app, err := p.stores.Applications.ByName(ctx, auth.SessionApplication)
	if err != nil {
		return err
	}
	recipients, err := p.recipients(ctx, team)
	if err != nil {
		return err
	}
	fresh, waiting, err := p.stores.Warnings.Warn(ctx, p.holder.ProcessID(), lease, team.ID, warnings, func(fresh []scheduling.Warning) messages.Notification {
		return messages.Notification{
			ApplicationID: app.ID, Priority: users.Medium, Lifetime: warningLifetime, Subject: "Nobody is on call for " + team.Name + " for a while",
			Body: warningText(team, fresh), Recipients: recipients,
		}
	})
	if err != nil {
		return err
	}
	for _, w := range fresh {
		p.warnings.WithLabelValues(w.Kind).Inc()
		p.log.Warn("nobody is on call, the team is notified", zap.String("team", team.Name), zap.String("role", w.Role),
			zap.String("kind", w.Kind), zap.Time("start", w.Start), zap.Time("end", w.End), zap.String("why", w.Why))
	}
	if len(fresh) > 0 {
		p.wake(waiting)
	}
	return nil
}

// warningText returns the text of a warning, with times in the zone of the team.
func warningText(team oncall.Profile, warnings []scheduling.Warning) string {
	zone, err := time.LoadLocation(team.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	const layout = "Mon 2006-01-02 15:04 MST"
	text := "The calendar of team " + team.Name + " leaves these times open:\n\n"
	for _, w := range warnings {
		text += fmt.Sprintf("- %s: %s to %s (%s)\n", w.Role, w.Start.In(zone).Format(layout),
			w.End.In(zone).Format(layout), w.Why)
	}
	return text
}

// recipients returns the administrators and the address of a team. If a team has none, only the log and the metric have
// the warning.
func (p *Populator) recipients(ctx context.Context, team oncall.Profile) ([]messages.NotificationRecipient, error) {
	people, err := p.stores.Teams.People(ctx, team.ID)
	if err != nil {
		return nil, err
	}
	var admins []users.ID
	for _, m := range people {
		if m.Admin && m.Active {
			admins = append(admins, m.ID)
		}
	}
	known, err := p.stores.People.ByID(ctx, admins)
	if err != nil {
		return nil, err
	}
	var out []messages.NotificationRecipient
	for _, u := range known {
		if u.Contacts[users.Email] != "" {
			out = append(out, messages.NotificationRecipient{Recipient: messages.ToUser(u.ID), UserID: u.ID,
				Target: u.Name, Mode: users.Email})
		}
	}
	if team.Email != "" {
		out = append(out, messages.NotificationRecipient{
			Recipient: messages.ToLiteral(team.Email), Target: team.Email, Literal: team.Email, Mode: users.Email,
		})
	}
	return out, nil
}

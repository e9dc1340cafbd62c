package pg

import (
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
)

// totals sums up the counts of a period.
type totals struct {
	query  applications.FigureQuery
	in     *scope
	daysTo time.Time // before it, counts are by day, not by hour
	places map[time.Time]*[25]place
	clocks map[dayIn]*[25]clock

	times    map[int64]*incidentTotal  // by Unix seconds
	plans    map[string]*incidentTotal // by name in lower case
	teams    map[int64]*incidentTotal
	messages map[sending]*applications.MessageFigure
	vendors  map[sending]*applications.VendorFigure
	people   map[int64]*applications.PageFigure
	hours    [24]applications.PageFigure
	damaged  bool
}

type incidentTotal struct {
	name                    string // of a plan
	incidents, acknowledged int64
	claims, resolves        applications.Durations
}

type sending struct {
	at                    int64
	mode, vendor, account string
}

// place is the position of an hour on the time axis.
type place struct {
	in bool // the hour is in the period
	at int64
}

// clock is an hour in the time zone of a person.
type clock struct {
	hour             int
	weekend, outside bool
}

type dayIn struct {
	day  time.Time
	zone *time.Location
}

func newTotals(f applications.FigureQuery, in *scope, daysTo time.Time) *totals {
	return &totals{query: f, in: in, daysTo: daysTo, places: map[time.Time]*[25]place{}, clocks: map[dayIn]*[25]clock{},
		times: map[int64]*incidentTotal{}, plans: map[string]*incidentTotal{}, teams: map[int64]*incidentTotal{},
		messages: map[sending]*applications.MessageFigure{}, vendors: map[sending]*applications.VendorFigure{}, people: map[int64]*applications.PageFigure{}}
}

// clone returns a copy for a period with the same days, in a scope that agrees with that of t.
func (t *totals) clone(f applications.FigureQuery, in *scope) *totals {
	c := newTotals(f, in, t.daysTo)
	c.times, c.plans, c.teams = copied(t.times), copied(t.plans), copied(t.teams)
	c.messages, c.vendors, c.people = copied(t.messages), copied(t.vendors), copied(t.people)
	c.hours, c.damaged = t.hours, t.damaged
	return c
}

func copied[K comparable, V any](m map[K]*V) map[K]*V {
	out := make(map[K]*V, len(m))
	for k, v := range m {
		one := *v
		out[k] = &one
	}
	return out
}

// of returns the value of a key, and adds a new one if there is none.
func of[K comparable, V any](m map[K]*V, k K) *V {
	v := m[k]
	if v == nil {
		v = new(V)
		m[k] = v
	}
	return v
}

// add adds the hours of a group that the period and the filters select.
func (t *totals) add(g group) {
	if !t.in.selects(g) {
		return
	}
	places := t.placesOf(g.day)
	var byPlan, byTeam, byTime *incidentTotal // of this group, found at its first hour
	var timeAt int64
	var pages pagesOf
	u := unpacker{rest: g.hours}
	for len(u.rest) > 0 {
		h := u.hour()
		if u.failed || h.number < 1 || h.number > 24 {
			t.damaged = true
			return
		}
		p := places[h.number]
		if !p.in && !g.whole {
			continue
		}
		switch g.kind {
		case "incidents":
			if byPlan == nil {
				plan := t.in.plans[g.key.plan]
				byPlan, byTeam = of(t.plans, plan.Key), of(t.teams, t.in.teamOf(g.key))
				if byPlan.name == "" {
					byPlan.name = plan.Name
				}
			}
			if byTime == nil || timeAt != p.at {
				byTime, timeAt = of(t.times, p.at), p.at
			}
			byTime.add(h)
			byPlan.add(h)
			byTeam.add(h)
		case "messages":
			t.addMessages(g.key, p.at, h)
		case "attempts":
			v := of(t.vendors, sending{p.at, g.key.mode, g.key.vendor, g.key.account})
			v.At, v.Mode, v.Vendor, v.Account = time.Unix(p.at, 0).UTC(), g.key.mode, g.key.vendor, g.key.account
			v.Attempts, v.Failed = v.Attempts+h.counts[0], v.Failed+h.counts[1]
		case "pages":
			if !g.day.Add(time.Duration(h.number) * time.Hour).After(t.daysTo) {
				continue
			}
			if pages.person == nil && !t.findPages(g, &pages) {
				return
			}
			t.addPages(pages, h)
		}
	}
}

func (i *incidentTotal) add(h hour) {
	i.incidents, i.acknowledged = i.incidents+h.counts[0], i.acknowledged+h.counts[1]
	for _, d := range h.claims {
		i.claims.Add(applications.Duration(d))
	}
	for _, d := range h.resolves {
		i.resolves.Add(applications.Duration(d))
	}
}

func (t *totals) addMessages(k key, at int64, h hour) {
	if k.mode == "" {
		return
	}
	m := of(t.messages, sending{at: at, mode: k.mode})
	m.At, m.Mode = time.Unix(at, 0).UTC(), k.mode
	m.Sent, m.Delivered, m.Failed = m.Sent+h.counts[0], m.Delivered+h.counts[1], m.Failed+h.counts[2]
}

// pagesOf is where the pages of a group are added.
type pagesOf struct {
	person *applications.PageFigure
	clocks *[25]clock
}

// findPages finds where the pages of a group are added. It reports false for a person who does not exist any more.
func (t *totals) findPages(g group, to *pagesOf) bool {
	who, known := t.in.people[g.key.user]
	if known {
		*to = pagesOf{of(t.people, g.key.user), t.clocksOf(dayIn{g.day, who.zone})}
	}
	return known
}

func (t *totals) addPages(to pagesOf, h hour) {
	c := to.clocks[h.number]
	for _, f := range []*applications.PageFigure{to.person, &t.hours[c.hour]} {
		f.Pages, f.Interruptions = f.Pages+h.counts[0], f.Interruptions+h.counts[1]
		if c.outside {
			f.Outside += h.counts[1]
		}
		if c.weekend {
			f.Weekend += h.counts[1]
		}
	}
}

// placesOf returns the places of the hours 1 to 24 of a day.
func (t *totals) placesOf(day time.Time) *[25]place {
	if found := t.places[day]; found != nil {
		return found
	}
	all := &[25]place{}
	for i := range all {
		until := day.Add(time.Duration(i) * time.Hour)
		all[i] = place{until.After(t.query.From) && !until.After(t.query.To),
			begin(until.Add(-time.Microsecond), t.query.Unit, t.in.zone).Unix()}
	}
	t.places[day] = all
	return all
}

// begin returns the beginning of the hour, day, week or month of an instant.
func begin(at time.Time, unit applications.Unit, zone *time.Location) time.Time {
	at = at.In(zone)
	year, month, date := at.Date()
	switch unit {
	case applications.ByHour:
		return at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
	case applications.ByWeek:
		return time.Date(year, month, date-(int(at.Weekday())+6)%7, 0, 0, 0, 0, zone)
	case applications.ByMonth:
		return time.Date(year, month, 1, 0, 0, 0, 0, zone)
	}
	return time.Date(year, month, date, 0, 0, 0, 0, zone)
}

// clocksOf returns the hours 1 to 24 of a day in a zone.
func (t *totals) clocksOf(d dayIn) *[25]clock {
	if found := t.clocks[d]; found != nil {
		return found
	}
	all := &[25]clock{}
	for i := range all {
		local := d.day.Add(time.Duration(i-1) * time.Hour).In(d.zone)
		weekend := local.Weekday() == time.Saturday || local.Weekday() == time.Sunday
		all[i] = clock{local.Hour(), weekend, weekend || local.Hour() < 8 || local.Hour() >= 18}
	}
	t.clocks[d] = all
	return all
}

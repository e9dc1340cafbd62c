package pg

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	catalogapplications "github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Limits of the rows of figures.
const (
	mostPlaces = 2000 // points of a time axis
	mostNames  = 100  // of plans, teams and people
)

// Figures returns what happened in a period. It reads counts by hour, and rows of the last hours only.
func (s *Counts) Figures(ctx context.Context, f catalogapplications.FigureQuery) (catalogapplications.PeriodFigures, error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *db.Queries) (out catalogapplications.PeriodFigures, err error) {
		at, err := q.StatisticsCountedTo(ctx)
		if err != nil {
			return out, err
		}
		now, err := q.ThisHour(ctx)
		if err != nil {
			return out, err
		}
		if at.CountedTo.Unix() > 0 {
			countedTo, hoursFrom := at.CountedTo.UTC(), at.DaysTo.UTC()
			out.CountedTo, out.HoursFrom = &countedTo, &hoursFrom
		}
		out.Counting = at.Waiting > 0 || at.CountedTo.Before(now)
		packed, err := q.PackedDays(ctx, db.PackedDaysParams{After: f.From, Until: f.To})
		if err != nil {
			return out, err
		}
		rows, err := q.PeriodCounts(ctx, db.PeriodCountsParams{After: f.From, Until: f.To, Without: packed.Days})
		if err != nil {
			return out, err
		}
		rest := counted{rows: rows, plans: map[int64]bool{}, people: map[int64]bool{}}
		if err := rest.named(); err != nil {
			return out, err
		}
		t, err := s.wholeDays(ctx, q, f, at.DaysTo, packed, rest)
		if err != nil {
			return out, err
		}
		if err = groups(rows, t.add); err != nil || t.damaged {
			return out, cmp.Or(err, errPacked)
		}
		t.show(&out)
		s.zones.Put(f.Zone, struct{}{})
		return out, nil
	})
}

// counted are rows of counts, with the plans and people that they name.
type counted struct {
	rows          []db.PeriodCountsRow
	plans, people map[int64]bool
}

// named adds the plans and people of the rows.
func (c counted) named() error {
	return groups(c.rows, func(g group) { c.plans[g.key.plan], c.people[g.key.user] = true, true })
}

// wholeKey identifies the totals of whole days. Period has no bounds: the days are in the version.
type wholeKey struct {
	period      catalogapplications.FigureQuery
	daysTo      time.Time
	first, last time.Time
	number      int
	version     string
}

// mostWhole bounds the totals that a process keeps, each a few megabytes.
const mostWhole = 16

// wholeDays returns the totals of packed days. It keeps them until a day is packed anew, or a name, a time zone or an
// owner changes: then the days are added up again. The caller may change the totals, and adds the rest, whose names
// they know too.
func (s *Counts) wholeDays(ctx context.Context, q *db.Queries, f catalogapplications.FigureQuery, daysTo time.Time, days db.PackedDaysRow, rest counted) (*totals, error) {
	if len(days.Days) == 0 {
		in, err := readScope(ctx, q, f, rest)
		return newTotals(f, in, daysTo), err
	}
	k := wholeKey{f, daysTo, days.Days[0], days.Days[len(days.Days)-1], len(days.Days), days.Version}
	k.period.From, k.period.To = time.Time{}, time.Time{}
	base, kept := s.whole.Lookup(k)
	if kept {
		in, err := readScope(ctx, q, f, counted{plans: union(base.of.plans, rest.plans),
			people: union(base.of.people, rest.people)})
		if err != nil {
			return nil, err
		}
		if in.agrees(base.in, base.of) {
			return base.totals.clone(f, in), nil
		}
	}
	found, err := q.CountsOfDays(ctx, days.Days)
	if err != nil {
		return nil, err
	}
	of := counted{plans: map[int64]bool{}, people: map[int64]bool{}}
	for _, r := range found {
		of.rows = append(of.rows, db.PeriodCountsRow{Kind: r.Kind, At: r.Day, Body: r.Body})
	}
	if err := of.named(); err != nil {
		return nil, err
	}
	in, err := readScope(ctx, q, f, counted{plans: union(of.plans, rest.plans), people: union(of.people, rest.people)})
	if err != nil {
		return nil, err
	}
	t := newTotals(f, in, daysTo)
	if err := groups(of.rows, t.add); err != nil || t.damaged {
		return nil, cmp.Or(err, errPacked)
	}
	of.rows = nil
	if len(found) == 4*len(days.Days) { // else a day was packed anew meanwhile
		s.whole.Put(k, &whole{totals: t.clone(f, in), in: in, of: of})
	}
	return t, nil
}

// whole are the totals of whole days, and the names that they depend on.
type whole struct {
	*totals
	in *scope
	of counted
}

func union(a, b map[int64]bool) map[int64]bool {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// agrees reports whether the scope has the same names and owners as another one, as far as counts name them.
func (s *scope) agrees(o *scope, of counted) bool {
	for id := range of.plans {
		if s.plans[id] != o.plans[id] {
			return false
		}
	}
	for id := range of.people {
		if a, b := s.people[id], o.people[id]; a.name != b.name || a.zone.String() != b.zone.String() {
			return false
		}
	}
	return maps.Equal(s.applications, o.applications) && maps.Equal(s.teams, o.teams)
}

// group has the counts of one key in one day.
type group struct {
	kind  string
	day   time.Time
	key   key
	hours []byte // packed
	whole bool   // all hours of the day are in the period
}

// groups yields the groups of packed days, and one group for each row of the other days.
func groups(rows []db.PeriodCountsRow, yield func(group)) error {
	for _, r := range rows {
		if r.Body == nil {
			day := r.At.Add(-time.Microsecond).UTC().Truncate(day)
			one := hour{int(r.At.Sub(day) / time.Hour), [3]int64{r.First, r.Second, r.Third},
				durations(r.ClaimSeconds), durations(r.ResolveSeconds)}
			yield(group{r.Kind, day, key{r.UserID, r.ApplicationID, r.PlanID, r.Mode, r.Vendor, r.Account},
				appendHour(nil, one), true})
			continue
		}
		body := unpacker{rest: r.Body}
		for len(body.rest) > 0 {
			k := unpacker{rest: body.bytes()}
			g := group{r.Kind, r.At.UTC(), k.key(), body.bytes(), false}
			if k.failed || body.failed {
				return errPacked
			}
			yield(g)
		}
	}
	return nil
}

// scope has the names of applications, plans, teams and people, and those that the filters of a query select.
type scope struct {
	zone         *time.Location
	applications map[int64]db.PeriodApplicationsRow
	teams        map[int64]db.PeriodTeamsRow
	plans        map[int64]db.PeriodPlansRow
	people       map[int64]person
	plan, team   bool // the query filters by it
}

type person struct {
	name string
	zone *time.Location
}

// readScope reads the names that the counts of some plans and people need.
func readScope(ctx context.Context, q *db.Queries, f catalogapplications.FigureQuery, of counted) (*scope, error) {
	plans, people := slices.Collect(maps.Keys(of.plans)), slices.Collect(maps.Keys(of.people))
	s := &scope{applications: map[int64]db.PeriodApplicationsRow{}, teams: map[int64]db.PeriodTeamsRow{},
		plans:  map[int64]db.PeriodPlansRow{},
		people: map[int64]person{}, plan: f.Plan != "", team: f.Team != ""}
	var err error
	if s.zone, err = time.LoadLocation(f.Zone); err != nil {
		return nil, fault.Invalidf("zone", "zone must be the name of a time zone, such as Europe/Berlin")
	}
	foundApplications, err := q.PeriodApplications(ctx, postgres.NullText(f.Application))
	if err != nil {
		return nil, err
	}
	for _, r := range foundApplications {
		s.applications[r.ID] = r
	}
	foundTeams, err := q.PeriodTeams(ctx, postgres.NullText(f.Team))
	if err != nil {
		return nil, err
	}
	for _, r := range foundTeams {
		s.teams[r.ID] = r
	}
	foundPlans, err := q.PeriodPlans(ctx, db.PeriodPlansParams{Plan: postgres.NullText(f.Plan), Ids: plans})
	if err != nil {
		return nil, err
	}
	for _, r := range foundPlans {
		s.plans[r.ID] = r
	}
	foundPeople, err := q.PeriodPeople(ctx, people)
	if err != nil {
		return nil, err
	}
	zones := map[string]*time.Location{}
	for _, r := range foundPeople {
		if zones[r.TimeZone] == nil {
			if zones[r.TimeZone], err = time.LoadLocation(r.TimeZone); err != nil {
				zones[r.TimeZone] = time.UTC
			}
		}
		s.people[int64(r.ID)] = person{r.Name, zones[r.TimeZone]}
	}
	return s, nil
}

// teamOf returns the team to which the counts of a key belong: the owner of the plan, else that of the application; 0 =
// none.
func (s *scope) teamOf(k key) int64 {
	return cmp.Or(s.plans[k.plan].TeamID, s.applications[k.application].TeamID)
}

// selects reports whether the filters select the counts of a group. Messages and calls do not know plans; their team is
// that of the application.
func (s *scope) selects(g group) bool {
	a, known := s.applications[g.key.application]
	if !known && g.kind != "pages" || known && !a.Chosen {
		return false
	}
	if s.plan && (g.kind == "incidents" || g.kind == "pages") && !s.plans[g.key.plan].Chosen {
		return false
	}
	return !s.team || s.teams[s.teamOf(g.key)].Chosen
}

// showIncidents returns the figures of one place, plan or team.
func showIncidents(name string, t *incidentTotal) catalogapplications.IncidentFigure {
	return catalogapplications.IncidentFigure{Key: name, Incidents: t.incidents, Acknowledged: t.acknowledged,
		Resolved:          t.resolves.Len(),
		AcknowledgeMedian: seconds(&t.claims, 0.5), AcknowledgeP90: seconds(&t.claims, 0.9),
		ResolveMedian: seconds(&t.resolves, 0.5), ResolveP90: seconds(&t.resolves, 0.9)}
}

func seconds(d *catalogapplications.Durations, share float64) catalogapplications.Seconds {
	return catalogapplications.Seconds(d.Percentile(share))
}

// show sets the figures from the totals.
func (t *totals) show(out *catalogapplications.PeriodFigures) {
	for _, at := range first(slices.Sorted(maps.Keys(t.times)), mostPlaces) {
		out.Times = append(out.Times, showIncidents(time.Unix(at, 0).UTC().Format(time.RFC3339), t.times[at]))
	}
	ranked := func(a, b catalogapplications.IncidentFigure) int {
		return cmp.Or(cmp.Compare(b.Incidents, a.Incidents), cmp.Compare(a.Key, b.Key))
	}
	for _, p := range t.plans {
		out.Plans = append(out.Plans, showIncidents(p.name, p))
	}
	for id, p := range t.teams {
		out.Teams = append(out.Teams, showIncidents(t.in.teams[id].Name, p))
	}
	slices.SortFunc(out.Plans, ranked)
	slices.SortFunc(out.Teams, ranked)
	out.Plans, out.Teams = first(out.Plans, mostNames), first(out.Teams, mostNames)
	for _, m := range t.messages {
		out.Messages = append(out.Messages, *m)
	}
	slices.SortFunc(out.Messages, func(a, b catalogapplications.MessageFigure) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Mode, b.Mode))
	})
	for _, v := range t.vendors {
		out.Vendors = append(out.Vendors, *v)
	}
	slices.SortFunc(out.Vendors, func(a, b catalogapplications.VendorFigure) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Account, b.Account),
			cmp.Compare(a.Mode, b.Mode))
	})
	for id, p := range t.people {
		p.Key = t.in.people[id].name
		out.People = append(out.People, *p)
	}
	slices.SortFunc(out.People, func(a, b catalogapplications.PageFigure) int {
		return cmp.Or(cmp.Compare(b.Interruptions, a.Interruptions), cmp.Compare(b.Pages, a.Pages),
			cmp.Compare(a.Key, b.Key))
	})
	out.People = first(out.People, mostNames)
	for number, h := range t.hours {
		if h.Pages > 0 {
			h.Key = fmt.Sprintf("%02d", number)
			out.Hours = append(out.Hours, h)
		}
	}
}

func first[T any](all []T, most int) []T { return all[:min(len(all), most)] }

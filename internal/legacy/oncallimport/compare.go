package oncallimport

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
	calendar "github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// back is how much of the past is compared.
const back = 90 * 24 * time.Hour

// teamRole is a role of a team, by Oncall's numbers.
type teamRole struct{ team, role int64 }

// duty is one event of the source.
type duty struct {
	user       int64
	start, end time.Time
}

// compare reads the events of the source again. At every instant at which either side changes, it compares who holds
// each role of each team. For the source it uses Oncall's rule (start <= t < end, with subscriptions), for this side
// our calendar.
func (im *importer) compare(ctx context.Context) error {
	since := im.now.Add(-back)
	there, until, err := im.duties(ctx, since)
	if err != nil {
		return err
	}
	subscribed, err := im.subscribed(ctx)
	if err != nil {
		return err
	}
	zones, err := im.zones(ctx)
	if err != nil {
		return err
	}
	here, err := im.store.OnCall(ctx, since, until)
	if err != nil {
		return err
	}
	result := &imports.Comparison{From: since, Until: until, Teams: len(im.teams), Differences: []imports.Difference{}}
	for _, team := range slices.Sorted(maps.Keys(im.teams)) {
		for _, role := range slices.Sorted(maps.Keys(im.roles)) {
			duties := slices.Clone(there[teamRole{team, role}])
			for _, other := range subscribed[teamRole{team, role}] {
				duties = append(duties, there[teamRole{other, role}]...)
			}
			c := comparing{im: im, team: team, role: role, there: duties, here: here.Teams[team], people: here.People,
				zone: cmp.Or(zones[team], time.UTC), since: since, until: until}
			c.run(result)
		}
	}
	im.Report.OnCall = result
	return nil
}

// unreported returns a loader for rows that are reported when they are imported.
func (im *importer) unreported() imports.Loader {
	return imports.Loader{Source: im.Source, Report: imports.NewReport("", nil)}
}

// duties reads the events that end after since, and returns the end of the last one. It skips events whose team, role
// or person does not exist: in Oncall they put nobody on call either.
func (im *importer) duties(ctx context.Context, since time.Time) (map[teamRole][]duty, time.Time, error) {
	out, until := map[teamRole][]duty{}, im.now.Add(time.Second)
	events := imports.From{Table: "event", Order: "id", Columns: "team_id role_id user_id start end"}
	err := im.unreported().Each(ctx, events, func(row *imports.Row) {
		start, end, ok := span(row)
		at := teamRole{row.Int("team_id"), row.Int("role_id")}
		_, team := im.teams[at.team]
		_, role := im.roles[at.role]
		_, user := im.people[row.Int("user_id")]
		if !ok || !team || !role || !user || !end.After(since) {
			return
		}
		out[at] = append(out[at], duty{row.Int("user_id"), start, end})
		if end.After(until) {
			until = end
		}
	})
	return out, until, err
}

// zones reads the time zones of teams.
func (im *importer) zones(ctx context.Context) (map[int64]*time.Location, error) {
	out := map[int64]*time.Location{}
	return out, im.unreported().Each(ctx, imports.From{Table: "team", Columns: "id scheduling_timezone"}, func(row *imports.Row) {
		if z, err := time.LoadLocation(imports.Zone(row, "scheduling_timezone").(string)); err == nil {
			out[row.Int("id")] = z
		}
	})
}

// subscribed reads the subscriptions of teams to roles of other teams. Subscriptions to a deleted team have no effect.
func (im *importer) subscribed(ctx context.Context) (map[teamRole][]int64, error) {
	out := map[teamRole][]int64{}
	subscriptions := imports.From{Table: "team_subscription", Columns: "team_id subscription_id role_id"}
	return out, im.unreported().Each(ctx, subscriptions, func(row *imports.Row) {
		at, other := teamRole{row.Int("team_id"), row.Int("role_id")}, row.Int("subscription_id")
		if t, ok := im.teams[other]; ok && t.active && other != at.team {
			out[at] = append(out[at], other)
		}
	})
}

// comparing is the comparison of one role of one team.
type comparing struct {
	im           *importer
	team, role   int64
	there        []duty
	here         *calendar.TeamCalendar // nil = the team does not exist here
	people       map[users.ID]int64
	zone         *time.Location // of the team
	since, until time.Time
}

func (c comparing) run(into *imports.Comparison) {
	role := c.im.roles[c.role]
	times := []time.Time{c.since}
	for _, d := range c.there {
		times = append(times, d.start, d.end)
	}
	if c.here != nil {
		for _, s := range c.here.Shifts() {
			if strings.EqualFold(s.Role, role) {
				times = append(times, s.Start, s.End)
			}
		}
	}
	if len(times) == 1 {
		return
	}
	slices.SortFunc(c.there, func(a, b duty) int { return a.start.Compare(b.start) })
	slices.SortFunc(times, time.Time.Compare)
	times = slices.CompactFunc(times, time.Time.Equal)
	times = slices.DeleteFunc(times, func(t time.Time) bool { return t.Before(c.since) || !t.Before(c.until) })
	first := len(into.Differences)
	for i, t := range times {
		end := c.until
		if i+1 < len(times) {
			end = times[i+1]
		}
		into.Stretches++
		there, here := c.thereAt(t), c.hereAt(role, t)
		if slices.Equal(there, here) {
			continue
		}
		d := imports.Difference{
			Team: c.im.teams[c.team].name, Role: role, Zone: c.zone.String(), From: t.In(c.zone), Until: end.In(c.zone), There: c.names(there), Here: c.names(here),
		}
		if n := len(into.Differences); n > first {
			last := &into.Differences[n-1]
			if last.Until.Equal(t) && slices.Equal(last.There, d.There) && slices.Equal(last.Here, d.Here) {
				last.Until = end.In(c.zone)
				continue
			}
		}
		into.Differences = append(into.Differences, d)
	}
}

// thereAt returns the people who hold the role at t in the source, in order, without duplicates.
func (c comparing) thereAt(t time.Time) []int64 {
	var out []int64
	for _, d := range c.there {
		if d.start.After(t) {
			break
		}
		if d.end.After(t) {
			out = append(out, d.user)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hereAt returns the people who hold the role at t here, by Oncall's numbers.
func (c comparing) hereAt(role string, t time.Time) []int64 {
	if c.here == nil {
		return nil
	}
	var out []int64
	for _, s := range c.here.OnCall(role, t) {
		out = append(out, c.people[s.User])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c comparing) names(numbers []int64) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		if p, ok := c.im.people[n]; ok {
			out[i] = p.name
		} else {
			out[i] = "user " + strconv.FormatInt(n, 10)
		}
	}
	return out
}

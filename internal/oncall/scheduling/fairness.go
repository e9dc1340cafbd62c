package scheduling

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Load is a person's time on call in a window. The same hour may count as night, weekend and holiday.
type Load struct {
	User                            users.ID
	Shifts                          int
	Total, Night, Weekend, Holidays time.Duration
}

// Nights last from nightStart to nightEnd on the team's clock.
const (
	nightStart = 22 * hour
	nightEnd   = 6 * hour
)

// Fairness sums up the shifts of roles (none = all roles on duty) in [from, to) by person, in the order of their ids.
// Nights are 22:00 to 06:00, weekends Saturday and Sunday, on the team's clock. A person who holds two roles at once is
// counted for both.
func Fairness(shifts []oncall.Shift, zone *time.Location, holidays map[oncall.Date]bool, from, to time.Time, roles ...string) []Load {
	loads := map[users.ID]*Load{}
	for _, s := range shifts {
		if len(roles) == 0 && !oncall.OnDuty(s.Role) || len(roles) > 0 && !slices.Contains(roles, s.Role) {
			continue
		}
		part := oncall.Span{Start: clock.Later(s.Start, from), End: clock.Earlier(s.End, to)}
		if !part.Start.Before(part.End) {
			continue
		}
		l := loads[s.User]
		if l == nil {
			l = &Load{User: s.User}
			loads[s.User] = l
		}
		l.add(part, zone, holidays)
	}
	out := make([]Load, 0, len(loads))
	for _, l := range loads {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b Load) int { return cmp.Compare(a.User, b.User) })
	return out
}

// add counts a stretch. It cuts the stretch at midnights and at the beginnings and ends of nights.
func (l *Load) add(part oncall.Span, zone *time.Location, holidays map[oncall.Date]bool) {
	l.Shifts++
	l.Total += part.End.Sub(part.Start)
	for d := oncall.LocalIn(part.Start, zone).Date() - 1; d <= oncall.LocalIn(part.End, zone).Date()+1; d++ {
		if !d.ExistsIn(zone) {
			continue
		}
		next := d + 1
		for !next.ExistsIn(zone) {
			next++
		}
		midnight := d.Local()
		dawn, dusk := (midnight + nightEnd).In(zone), (midnight + nightStart).In(zone)
		for _, w := range []struct {
			oncall.Span
			night bool
		}{
			{oncall.Span{Start: midnight.In(zone), End: dawn}, true},
			{oncall.Span{Start: dawn, End: dusk}, false},
			{oncall.Span{Start: dusk, End: next.Local().In(zone)}, true},
		} {
			start, end := clock.Later(w.Start, part.Start), clock.Earlier(w.End, part.End)
			length := end.Sub(start)
			if length <= 0 {
				continue
			}
			if w.night {
				l.Night += length
			}
			if wd := midnight.Weekday(); wd == time.Saturday || wd == time.Sunday {
				l.Weekend += length
			}
			if holidays[d] {
				l.Holidays += length
			}
		}
	}
}

// Suggestion is the person who should take a shift, and each candidate's distance to the next shift. Forever = no shift
// near.
type Suggestion struct {
	User     users.ID // 0 = nobody is free
	Distance map[users.ID]time.Duration
}

// Forever is the distance of a person without a shift nearby.
const Forever = time.Duration(1<<63 - 1)

// Suggest returns the active member in rotation who is free in [start, end) and has the most rest around it
// (docs/reference/oncall-v0.md 4). Distances count between beginnings of shifts of the team and role, up to a week for
// each person of the roster. Ties go to the roster's order. shifts are the team's, in at least that range.
func Suggest(teamID int64, role string, roster []Member, shifts []oncall.Shift, start, end time.Time) Suggestion {
	horizon := time.Duration(len(roster)) * week * time.Second
	busy := map[users.ID]bool{}
	distance := map[users.ID]time.Duration{}
	for _, s := range shifts {
		if s.TeamID != teamID {
			continue
		}
		if s.Overlaps(start, end) {
			busy[s.User] = true
		}
		d := s.Start.Sub(start).Abs()
		if s.Role != role || d > horizon {
			continue
		}
		if known, ok := distance[s.User]; !ok || d < known {
			distance[s.User] = d
		}
	}
	out := Suggestion{Distance: map[users.ID]time.Duration{}}
	for _, m := range roster {
		if !m.InRotation || !m.Active || busy[m.User] {
			continue
		}
		d, ok := distance[m.User]
		if !ok {
			d = Forever
		}
		out.Distance[m.User] = d
		if out.User == 0 || d > out.Distance[out.User] {
			out.User = m.User
		}
	}
	return out
}

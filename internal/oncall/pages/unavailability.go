package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// absenceObject returns an unavailability on the wire.
func absenceObject(s scheduling.StoredAbsence) map[string]any {
	start := s.Start.In(s.Zone)
	return map[string]any{"id": s.ID, "user": s.UserName, "start": start.Unix(), "end": s.End().Unix(),
		"timezone": s.Zone.String(), "rule": requests.OrNull(s.Rule), "note": requests.OrNull(s.Reason), "set_by": requests.OrNull(s.SetBy),
		"subscription": requests.OrNull(s.Subscription),
		"scope":        map[bool]string{true: "person", false: "team"}[s.TeamID == 0]}
}

func (a unavailability) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/unavailability", routing.Read, a.listAbsences),
		routing.Post("/v1/teams/{team}/unavailability", routing.Write, a.addAbsence),
		routing.Delete("/v1/unavailability/{id}", routing.Write, a.dropAbsence),
		routing.Get("/v1/teams/{team}/conflicts", routing.Read, a.listConflicts),
	}
}

// listAbsences answers with the unavailabilities that count in a team. A member also gets their own of other teams. If
// the query has a start, the answer has each occurrence of the recurring ones in the window.
func (a unavailability) listAbsences(w http.ResponseWriter, r *http.Request) error {
	t, from, to, err := a.teamAndWindow(r, 0, 30)
	if err != nil {
		return err
	}
	within := r.URL.Query().Has("start")
	people, err := a.Members.People(r.Context(), t.ID)
	if err != nil {
		return err
	}
	absences, err := a.Unavailability.Absences(r.Context(), requests.IDsOf(people))
	if err != nil {
		return err
	}
	var out []map[string]any
	for _, s := range absences {
		if !s.CountsIn(t.ID) && s.User != wire.Actor(r.Context()).UserID {
			continue
		}
		if !within {
			out = append(out, absenceObject(s))
			continue
		}
		times, err := s.Between(from, to)
		if err != nil {
			continue // populate logs the rules that cannot be parsed
		}
		for _, at := range times[:min(len(times), maxAbsences)] {
			one := absenceObject(s)
			one["start"], one["end"] = at.Start.Unix(), at.End.Unix()
			out = append(out, one)
		}
	}
	return listing.AnswerAll(w, out)
}

// maxAbsences is the approximate limit of unavailabilities of a person, besides those of subscribed calendars.
// Populating a team reads all of them.
const maxAbsences = 200

// addAbsence stores a time in which a person cannot be on call. It counts in every team if the person, an administrator
// of Iris or an application adds it; if an administrator of the team adds it, it counts in that team only. The answer
// has the shifts that it overlaps. With preview=true it stores nothing.
func (a unavailability) addAbsence(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, b, err := requests.WithBody(w, r, "", a.Team)
	if err != nil {
		return err
	}
	preview, err := Flag(r, "preview")
	if err != nil {
		return err
	}
	u, err := a.absentee(ctx, b, t)
	if err != nil {
		return err
	}
	start, err := b.RequiredTime("start")
	end := jsonbody.Next(&err, b.RequiredTime, "end")
	if err != nil {
		return err
	}
	absence := scheduling.StoredAbsence{SetBy: wire.Actor(ctx).String(), Recurring: scheduling.Recurring{User: u.ID}}
	if wire.Actor(ctx).MayEditPerson(u.User, nil, a.Openings) != nil {
		absence.TeamID = t.ID
	}
	absence.Rule, err = b.Text("rule")
	absence.Reason = jsonbody.Next(&err, b.Text, "note")
	name := jsonbody.Next(&err, b.Text, "timezone")
	if err != nil {
		return err
	}
	absence.Zone = a.ZoneOf(t)
	if name != "" {
		name, err = requests.ZoneName(name)
		if err == nil {
			absence.Zone, err = time.LoadLocation(name)
		}
		if err != nil {
			return fault.Invalidf("timezone", "unknown time zone %q", name)
		}
	}
	absence.Start, absence.Length = oncall.LocalIn(start, absence.Zone), scheduling.Lasts(start, end, absence.Zone)
	if err := absence.Check(); err != nil {
		return err
	}
	if !preview {
		if absence.ID, err = a.storeAbsence(ctx, absence, u.Name); err != nil {
			return err
		}
	}
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	conflicts, err := a.conflictsOf(ctx, []scheduling.StoredAbsence{absence}, nil, now, now.Add(MaxWindow))
	if err != nil {
		return err
	}
	if preview {
		return routing.Answer(w, http.StatusOK, map[string]any{"id": 0, "conflicts": conflicts})
	}
	return routing.Answer(w, http.StatusCreated, map[string]any{"id": absence.ID, "conflicts": conflicts})
}

// storeAbsence stores an unavailability of a person and returns its number.
func (a unavailability) storeAbsence(ctx context.Context, absence scheduling.StoredAbsence, name string) (int64, error) {
	known, err := a.Unavailability.Absences(ctx, []users.ID{absence.User})
	if err != nil {
		return 0, err
	}
	known = slices.DeleteFunc(known, func(s scheduling.StoredAbsence) bool { return s.Subscription != 0 })
	if len(known) >= maxAbsences {
		return 0, fault.Invalidf("user", "%s has %d unavailabilities; remove those that are over first", name,
			len(known))
	}
	return a.Unavailability.AddAbsence(ctx, absence)
}

// absentee returns the person whose unavailability the body adds: the user that the body names, else the caller.
func (a unavailability) absentee(ctx context.Context, b jsonbody.Object, t oncall.Profile) (oncall.Person, error) {
	name, err := b.Text("user")
	if err != nil {
		return oncall.Person{}, err
	}
	if name == "" {
		return a.PersonOf(ctx, b)
	}
	u, err := a.People.ByName(ctx, name)
	if err != nil {
		return u, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %q", name))
	}
	people, err := a.Members.People(ctx, t.ID)
	if err != nil {
		return u, err
	}
	if !slices.Contains(requests.IDsOf(people), u.ID) {
		return u, fault.Invalidf("user", "%s is not part of team %s", u.Name, t.Name)
	}
	return u, wire.Actor(ctx).MayEditUnavailability(u.User, t.ID, a.Openings)
}

// dropAbsence deletes an unavailability. It is for callers who may edit it.
func (a unavailability) dropAbsence(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	id, err := requests.ShiftID(r, "id")
	if err != nil {
		return err
	}
	s, err := a.Unavailability.Absence(ctx, id)
	if err != nil {
		return err
	}
	if err := wire.Actor(ctx).MayEditUnavailability(users.User{ID: s.User, Name: s.UserName}, s.TeamID, a.Openings); err != nil {
		return err
	}
	if s.Subscription != 0 {
		return fault.Newf(fault.Conflict,
			"unavailability %d comes from a subscribed calendar: change it in that calendar, or remove the subscription", id)
	}
	return routing.Done(w, http.StatusNoContent, a.Unavailability.DropAbsence(ctx, id))
}

// maxConflicts is the maximum number of shifts that one request compares with unavailabilities.
const maxConflicts = 2000

// conflict is a shift during an unavailability of its person.
type conflict struct {
	EventID        int64   `json:"event_id"`
	Team           string  `json:"team"`
	Role           string  `json:"role"`
	User           string  `json:"user"`
	FullName       *string `json:"full_name"`
	Start          int64   `json:"start"`
	End            int64   `json:"end"`
	Unavailability int64   `json:"unavailability"`
	SetBy          *string `json:"set_by"`
}

// listConflicts answers with the shifts of a team whose person is unavailable during the shift.
func (a unavailability) listConflicts(w http.ResponseWriter, r *http.Request) error {
	t, from, to, err := a.teamAndWindow(r, 0, 30)
	if err != nil {
		return err
	}
	people, err := a.Members.People(r.Context(), t.ID)
	if err != nil {
		return err
	}
	absences, err := a.Unavailability.Absences(r.Context(), requests.IDsOf(people))
	if err != nil {
		return err
	}
	out, err := a.conflictsOf(r.Context(), absences, []int64{t.ID}, from, to)
	if err != nil {
		return err
	}
	return listing.AnswerAll(w, out)
}

// conflictsOf returns the shifts between from and to that overlap an unavailability of their person, by start. Without
// teams it searches all teams.
func (a unavailability) conflictsOf(ctx context.Context, absences []scheduling.StoredAbsence, teams []int64, from, to time.Time) ([]conflict, error) {
	if len(absences) == 0 {
		return []conflict{}, nil
	}
	var away []users.ID
	for _, s := range absences {
		if !slices.Contains(away, s.User) {
			away = append(away, s.User)
		}
	}
	start, end := from.Unix(), to.Unix()
	shifts, err := a.Shifts.Find(ctx, oncall.ShiftQuery{Teams: teams, Users: away, End: oncall.Range{Min: &start},
		Start: oncall.Range{Max: &end}, Limit: maxConflicts})
	if err != nil {
		return nil, err
	}
	return overlaps(absences, shifts, from, to), nil
}

// overlaps returns the shifts that overlap an unavailability of their person between from and to, by start.
func overlaps(absences []scheduling.StoredAbsence, shifts []oncall.ShiftRow, from, to time.Time) []conflict {
	out := []conflict{}
	for _, s := range absences {
		spans, err := s.Between(from, to)
		if err != nil {
			continue // populate logs the rules that cannot be parsed
		}
		for _, shift := range shifts {
			overlaps := func(span oncall.Absence) bool {
				return span.Start.Before(shift.End) &&
					shift.Start.Before(span.End)
			}
			if shift.User == s.User && s.CountsIn(shift.TeamID) && shift.Role != oncall.RoleVacation && shift.Role != oncall.RoleUnavailable &&
				slices.ContainsFunc(spans, overlaps) {
				out = append(out, conflict{int64(shift.ID), shift.Team, shift.Role, shift.UserName,
					requests.OrNull(shift.FullName), shift.Start.Unix(), shift.End.Unix(), s.ID, requests.OrNull(s.SetBy)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b conflict) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

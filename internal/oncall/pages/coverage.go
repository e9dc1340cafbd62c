package pages

import (
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a coverage) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/gaps", routing.Read, a.gaps),
		routing.Get("/v1/teams/{team}/coverage", routing.Read, a.getCoverage),
		routing.Put("/v1/teams/{team}/coverage/{role}", routing.Write, a.setCoverage),
	}
}

// gaps answers with the times in which the team wants a role covered and nobody holds it. role selects roles; without
// it all count.
func (a coverage) gaps(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, from, to, err := a.teamAndWindow(r, 0, 30)
	if err != nil {
		return err
	}
	roles, err := a.askedRoles(r)
	if err != nil {
		return err
	}
	found, err := a.Calendars.TeamCalendars(ctx, []int64{t.ID}, from, to)
	if err != nil {
		return err
	}
	coverage, err := a.Coverage.Coverage(ctx, t.ID, found[t.ID].TeamCalendar)
	if err != nil {
		return err
	}
	if len(roles) == 0 {
		roles = coverage.Roles()
	}
	var out []map[string]any
	for _, gap := range coverage.Gaps(found[t.ID].TeamCalendar, from, to, roles...) {
		out = append(out, map[string]any{"role": gap.Role, "kind": gap.Kind, "start": gap.Start.Unix(),
			"end": gap.End.Unix()})
	}
	return listing.AnswerAll(w, out)
}

// coverObject is the coverage rule of a role on the wire.
type coverObject struct {
	Role  string           `json:"role"`
	Cover scheduling.Cover `json:"cover"`
	Hours []windowObject   `json:"hours"`
}

// getCoverage answers with the coverage rules of the team. A role that has schedules and no rule is covered as its
// schedules say.
func (a coverage) getCoverage(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	coverage, err := a.Coverage.Coverage(r.Context(), t.ID, nil)
	if err != nil {
		return err
	}
	var out []coverObject
	seen := map[string]bool{}
	for _, rule := range coverage.Rules {
		seen[rule.Role] = true
		out = append(out, coverObject{rule.Role, rule.Cover, windowObjects(rule.Hours)})
	}
	for _, role := range coverage.Roles() {
		if !seen[role] {
			out = append(out, coverObject{role, scheduling.CoverSchedules, []windowObject{}})
		}
	}
	return listing.AnswerAll(w, out)
}

// setCoverage stores the coverage rule of a role. Administrators of the team may.
func (a coverage) setCoverage(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.Administered(r)
	if err != nil {
		return err
	}
	role, err := a.Role(ctx, routing.Param(r, "role"))
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "")
	if err != nil {
		return err
	}
	cover, err := b.Required("cover")
	if err != nil {
		return err
	}
	rule := scheduling.CoverRule{Role: role.Name, Cover: scheduling.Cover(cover)}
	if b.Given("hours") {
		var hours []windowObject
		if err := json.Unmarshal(b.Members["hours"], &hours); err != nil {
			return fault.Invalidf("hours", "hours must be a list of windows: %v", err)
		}
		for _, g := range hours {
			window, err := readWindow("hours", g)
			if err != nil {
				return err
			}
			rule.Hours = append(rule.Hours, window)
		}
	}
	if err := rule.Check(); err != nil {
		return err
	}
	if err := a.Coverage.SetCoverRule(ctx, t, rule, requests.By(r, b.Raw)); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, coverObject{rule.Role, rule.Cover, windowObjects(rule.Hours)})
}

// windowObjects returns windows on the wire.
func windowObjects(windows []scheduling.Window) []windowObject {
	out := []windowObject{}
	for _, w := range windows {
		o := windowObject{Days: []string{}, From: timeOfDay(w.From), To: timeOfDay(w.To)}
		for _, d := range w.Days {
			o.Days = append(o.Days, weekdays[d])
		}
		out = append(out, o)
	}
	return out
}

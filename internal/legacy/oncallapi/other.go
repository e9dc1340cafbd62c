package oncallapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a auditLog) routes() []routing.Route {
	return []routing.Route{routing.Get("/api/v0/audit", routing.Read, a.audit)}
}

// audit answers with the entries of the calendar's audit log that match the query.
func (a auditLog) audit(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query := oncall.AuditQuery{Teams: q["team"], Owners: q["owner"], Actions: q["action"]}
	since, given, err := params.Time(q, "start")
	if err != nil {
		return err
	}
	if given {
		query.Since = &since
	}
	until, given, err := params.Time(q, "end")
	if err != nil {
		return err
	}
	if given { // the end is a whole second, and all of that second is included
		until = until.Add(time.Second - time.Microsecond)
		query.Until = &until
	}
	entries, err := a.Notices.Audit(r.Context(), query)
	if err != nil {
		return err
	}
	out := make([]map[string]any, len(entries))
	for i, e := range entries {
		out[i] = map[string]any{"owner": e.Owner, "team": e.Team, "action": e.Action, "timestamp": e.At.Unix(),
			"context": string(e.Context)}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// Bonus has the names of teams whose shifts are always or never paid for.
type Bonus struct {
	Whitelist []string // always paid
	Blacklist []string // never paid
}

// paid is an entry of the list that Paid fetches: which roles of a team are paid for.
type paid struct {
	Name          string `json:"name"`
	PrimaryPaid   any    `json:"primary_paid"`
	SecondaryPaid any    `json:"secondary_paid"`
}

func (a bonuses) routes() []routing.Route {
	if a.Paid == nil {
		return nil
	}
	return []routing.Route{routing.Get("/api/v0/events/bonus", routing.Read, a.bonus)}
}

// bonus answers with the paid shifts by person. Without filters it answers with future shifts. If the list of paid
// roles cannot be read, the answer is a 503.
func (a bonuses) bonus(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	if !slices.ContainsFunc(keys(q), func(k string) bool { return k != "fields" && k != "include_subscribed" }) {
		now, err := a.People.Clock(ctx)
		if err != nil {
			return err
		}
		q.Set("start__gt", strconv.FormatInt(now.Unix(), 10))
	}
	raw, err := a.Paid(ctx)
	var list []paid
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return &fault.Error{Kind: fault.Unavailable, Message: "Bonus events unavailable",
			Detail: "the list of paid roles cannot be read", Err: err}
	}
	byTeam := map[string]paid{}
	for _, p := range list {
		byTeam[p.Name] = p
	}
	query, none, err := events(a).eventQuery(ctx, q)
	if err != nil {
		return err
	}
	out := map[string][]map[string]any{}
	if none {
		return routing.Answer(w, http.StatusOK, out)
	}
	rows, err := a.Shifts.Find(ctx, query)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if a.counts(row, byTeam[row.Team]) {
			out[row.UserName] = append(out[row.UserName], row.Event())
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// counts reports whether a shift is paid for.
func (a bonuses) counts(row oncall.ShiftRow, p paid) bool {
	switch {
	case row.Role == "manager":
		return false
	case slices.Contains(a.Bonus.Whitelist, row.Team):
		return true
	case slices.Contains(a.Bonus.Blacklist, row.Team):
		return false
	case row.Role == oncall.RolePrimary:
		return truthy(p.PrimaryPaid)
	case row.Role == oncall.RoleSecondary:
		return truthy(p.SecondaryPaid)
	}
	return false
}

// truthy decides booleans, numbers and texts as Python does. Any other JSON value is false.
func truthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	}
	return false
}

// keys returns the names of the parameters.
func keys(q url.Values) []string {
	out := make([]string, 0, len(q))
	for k := range q {
		out = append(out, k)
	}
	return out
}

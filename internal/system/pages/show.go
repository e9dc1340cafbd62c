package pages

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

type incidentRow struct {
	incidents.IncidentInList
	Title     string
	Mine      bool // the reader has acknowledged it
	StateText string
}

// maxTitle is the length of a title in characters.
const maxTitle = 160

func row(i incidents.IncidentInList, mine bool) incidentRow {
	text := string(i.State)
	switch {
	case mine && i.State == incidents.StateAcknowledged:
		text = "acknowledged by you"
	case mine:
		text += ", yours"
	case i.State == incidents.StateEscalating && i.Step > 0:
		text = fmt.Sprintf("escalating, step %d", i.Step)
	case i.State == incidents.StateExhausted:
		text = "nobody acknowledged"
	}
	return incidentRow{i, humanize.Shorten(i.Heading, maxTitle), mine, text}
}

// incidentRows returns the open incidents that concern the reader: first those that nobody owns, then those of the
// reader.
func (d *data) incidentRows() (rows []incidentRow, more bool) {
	seen := map[incidents.ID]bool{}
	for _, i := range d.owned {
		seen[i.ID] = true
		rows = append(rows, row(i, true))
	}
	for _, i := range d.paged {
		if !seen[i.ID] && i.Owner == "" && i.State != incidents.StateMerged {
			rows = append(rows, row(i, false))
		}
	}
	slices.SortStableFunc(rows, func(a, b incidentRow) int {
		switch {
		case a.Mine == b.Mine:
			return cmp.Compare(b.ID, a.ID)
		case b.Mine:
			return -1
		}
		return 1
	})
	return rows[:min(len(rows), maxIncidents)], len(rows) > maxIncidents || len(d.owned) == maxIncidents ||
		len(d.paged) == maxIncidents
}

// teamView is who is on call for a team now.
type teamView struct {
	Name, Href string
	Roles      []roleView
}

type roleView struct {
	Role   string
	People []string
	Until  time.Time // zero = the next hand-off is not known
	Then   string    // who takes over; "" = nobody
}

func viewTeams(found []scheduling.Team) []teamView {
	teams := make([]teamView, 0, len(found))
	for _, t := range found {
		v := teamView{Name: t.Team, Href: "/teams/" + url.PathEscape(t.Team)}
		for _, r := range t.Roles {
			role := roleView{Role: r.Role}
			for _, p := range r.People {
				role.People = append(role.People, cmp.Or(p.FullName, p.Name))
			}
			if len(r.Next) > 0 {
				role.Until, role.Then = r.Next[0].At, strings.Join(r.Next[0].To, ", ")
			}
			v.Roles = append(v.Roles, role)
		}
		teams = append(teams, v)
	}
	return teams
}

// shiftView is a shift of the reader: a current shift with End, or a future one with Start.
type shiftView struct {
	Team, Href, Role string
	Now              bool
	Start, End       time.Time
}

// viewShifts returns the current shifts from the calendars of the teams, and then the next ones.
func viewShifts(next []personal.NextShift, teams []scheduling.Team, name string, now time.Time) []shiftView {
	var out []shiftView
	for _, t := range teams {
		for _, r := range t.Roles {
			for _, p := range r.People {
				if p.Name != name {
					continue
				}
				v := shiftView{Team: t.Team, Href: "/teams/" + url.PathEscape(t.Team), Role: r.Role, Now: true}
				if len(r.Next) > 0 {
					v.End = r.Next[0].At
				}
				out = append(out, v)
			}
		}
	}
	for _, s := range next {
		if s.Start.After(now) {
			out = append(out, shiftView{Team: s.Team, Href: "/teams/" + url.PathEscape(s.Team), Role: s.Role,
				Start: s.Start, End: s.End})
		}
	}
	return out
}

// phoneModes are the modes that need a phone number.
var phoneModes = []users.Mode{users.Call, users.SMS}

// maxWarnings is how many warnings of a kind are shown.
const maxWarnings = 5

// warnings returns the warnings with links to a remedy. Those about pages that cannot reach the reader come first.
func (d *data) warnings(name string, zone *time.Location) []page.Warning {
	all := d.contactWarnings(name)
	all = append(all, d.teamWarnings(zone)...)
	all = append(all, d.senderWarnings()...)
	return append(all, d.vendorWarnings()...)
}

// contactWarnings are about pages that could not reach the reader.
func (d *data) contactWarnings(name string) []page.Warning {
	if strings.Contains(d.missing, "your contacts") || strings.Contains(d.missing, "how pages reach you") {
		return nil
	}
	to := page.Path("/people/%s", name)
	has := map[users.Mode]bool{}
	for _, c := range d.contact {
		has[c.Mode] = c.Destination != ""
	}
	if len(d.contact) == 0 {
		return []page.Warning{{Text: "You have no contact: no page can reach you.", Href: to, Action: "Add one"}}
	}
	var out []page.Warning
	lacking := map[users.Mode][]string{}
	var modes []users.Mode
	lacks := func(priority users.Priority, mode users.Mode) {
		if mode == "" || mode == users.Drop || has[mode] || slices.Contains(lacking[mode], string(priority)) {
			return
		}
		if lacking[mode] == nil {
			modes = append(modes, mode)
		}
		lacking[mode] = append(lacking[mode], string(priority))
	}
	chosen := map[users.Priority]bool{}
	for _, r := range d.rules {
		chosen[r.Priority] = r.Mode != ""
		lacks(r.Priority, r.Mode)
		for _, f := range r.FollowUps {
			lacks(r.Priority, f.Mode)
		}
	}
	for _, u := range d.usual { // the person has no rule for the priority: warn only about a missing phone number
		if !chosen[u.Priority] && slices.Contains(phoneModes, u.Mode) {
			lacks(u.Priority, u.Mode)
		}
	}
	for _, mode := range modes {
		what := "no contact for " + string(mode)
		if slices.Contains(phoneModes, mode) {
			what = "no phone number for " + string(mode)
		}
		out = append(out, page.Warning{Text: fmt.Sprintf("Pages with priority %s come by %s, and you have %s.",
			strings.Join(lacking[mode], " or "), mode, what),
			Href: to, Action: "Add a contact or choose another mode"})
	}
	for _, c := range d.contact {
		if c.Verifiable && !c.Verified && c.Destination != "" {
			out = append(out, page.Warning{Text: fmt.Sprintf("Your contact for %s is not verified.", c.Mode), Href: to,
				Action: "Verify it"})
		}
	}
	return out
}

// teamWarnings are about roles that nobody holds, or that somebody holds whom no page can reach.
func (d *data) teamWarnings(zone *time.Location) []page.Warning {
	var gaps, unreachable []page.Warning
	for _, t := range d.onCall {
		for _, r := range t.Roles {
			if len(r.Gaps) > 0 {
				g := r.Gaps[0]
				text := fmt.Sprintf("Nobody has a shift as %s of team %s from %s to %s", r.Role, t.Team,
					civil(g.Start, zone), civil(g.End, zone))
				if !g.Start.After(d.now) {
					text = fmt.Sprintf("Nobody has a shift as %s of team %s now, until %s", r.Role, t.Team,
						civil(g.End, zone))
				}
				if more := len(r.Gaps) - 1; more > 0 {
					text += ", and " + humanize.Count(more, "further gap", "further gaps") + " in the next 7 days"
				}
				gaps = append(gaps, page.Warning{Text: text + ".", Href: page.Path("/teams/%s/coverage", t.Team),
					Action: "Fill the gap"})
			}
			for _, p := range r.People {
				if len(p.Contacts) == 0 {
					unreachable = append(unreachable,
						page.Warning{Text: fmt.Sprintf("%s is %s of team %s and has no contact: no page can reach them.", cmp.Or(p.FullName, p.Name), r.Role, t.Team),
							Href: page.Path("/people/%s", p.Name), Action: "See their contacts"})
				}
			}
		}
	}
	return append(gaps[:min(len(gaps), maxWarnings)], unreachable[:min(len(unreachable), maxWarnings)]...)
}

// civil formats an instant in the time zone of the reader.
func civil(at time.Time, zone *time.Location) string {
	return at.In(zone).Format("Mon 2 Jan 15:04")
}

// senderWarnings are about alerts that were refused in the last day.
func (d *data) senderWarnings() []page.Warning {
	var out []page.Warning
	for _, s := range d.senders {
		at := s.Activity.LastRefusedAt
		if at == nil || d.now.Sub(*at) > 24*time.Hour || len(out) == maxWarnings {
			continue
		}
		text := fmt.Sprintf("Integration %s refused alerts %s ago", s.Name, humanize.Age(d.now.Sub(*at)))
		if s.Activity.LastRefusal != "" {
			text += ": " + strings.TrimSuffix(humanize.Shorten(string(s.Activity.LastRefusal), 160), ".")
		}
		out = append(out, page.Warning{Text: text + ".", Href: page.Path("/integrations/%s", s.Name),
			Action: "See what was sent"})
	}
	return out
}

// vendorWarnings are about accounts whose latest calls failed, about what is paused, and about pages that did not reach
// anybody. They are read for administrators only.
func (d *data) vendorWarnings() []page.Warning {
	var out []page.Warning
	for _, v := range d.vendors.Items {
		if v.Health == system.LastCallFailed && len(out) < maxWarnings {
			out = append(out, page.Warning{Text: fmt.Sprintf("The vendor %s fails: %d of its %s in the last hour by %s failed, and so did the latest one.",
				strings.TrimSuffix(v.Vendor+"/"+v.Account, "/"), v.Failed, humanize.Count(int(v.Calls), "call",
					"calls"), v.Mode), Href: "/system?tab=vendors", Action: "See the vendors"})
		}
	}
	for _, p := range d.vendors.Pauses[:min(len(d.vendors.Pauses), maxWarnings)] {
		out = append(out, page.Warning{Text: fmt.Sprintf("%s is paused: %s.", p.Key,
			strings.TrimSuffix(humanize.Shorten(p.Reason, 160), ".")), Href: "/system?tab=vendors",
			Action: "See the vendors"})
	}
	lost := 0
	for _, m := range d.sent {
		if lost == maxWarnings {
			break
		}
		if m.State == messages.Failed && m.IncidentID != nil {
			lost++
			out = append(out, page.Warning{Text: fmt.Sprintf("A page of incident %d did not reach %s.", *m.IncidentID,
				m.Target), Href: fmt.Sprintf("/incidents/%d", *m.IncidentID), Action: "Open the incident"})
		}
	}
	return out
}

// firstSteps are what a newcomer does.
type firstSteps struct {
	Contact, Plan, Alert    bool   // whether the step is done
	Contacts, Planned, Open string // addresses of pages
	Connect                 string // address of the form of an integration; "" = there is one that can receive the test alert
	Contacted, Send         string // commands
}

// newcomer reports whether the reader has no team, or the installation no plan.
func (d *data) newcomer() bool { return len(d.teams) == 0 || len(d.plans) == 0 }

// firstSteps returns the steps for a newcomer. It returns nil for others, and when all steps are done.
func (d *data) firstSteps(name, address string, readOnly bool) *firstSteps {
	if readOnly || !d.newcomer() || strings.Contains(d.missing, "your teams") || strings.Contains(d.missing, "plans") {
		return nil
	}
	s := &firstSteps{Contact: len(d.contact) > 0, Plan: len(d.plans) > 0, Alert: len(d.reached) > 0,
		Contacts: page.Path("/people/%s", name),
		Planned:  "/plans/new", Open: "/incidents/new"}
	chosen := ""
	for _, p := range d.plans {
		if p.Creator == name || len(d.plans) == 1 {
			chosen = p.Name
			s.Open = page.Query(s.Open, "plan", chosen)
			break
		}
	}
	if len(d.senders) == 0 {
		s.Connect = page.Query("/add-integration", "type", "generic", "plan", chosen)
	}
	if s.Contact && s.Plan && s.Alert {
		return nil
	}
	s.Contacted = "iris contact set '" + shellSafe(name) + "' sms +12025550100"
	s.Send = `curl -H "Authorization: Bearer TOKEN" -H "Content-Type: application/json" ` + address +
		`/v1/hooks/generic -d '{"id": "test", "title": "Test alert of ` + shellSafe(name) + `", "severity": "high"}'`
	return s
}

// shellSafe returns a name without the characters that end a text in a shell or in JSON.
func shellSafe(name string) string {
	return strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(name)
}

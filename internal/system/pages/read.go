package pages

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Limits of what the page reads.
const (
	maxTeams     = 8 // whose calendars are read
	maxIncidents = 20
	maxShifts    = 5
	sampled      = 100 // of the latest messages, for warnings about vendors
	sampledFor   = time.Hour
	ahead        = 7 * 24 * time.Hour
)

// data is what the page is made of, as the operations and the APIs answer.
type data struct {
	now     time.Time
	teams   []string // of the reader, by name
	pinned  []personal.PinnedTeam
	onCall  []scheduling.Team // of the first maxTeams teams
	shifts  []personal.NextShift
	owned   []incidents.IncidentInList
	paged   []incidents.IncidentInList
	contact []users.ShownContact
	rules   []users.NotificationRule
	usual   []users.PriorityRow // modes of priorities without a rule
	senders []integrations.Row
	sent    []messages.MessageInList
	vendors system.Vendors
	plans   []catalog.PlanRow
	reached []incidents.IncidentInList // one that paged the reader, for newcomers
	missing string
}

// read reads everything for the reader of r, in two rounds: first what does not depend on the teams, then the data of
// the teams.
func (h Home) read(r *http.Request) (*data, error) {
	d, me := &data{now: time.Now()}, page.Reader(r)
	self := users.OnePerson{User: me.Name}
	reads := map[string]func() error{
		"your teams": func() error {
			found, err := h.People.Get.Do(r.Context(), page.Actor(r), self)
			d.teams = found.Teams
			return err
		},
		"pinned teams":  items(r, h.Personal.Pins, self, &d.pinned),
		"your shifts":   items(r, h.Personal.Shifts, personal.ShiftFilter{OnePerson: self, Limit: maxShifts}, &d.shifts),
		"your contacts": items(r, h.Contacts.List, self, &d.contact),
		"how pages reach you": func() error {
			found, err := h.Preferences.Rules.Do(r.Context(), page.Actor(r), self)
			d.rules = found.Rules
			return err
		},
		"the modes of priorities": items(r, h.Preferences.Priorities, operation.None{}, &d.usual),
		"your incidents": items(r, h.Incidents.List, incidents.Filter{Paging: operation.Paging{Limit: maxIncidents},
			State: "open", Owner: me.Name}, &d.owned),
		"incidents that page you": items(r, h.Incidents.List,
			incidents.Filter{Paging: operation.Paging{Limit: maxIncidents}, State: "open", Target: me.Name}, &d.paged),
		"plans": items(r, h.Plans.List, catalog.Filter{Paging: operation.Paging{Limit: 10}}, &d.plans),
	}
	if me.Admin {
		reads["the vendors"] = func() (err error) {
			d.vendors, err = h.System.Vendors.Do(r.Context(), page.Actor(r), operation.None{})
			return err
		}
		reads["the latest messages"] = func() error {
			found, err := h.Messages.List.Do(r.Context(), page.Actor(r),
				messages.Filter{Paging: operation.Paging{Limit: sampled}}) // a condition on their time would make the list slow
			d.sent = slices.DeleteFunc(found.Items, func(m messages.MessageInList) bool {
				return d.now.Sub(m.CreatedAt) > sampledFor
			})
			return err
		}
	}
	missing, err := together(reads, func(err error) { h.Pages.Note(r, err) })
	if err != nil {
		return nil, err
	}
	slices.Sort(d.teams)
	further, err := h.readTeams(r, d)
	if err != nil {
		return nil, err
	}
	missing = append(missing, further...)
	slices.Sort(missing)
	d.missing = strings.Join(missing, ", ")
	return d, nil
}

// items returns a read of the first page of a list.
func items[In, T any](r *http.Request, list operation.Op[In, operation.Page[T]], in In, out *[]T) func() error {
	return func() error {
		found, err := list.Do(r.Context(), page.Actor(r), in)
		*out = found.Items
		return err
	}
}

// readTeams reads who is on call for the teams of the reader, and their integrations.
func (h Home) readTeams(r *http.Request, d *data) (missing []string, err error) {
	shown := d.teams[:min(len(d.teams), maxTeams)]
	d.onCall = make([]scheduling.Team, len(shown))
	senders := make([][]integrations.Row, len(shown)+1)
	every := len(shown) == 0 || page.Reader(r).Admin // a newcomer sends the test alert with any integration
	reads := map[string]func() error{}
	if d.newcomer() {
		reads["the first page"] = items(r, h.Incidents.List, incidents.Filter{Paging: operation.Paging{Limit: 1},
			Target: page.Reader(r).Name}, &d.reached)
	}
	for i, team := range shown {
		reads["team "+team] = func() error {
			d.onCall[i].Team = team
			found, err := h.OnCall.Do(r.Context(), page.Actor(r), calendaring.OnCallFilter{Team: team, For: ahead.String()})
			if err == nil && len(found.Items) > 0 {
				d.onCall[i] = found.Items[0]
			}
			return err
		}
		if !every {
			reads["integrations of team "+team] = items(r, h.Integrations.List, integrations.Filter{Team: team}, &senders[i])
		}
	}
	if every {
		reads["integrations"] = items(r, h.Integrations.List,
			integrations.Filter{Paging: operation.Paging{Limit: 100}}, &senders[len(shown)])
	}
	missing, err = together(reads, func(err error) { h.Pages.Note(r, err) })
	seen := map[string]bool{}
	for _, some := range senders {
		for _, s := range some {
			if !seen[s.Name] {
				seen[s.Name] = true
				d.senders = append(d.senders, s)
			}
		}
	}
	return missing, err
}

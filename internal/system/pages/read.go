package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/system"
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

// data is what the page is made of, as the APIs answer.
type data struct {
	now     time.Time
	teams   []string // of the reader, by name
	pinned  []string
	onCall  []onCall // of the first maxTeams teams
	shifts  []shift
	owned   []incident
	paged   []incident
	contact []contact
	rules   []rule
	usual   []usual // modes of priorities without a rule
	senders []integration
	sent    []message
	vendors system.Vendors
	plans   []plan
	reached []incident // one that paged the reader, for newcomers
	missing string
}

type onCall struct {
	Team  string `json:"team"`
	Zone  string `json:"timezone"`
	Roles []role `json:"roles"`
}

type role struct {
	Role   string `json:"role"`
	People []struct {
		Name     string            `json:"name"`
		FullName string            `json:"full_name"`
		Contacts map[string]string `json:"contacts"`
	} `json:"people"`
	Next []struct {
		At time.Time `json:"at"`
		To []string  `json:"to"`
	} `json:"next"`
	Gaps []struct {
		Kind  string    `json:"kind"`
		Start time.Time `json:"start"`
		End   time.Time `json:"end"`
	} `json:"gaps"`
}

type shift struct {
	Team  string `json:"team"`
	Role  string `json:"role"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
}

type incident struct {
	ID       int64     `json:"id"`
	State    string    `json:"state"`
	Title    string    `json:"heading"`
	Owner    string    `json:"owner"`
	Severity string    `json:"severity"`
	Step     int       `json:"step"`
	Created  time.Time `json:"created_at"`
}

type contact struct {
	Mode        string `json:"mode"`
	Destination string `json:"destination"`
	Verifiable  bool   `json:"verifiable"`
	Verified    bool   `json:"verified"`
}

type rule struct {
	Priority  string `json:"priority"`
	Mode      string `json:"mode"` // "" = that of the installation
	FollowUps []struct {
		Mode string `json:"mode"`
	} `json:"follow_ups"`
}

type usual struct {
	Name string `json:"name"`
	Mode string `json:"default_mode"`
}

type integration struct {
	Name     string `json:"name"`
	Address  string `json:"address"`
	Team     string `json:"team"`
	Activity struct {
		Accepted      int64      `json:"accepted"`
		Refused       int64      `json:"refused"`
		LastRefusedAt *time.Time `json:"last_refused_at"`
		LastRefusal   string     `json:"last_refusal"`
	} `json:"activity"`
}

type message struct {
	State      string    `json:"state"`
	Target     string    `json:"target"`
	IncidentID int64     `json:"incident_id"`
	Created    time.Time `json:"created_at"`
}

type plan struct {
	Name    string `json:"name"`
	Creator string `json:"creator"`
	Team    string `json:"team"`
}

// read reads everything for the reader of r, in two rounds: first what does not depend on the teams, then the data of
// the teams.
func (h Home) read(r *http.Request) (*data, error) {
	d, me, api := &data{now: time.Now()}, page.Reader(r), h.Pages.API(r)
	reads := map[string]func() error{
		"your teams":   func() error { return api.Get(page.Path("/api/v0/users/%s/teams", me.Name), &d.teams) },
		"pinned teams": func() error { return api.Get(page.Path("/api/v0/users/%s/pinned_teams", me.Name), &d.pinned) },
		"your shifts": func() error {
			return api.Get(page.Path("/api/v0/users/%s/upcoming", me.Name)+fmt.Sprintf("?limit=%d", maxShifts),
				&d.shifts)
		},
		"your contacts": func() error {
			return page.List(api, page.Path("/v1/users/%s/contacts", me.Name),
				&d.contact)
		},
		"how pages reach you": func() error {
			var answer struct {
				Rules []rule `json:"rules"`
			}
			err := api.Get(page.Path("/v1/users/%s/notification-rules", me.Name), &answer)
			d.rules = answer.Rules
			return err
		},
		"the modes of priorities": func() error { return api.Get("/v0/priorities", &d.usual) },
		"your incidents": func() error {
			return page.List(api, page.Query("/v1/incidents", "state", "open", "limit", strconv.Itoa(maxIncidents),
				"owner", me.Name), &d.owned)
		},
		"incidents that page you": func() error {
			return page.List(api, page.Query("/v1/incidents", "state", "open", "limit", strconv.Itoa(maxIncidents),
				"target", me.Name), &d.paged)
		},
		"plans": func() error { return page.List(api, "/v1/plans?limit=10", &d.plans) },
	}
	if me.Admin {
		reads["the vendors"] = func() (err error) {
			d.vendors, err = h.System.Vendors.Do(r.Context(), page.Actor(r), operation.None{})
			return err
		}
		reads["the latest messages"] = func() error {
			err := page.List(api, fmt.Sprintf("/v1/messages?limit=%d", sampled),
				&d.sent) // a condition on their time would make the list slow
			d.sent = slices.DeleteFunc(d.sent, func(m message) bool { return d.now.Sub(m.Created) > sampledFor })
			return err
		}
	}
	missing, err := together(reads)
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

// readTeams reads who is on call for the teams of the reader, and their integrations.
func (h Home) readTeams(r *http.Request, d *data) (missing []string, err error) {
	api, shown := h.Pages.API(r), d.teams[:min(len(d.teams), maxTeams)]
	d.onCall = make([]onCall, len(shown))
	senders := make([][]integration, len(shown)+1)
	every := len(shown) == 0 || page.Reader(r).Admin // a newcomer sends the test alert with any integration
	reads := map[string]func() error{}
	if d.newcomer() {
		reads["the first page"] = func() error {
			return page.List(api, page.Query("/v1/incidents", "limit", "1", "target", page.Reader(r).Name), &d.reached)
		}
	}
	for i, team := range shown {
		reads["team "+team] = func() error {
			d.onCall[i].Team = team
			var found []onCall
			err := page.List(api, page.Query("/v1/oncall", "team", team, "for", ahead.String()), &found)
			if err == nil && len(found) > 0 {
				d.onCall[i] = found[0]
			}
			return err
		}
		if !every {
			reads["integrations of team "+team] = func() error {
				return page.List(api, page.Query("/v1/integrations", "team", team), &senders[i])
			}
		}
	}
	if every {
		reads["integrations"] = func() error {
			return page.List(api, "/v1/integrations?limit=100",
				&senders[len(shown)])
		}
	}
	missing, err = together(reads)
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

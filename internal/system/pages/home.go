// This file serves the home page, which shows what needs the attention of the reader. The page carries out
// operations and calls APIs as the reader. If a part cannot be read, the page says so and shows the other parts.

package pages

import (
	"net/http"
	"sync"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Deps are the operations that the pages carry out.
type Deps struct {
	System       *system.System
	Applications *catalog.Applications
	Incidents    *incidents.Incidents
	Integrations *integrations.Integrations
	Messages     *messages.Messages
	Plans        *catalog.Plans
	Preferences  *users.Preferences
	Contacts     *users.Contacts
	People       *users.People
	Personal     *personal.Personal
	OnCall       operation.Op[calendaring.OnCallFilter, operation.Page[scheduling.Team]]
}

// Home serves the pages. It is safe for concurrent use.
type Home struct {
	Deps
	Pages     *page.Pages
	PublicURL string // address of this server for senders, without a final slash
}

// view is the home page.
type view struct {
	page.Frame
	Live       page.Live
	FirstSteps *firstSteps // nil = the reader is no newcomer
}

// body is the part of the home page that refreshes itself.
type body struct {
	ReadOnly, Admin bool
	Incidents       []incidentRow
	More            bool // there are further incidents
	Teams           []teamView
	OtherTeams      int // teams of the reader that are not shown
	Shifts          []shiftView
	Pinned          []personal.PinnedTeam
	Warnings        []page.Warning
	Missing         string // what could not be read
}

// Show shows the home page. The caller must admit only people who have logged in. The page takes many reads, so a
// stream does not read it at each change of an incident.
func (h Home) Show(rw http.ResponseWriter, r *http.Request) {
	if page.Unchanged(r, "home") {
		return
	}
	d, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	me := page.Reader(r)
	b := body{ReadOnly: me.ReadOnly, Admin: me.Admin, Pinned: d.pinned, Missing: d.missing}
	b.Incidents, b.More = d.incidentRows()
	b.Teams, b.OtherTeams = viewTeams(d.onCall), len(d.teams)-len(d.onCall)
	b.Shifts = viewShifts(d.shifts, d.onCall, me.Name, d.now)
	b.Warnings = d.warnings(me.Name, page.Zone(r))
	live, whole := h.Pages.Live(rw, r, "home-body", b)
	if !whole {
		return
	}
	v := view{Frame: h.Pages.Frame(r, "Home", "home"), Live: live}
	v.Modules = []string{"home.js"}
	v.FirstSteps = d.firstSteps(v.User, h.PublicURL, v.ReadOnly)
	h.Pages.Render(rw, r, http.StatusOK, "home", v)
}

// parallel is how many reads of a page run at the same time. More would take too many connections of the database from
// other requests.
const parallel = 4

// together runs reads at the same time. It returns an error if the database is unavailable. After other errors it
// returns the names of the parts that are missing. note is called with each error, one at a time.
func together(reads map[string]func() error, note func(error)) (missing []string, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for name, read := range reads {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			failed := safely(read)
			if failed == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			note(failed)
			missing = append(missing, name)
			if fault.Is(failed, fault.Unavailable) {
				err = failed
			}
		})
	}
	all.Wait()
	return missing, err
}

// safely returns a panic of a read as an error.
func safely(read func() error) (err error) {
	defer fault.Recover(&err)
	return read()
}

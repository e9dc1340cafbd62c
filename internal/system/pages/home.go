// This file serves the home page, which shows what needs the attention of the reader. The page calls the APIs as the
// reader. If a part cannot be read, the page says so and shows the other parts.

package pages

import (
	"net/http"
	"sync"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Home serves the pages. It is safe for concurrent use.
type Home struct {
	Pages     *page.Pages
	System    *system.System
	PublicURL string // address of this server for senders, without a final slash
}

// view is the home page.
type view struct {
	page.Frame
	Incidents  []incidentRow
	More       bool // there are further incidents
	Teams      []teamView
	OtherTeams int // teams of the reader that are not shown
	Shifts     []shiftView
	Pinned     []string
	Warnings   []page.Warning
	FirstSteps *firstSteps // nil = the reader is no newcomer
	Missing    string      // what could not be read
}

// Show shows the home page. The caller must admit only people who have logged in.
func (h Home) Show(rw http.ResponseWriter, r *http.Request) {
	d, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := view{Frame: h.Pages.Frame(r, "Home", "home"), Pinned: d.pinned, Missing: d.missing}
	v.Modules = []string{"home.js"}
	v.Incidents, v.More = d.incidentRows()
	v.Teams, v.OtherTeams = viewTeams(d.onCall), len(d.teams)-len(d.onCall)
	v.Shifts = viewShifts(d.shifts, d.onCall, v.User, d.now)
	v.Warnings = d.warnings(v.User, page.Zone(r))
	v.FirstSteps = d.firstSteps(v.User, h.PublicURL, v.ReadOnly)
	h.Pages.Render(rw, r, http.StatusOK, "home", v)
}

// parallel is how many reads of a page run at the same time. More would take too many connections of the database from
// other requests.
const parallel = 4

// together runs reads at the same time. It returns an error if the database is unavailable or the session has ended.
// After other errors it returns the names of the parts that are missing.
func together(reads map[string]func() error) (missing []string, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for name, read := range reads {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			failed := read()
			if failed == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, name)
			if fault.Is(failed, fault.Unavailable) || fault.Is(failed, fault.Unauthenticated) {
				err = failed
			}
		})
	}
	all.Wait()
	return missing, err
}

package pages

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/web/page"
)

// nextView is what happens next if nobody does anything.
type nextView struct {
	Text string    // "" = nothing happens next
	At   time.Time // zero = at an unknown time
}

// next returns what comes next. If that cannot be read now, the page does not show it.
func (h Handlers) next(r *http.Request, i incidentView) nextView {
	switch i.Incident.State() {
	case incidents.StateSnoozed:
		return nextView{"The snooze ends and the plan begins again", i.SnoozedUntil}
	case incidents.StateSilenced:
		return nextView{"The silence ends. If the alert still fires, the plan begins", i.SilencedUntil}
	case incidents.StateEscalating:
		found, err := h.Next.Do(r.Context(), page.Actor(r), incidents.One{ID: i.ID})
		h.Pages.Note(r, err)
		if err == nil {
			return viewNext(found)
		}
	}
	return nextView{}
}

// maxNamed is how many recipients of the next page are named.
const maxNamed = 3

func viewNext(a simulation.Foreseen) nextView {
	var at time.Time
	if a.At != nil {
		at = *a.At
	}
	switch {
	case a.Paused:
		return nextView{Text: "The plan or the application is paused: nobody is paged until an administrator resumes it"}
	case a.Ends:
		return nextView{"The plan ends. Nobody else is paged after that", at}
	case len(a.Pages) == 0:
		return nextView{}
	}
	var who []string
	for _, p := range a.Pages[:min(len(a.Pages), maxNamed)] {
		who = append(who, p.Target+" by "+string(p.Mode))
	}
	text := strings.Join(who, ", ")
	if more := len(a.Pages) - maxNamed; more > 0 {
		text += " and " + humanize.Count(more, "further page", "further pages")
	}
	return nextView{fmt.Sprintf("Step %d: %s", a.Step, text), at}
}

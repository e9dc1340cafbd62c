package pages

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// nextView is what happens next if nobody does anything. The list and the page of an incident show the same.
type nextView struct {
	Text string    // "" = nothing happens next
	At   time.Time // zero = now, or at an unknown time
}

// next returns what happens next to each of the incidents. Those for which that cannot be read now are left out.
func (h Handlers) next(r *http.Request, all ...incidents.Incident) map[incidents.ID]nextView {
	var escalating []incidents.ID
	for _, i := range all {
		if i.State() == incidents.StateEscalating {
			escalating = append(escalating, i.ID)
		}
	}
	found, err := h.Next(r.Context(), escalating)
	h.Pages.Note(r, err)
	out := make(map[incidents.ID]nextView, len(all))
	for _, i := range all {
		v := viewNext(i, found[i.ID])
		if found[i.ID].Now { // a row that has not changed must stay the same, so that it is not sent again
			v.At = time.Time{}
		}
		out[i.ID] = v
	}
	return out
}

// maxNamed is how many recipients of the next page are named.
const maxNamed = 3

// viewNext describes the next page of an incident, or what ends its pause. n is of an incident that escalates.
func viewNext(i incidents.Incident, n simulation.Next) nextView {
	switch i.State() {
	case incidents.StateSnoozed:
		return nextView{"The snooze ends and the plan begins again", i.SnoozedUntil}
	case incidents.StateSilenced:
		return nextView{"The silence ends. If the alert still fires, the plan begins", i.SilencedUntil}
	case incidents.StateEscalating:
	default:
		return nextView{}
	}
	switch {
	case n.Paused:
		return nextView{Text: "The plan or the application is paused: nobody is paged until an administrator resumes it"}
	case n.Ends:
		return nextView{"The plan ends. Nobody else is paged after that", n.At}
	case len(n.Pages) == 0:
		return nextView{}
	}
	var who []string
	for _, p := range n.Pages[:min(len(n.Pages), maxNamed)] {
		who = append(who, p.Target+" by "+string(p.Mode))
	}
	text := strings.Join(who, ", ")
	if more := len(n.Pages) - maxNamed; more > 0 {
		text += " and " + humanize.Count(more, "further page", "further pages")
	}
	return nextView{fmt.Sprintf("Step %d: %s", n.Step, text), n.At}
}

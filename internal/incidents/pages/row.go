package pages

import (
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
)

// rowView is a row of the list.
type rowView struct {
	incidentView
	incidents.Outlook
	Ahead ahead
}

// ahead says what happens next if nobody does anything: the text, and when. The zero value = nothing.
type ahead struct {
	Text string
	At   time.Time // zero = now
}

func viewRow(i incidents.Incident, o incidents.Outlook) rowView {
	return rowView{viewIncident(i), o, whatIsNext(i, o)}
}

// whatIsNext describes the next page of an incident, or what ends its pause.
func whatIsNext(i incidents.Incident, o incidents.Outlook) ahead {
	switch i.State() {
	case incidents.StateSnoozed:
		return ahead{"pages again", i.SnoozedUntil}
	case incidents.StateSilenced:
		return ahead{"the silence ends", i.SilencedUntil}
	case incidents.StateEscalating:
	default:
		return ahead{}
	}
	switch {
	case o.Waiting != incidents.WaitingMessage{}:
		return ahead{o.Waiting.Recipient + " by " + o.Waiting.Mode, o.Waiting.At}
	case o.DueAt.IsZero():
		return ahead{}
	case o.Step == 0:
		return ahead{"nobody is left to page: the plan ends", o.DueAt}
	case len(o.Next) == 0:
		return ahead{fmt.Sprintf("step %d", o.Step), o.DueAt}
	}
	text := recipient(o.Next[0])
	if n := len(o.Next) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if o.Again {
		text += " again"
	}
	if o.Mode != "" && len(o.Next) == 1 {
		text += " by " + o.Mode
	}
	return ahead{text, o.DueAt}
}

// recipient names a target of a plan. Who is on call is not known before the page.
func recipient(t incidents.Target) string {
	if strings.HasPrefix(t.Role, "oncall") {
		return "on call for " + t.Name
	}
	return t.Name
}

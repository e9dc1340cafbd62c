package silences

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// observe is how long the deliveries of an integration are observed before something follows from their absence.
const observe = 7 * 24 * time.Hour

// Source is what is known about the reports of an incident by its source.
type Source struct {
	Over        bool          // the incident is resolved or closed, or the source reported single alerts and none of them fires
	Resolves    bool          // the source resolved an incident before, or the incident has no integration
	Repeat      time.Duration // the longest time after which the source repeated an alert without news; 0 = it never did
	Undelivered time.Duration // since the last delivery for the incident
	Observed    time.Duration // since the integration was added
}

// Reports reports whether the incident still fires, as far as its source says. The alert of a source that never
// resolves anything is over when it was not repeated for twice the usual time. Of a source that repeats nothing, or
// that was observed too briefly, the incident still fires: a page too many is better than none.
func (s Source) Reports() bool {
	learned := !s.Resolves && s.Repeat > 0 && s.Observed >= observe
	return !s.Over && (!learned || s.Undelivered <= 2*s.Repeat)
}

// Line is the entry of the timeline when the silence of the incident ends.
func (s Source) Line() string {
	switch {
	case s.Reports():
		return "the silence ended: escalation begins"
	case s.Over:
		return "the silence ended, and the source reports no firing alert: nobody is paged"
	}
	return "the silence ended, and the source reported nothing for " +
		humanize.Duration(s.Undelivered.Round(time.Second)) +
		", although it repeats alerts at least every " + humanize.Duration(s.Repeat) +
		": nobody is paged unless it reports again"
}

package escalation

import (
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
)

const (
	// pausedFor is how long a paused incident is not due. The runner makes it due as soon as its plan and application
	// are resumed; pausedFor covers a resume that was missed. It is spread over pausedSpread, so that many incidents do
	// not become due at one instant.
	pausedFor    = time.Hour
	pausedSpread = 10 * time.Minute
)

// pauseIncident delays an incident whose plan or application an operator has paused, and writes one line to its
// timeline.
func pauseIncident(b *changeBuilder) {
	b.DueAt = b.due.ReadAt.Add(pausedFor + time.Duration(b.ID)*time.Second%pausedSpread)
	if b.Progress.Paused {
		return
	}
	b.Progress.Paused = true
	what := "plan " + b.plan.Name
	if b.due.ApplicationPaused {
		what = "application " + b.app.Name
	}
	b.add(incidents.EntryOperator, nil, "escalation waits: %s is paused", what)
}

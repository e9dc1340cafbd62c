package silences

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
)

// Store keeps silences, and hides and releases incidents. Each method is one transaction. It is safe for concurrent
// use. A number that does not exist is a NotFound fault, a change of a silence that is over a Conflict fault, and a
// name that does not exist an Invalid fault.
type Store interface {
	// List returns the silences that nobody ended and whose last occurrence is not over.
	List(ctx context.Context) (Listed, error)
	// Page returns at most limit silences, newest first, with numbers below before; 0 = from the newest. Those that are
	// over are left out unless includeOver is true.
	Page(ctx context.Context, before ID, includeOver bool, limit int) ([]Silence, error)
	ByID(ctx context.Context, id ID) (Silence, error)
	// Create returns a Conflict fault if so many silences are kept that another one would not be read.
	Create(ctx context.Context, c Content, author string) (ID, error)
	// Replace stores the content of a silence. The incidents that it hides are searched again.
	Replace(ctx context.Context, id ID, c Content, author string) error
	// End ends a silence now. Its incidents escalate within two minutes, unless another silence matches.
	End(ctx context.Context, before Silence, author string) error
	// Rights returns what a person and the teams of a caller have to do with the names of a silence.
	Rights(ctx context.Context, person int64, teams []int64, s Scope) (Rights, error)
	// Incidents returns at most limit incidents that a silence hides, newest first, with numbers below before; 0 = from
	// the newest. application is their application; 0 = all.
	Incidents(ctx context.Context, id ID, application int64, before incidents.ID, limit int) ([]HiddenIncident, error)
	// Candidates returns the newest incidents that escalate, and the newest that were opened since an instant, with the
	// application and plans of a silence; at most limit of each.
	Candidates(ctx context.Context, s Scope, since time.Time, limit int) ([]Candidate, error)

	// Subjects returns the escalating ones among incidents.
	Subjects(ctx context.Context, ids []incidents.ID) ([]Subject, error)
	// Escalating returns at most limit escalating incidents of an application (0 = any) and plan versions (nil = any):
	// those that have messages to send or are due within seconds, and then the newest.
	Escalating(ctx context.Context, application int64, plans []int64, limit int) ([]incidents.ID, error)
	// Applied notes that the incidents of occurrences are hidden, by the beginnings of the occurrences; not if a
	// silence was changed since a List of the version was read.
	Applied(ctx context.Context, version int64, begins map[ID]time.Time) error
	// Hide stops the escalation of incidents, unless they changed meanwhile, and returns those that it stopped.
	Hide(ctx context.Context, hides map[incidents.ID]Hide) ([]incidents.ID, error)
	// Ended returns at most limit silenced incidents of buckets whose silence ended or was changed.
	Ended(ctx context.Context, bs []int, limit int) ([]Released, error)
	// Release ends the silence of incidents. Those that the source still reports escalate. A further delivery of the
	// others is news.
	Release(ctx context.Context, released []Released) error
}

// Listed is the silences that are not over, and the number of their last change.
type Listed struct {
	Version  int64
	Silences []Silence
}

// Released is a silenced incident whose silence ended.
type Released struct {
	Subject
	Source Source
}

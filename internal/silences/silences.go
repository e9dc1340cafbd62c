package silences

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/matchers"
	"github.com/iris-oncall/iris/internal/users"
)

// Reader reads silences. A number that does not exist is a NotFound fault.
type Reader interface {
	// Page returns at most so many silences, newest first, that are older than one; 0 = from the newest. kept leaves out those that are over.
	Page(ctx context.Context, before ID, kept bool, most int) ([]Silence, error)
	ByID(ctx context.Context, id ID) (Silence, error)
	// Incidents returns at most so many incidents that a silence hides, newest first, that are older than one; 0 = from the newest.
	// application is their application; 0 = all.
	Incidents(ctx context.Context, id ID, application int64, before incidents.ID, most int) ([]incidents.ID, error)
	// Candidates returns the newest incidents that escalate, and the newest that were opened since an instant, with the application and plans of
	// a silence; at most so many of each. A name that does not exist is an Invalid fault.
	Candidates(ctx context.Context, c Content, since time.Time, most int) ([]Candidate, error)
}

// Candidate is an incident that a silence may hide.
type Candidate struct {
	Subject
	Escalating, Recent bool
}

// Editor stores silences. A change of a silence that is over is a Conflict fault.
type Editor interface {
	Create(ctx context.Context, c Content, author string) (ID, error)
	Replace(ctx context.Context, id ID, c Content, actor string) error
	End(ctx context.Context, before Silence, actor string) error
	// Rights returns what a person has to do with the names of a silence.
	Rights(ctx context.Context, person users.ID, teams []int64, c Content) (auth.SilenceRights, error)
}

// Silences are the operations of people. They are safe for concurrent use.
type Silences struct {
	Reader
	Editor Editor
	Keeper *Keeper
}

// Now returns the time by which silences begin and end.
func (s Silences) Now() time.Time { return s.Keeper.current.clock.Now() }

// Create stores a silence, and hides the escalating incidents that it matches before it returns.
func (s Silences) Create(ctx context.Context, actor auth.Actor, c Content) (Silence, error) {
	if err := s.check(ctx, actor, c); err != nil {
		return Silence{}, err
	}
	if err := c.near(s.Now()); err != nil {
		return Silence{}, err
	}
	id, err := s.Editor.Create(ctx, c, actor.String())
	if err != nil {
		return Silence{}, err
	}
	return s.begin(ctx, id)
}

// Replace stores the content of a silence that is not over, and hides the escalating incidents that it matches now. Those that it no longer
// matches escalate again.
func (s Silences) Replace(ctx context.Context, actor auth.Actor, id ID, c Content) (Silence, error) {
	before, err := s.ByID(ctx, id)
	if err != nil {
		return Silence{}, err
	}
	for _, one := range []Content{before.Content, c} {
		if err := s.check(ctx, actor, one); err != nil {
			return Silence{}, err
		}
	}
	if !c.From.Equal(before.From) {
		if err := c.near(s.Now()); err != nil {
			return Silence{}, err
		}
	}
	if err := s.Editor.Replace(ctx, id, c, actor.String()); err != nil {
		return Silence{}, err
	}
	return s.begin(ctx, id)
}

// End ends a silence now. Its incidents escalate within two minutes, unless another silence matches or their source reports no firing alert.
func (s Silences) End(ctx context.Context, actor auth.Actor, id ID) error {
	before, err := s.ByID(ctx, id)
	if err != nil {
		return err
	}
	if err := s.may(ctx, actor, before.Content); err != nil {
		return err
	}
	return s.Editor.End(ctx, before, actor.String())
}

// Foreseen says what a silence would hide if it was in force now.
type Foreseen struct {
	Escalating []incidents.ID // newest first
	Recent     int            // of the incidents of the last seven days
	Partial    bool           // only the newest incidents were compared
}

// mostCompared is how many incidents of each kind Preview compares.
const mostCompared = 500

// Preview returns what a silence would hide. Only the conditions of the content count.
func (s Silences) Preview(ctx context.Context, c Content) (out Foreseen, err error) {
	now := s.Now()
	c.From, c.To, c.Recurrence, c.Zone, c.Comment = now, now.Add(time.Hour), "", "", "preview"
	if err := c.Check(); err != nil {
		return out, err
	}
	m, err := matchers.Parse(c.Match)
	if err != nil {
		return out, err
	}
	found, err := s.Candidates(ctx, c, now.Add(-7*24*time.Hour), mostCompared)
	escalating, recent := 0, 0
	for k := range found {
		one := &found[k]
		escalating, recent = escalating+count(one.Escalating), recent+count(one.Recent)
		if !m.Match(one.label) {
			continue
		}
		out.Recent += count(one.Recent)
		if one.Escalating {
			out.Escalating = append(out.Escalating, one.ID)
		}
	}
	out.Partial = max(escalating, recent) >= mostCompared
	return out, err
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (s Silences) check(ctx context.Context, actor auth.Actor, c Content) error {
	if err := s.may(ctx, actor, c); err != nil {
		return err
	}
	return c.Check()
}

func (s Silences) may(ctx context.Context, actor auth.Actor, c Content) error {
	rights, err := s.Editor.Rights(ctx, actor.UserID, actor.MemberOf, c)
	if err != nil {
		return err
	}
	return actor.MaySilence(rights)
}

func (s Silences) begin(ctx context.Context, id ID) (Silence, error) {
	if err := s.Keeper.Begin(ctx, id); err != nil {
		return Silence{}, err
	}
	return s.ByID(ctx, id)
}

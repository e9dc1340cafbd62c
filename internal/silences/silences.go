package silences

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// Reader reads silences. A number that does not exist is a NotFound fault.
type Reader interface {
	// Page returns at most so many silences, newest first, that are older than one; 0 = from the newest. kept leaves out those that are over.
	Page(ctx context.Context, before ID, kept bool, most int) ([]Silence, error)
	ByID(ctx context.Context, id ID) (Silence, error)
	// Incidents returns at most so many incidents that a silence hides, newest first, that are older than one; 0 = from the newest.
	Incidents(ctx context.Context, id ID, before incidents.ID, most int) ([]incidents.ID, error)
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

// Create stores a silence, and hides the escalating incidents that it matches before it returns.
func (s Silences) Create(ctx context.Context, actor auth.Actor, c Content) (Silence, error) {
	if err := s.check(ctx, actor, c); err != nil {
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

package silences

import (
	"context"
	"errors"

	"github.com/iris-oncall/iris/internal/incidents"
)

// openTries bounds how often an incident is tried again because the silences changed.
const openTries = 5

// IncidentStore opens incidents. It returns ErrSilencesChanged if the silences are not those of New.SilencesVersion.
type IncidentStore interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Opener opens incidents. One that a silence matches pages nobody until the silence ends.
type Opener struct {
	Incidents IncidentStore
	Current   *Current
}

// Open opens an incident like IncidentStore.Open.
func (o Opener) Open(ctx context.Context, n incidents.New) (incidents.Opened, error) {
	for try := 1; ; try++ {
		now := o.Current.clock.Now()
		force, err := o.Current.read(ctx, now)
		if err != nil {
			return incidents.Opened{}, err
		}
		n.SilencesVersion, n.Silenced = force.version, nil
		hide, ok, err := force.find(ctx, &Subject{ApplicationID: n.ApplicationID, PlanID: n.PlanID,
			Severity: n.Severity, Context: n.Context}, now)
		if err != nil {
			return incidents.Opened{}, err
		}
		if ok {
			n.Silenced = &incidents.Silenced{Silence: int64(hide.Silence), Until: hide.Until, Reason: hide.Reason}
		}
		opened, err := o.Incidents.Open(ctx, n)
		if !errors.Is(err, incidents.ErrSilencesChanged) || try == openTries {
			return opened, err
		}
		o.Current.Clear()
	}
}

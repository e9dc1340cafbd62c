package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
)

// Next is what happens next to an incident if nobody does anything. The zero value means that nothing does.
type Next struct {
	At    time.Time
	Step  int
	Pages []SimulatedPage // that are made at At; empty if the plan ends
	Ends  bool            // the plan ends at At
	// Paused: nothing happens, because the plan or the application is paused.
	Paused bool
}

// maxAhead bounds how many decisions Next takes. Few of them make no page: a step without anybody who can be paged ends
// immediately.
const maxAhead = 100

// Next returns what happens next to an incident if nobody does anything. Messages that are being sent count as sent. It
// returns a NotFound fault if there is no such incident.
func (s *Simulator) Next(ctx context.Context, id incidents.ID) (Next, error) {
	due, err := s.deps.Waiting.Ahead(ctx, id)
	if err != nil || !due.Active {
		return Next{}, err
	}
	if due.PlanPaused || due.ApplicationPaused {
		return Next{Paused: true}, nil
	}
	run, err := s.prepare(ctx, Question{Plan: due.PlanID, Application: due.ApplicationID, Dynamic: due.Dynamic,
		At: due.ReadAt})
	if err != nil {
		return Next{}, err
	}
	return run.next(ctx, due)
}

func (s *simulation) next(ctx context.Context, due escalation.Due) (Next, error) {
	due.Progress.Unsettled = 0
	due.Progress.Notifications = slices.Clone(due.Progress.Notifications)
	for i := range due.Progress.Notifications {
		if r := &due.Progress.Notifications[i]; r.Unsettled > 0 {
			r.Unsettled, r.SettledAt = 0, due.ReadAt
		}
	}
	f := s.facts()
	for range maxAhead {
		w, err := s.decider.Decide(ctx, due, f)
		if err != nil {
			return Next{}, tooSlow(fmt.Errorf("simulate the next page: %w", err))
		}
		next, err := s.carryOut(ctx, w)
		if err != nil {
			return Next{}, err
		}
		pages := slices.DeleteFunc(slices.Clone(s.Pages), func(p SimulatedPage) bool {
			return p.Purpose == messages.TrackingMsg || p.Purpose.Kind() == messages.FollowUp
		})
		if len(pages) > 0 {
			return Next{At: w.At, Step: pages[0].Step, Pages: pages}, nil
		}
		if !w.Active {
			return Next{At: w.At, Ends: true}, nil
		}
		if next.Year() > lastYear {
			break
		}
		if due.Progress, err = s.stored(w.Progress); err != nil {
			return Next{}, err
		}
		due.DueAt, due.ReadAt = next, next
	}
	return Next{}, nil
}

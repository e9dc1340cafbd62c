package simulation

import (
	"context"
	"errors"
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
	Now   bool // At is the time at which the incident was read
	Step  int
	Pages []SimulatedPage // that are made at At; empty if the plan ends
	Ends  bool            // the plan ends at At
	// Paused: nothing happens, because the plan or the application is paused.
	Paused bool
}

// maxAhead bounds how many decisions Next takes. Few of them make no page: a step without anybody who can be paged ends
// immediately.
const maxAhead = 100

// nextTimeout limits the time of one call of Next.
const nextTimeout = 10 * time.Second

// Next returns what happens next to each of the incidents if nobody does anything. Messages that are being sent count
// as sent. Incidents that do not exist are left out. So are those that cannot be simulated; the error names them.
// Incidents with the same plan and application share what is read.
func (s *Simulator) Next(ctx context.Context, ids []incidents.ID) (map[incidents.ID]Next, error) {
	ctx, cancel := context.WithTimeout(ctx, nextTimeout)
	defer cancel()
	if len(ids) == 0 {
		return nil, nil
	}
	ahead, err := s.deps.Waiting.Ahead(ctx, ids)
	if err != nil {
		return nil, tooSlow(fmt.Errorf("read incidents: %w", err))
	}
	type settings struct {
		plan        escalation.PlanID
		application int64
	}
	prepared := map[settings]*simulation{}
	out := make(map[incidents.ID]Next, len(ahead))
	var failed []error
	for _, due := range ahead {
		if !due.Active || due.PlanPaused || due.ApplicationPaused {
			out[due.ID] = Next{Paused: due.Active}
			continue
		}
		key := settings{due.PlanID, due.ApplicationID}
		run, err := prepared[key], error(nil)
		if run == nil {
			run, err = s.prepare(ctx, Question{Plan: due.PlanID, Application: due.ApplicationID, At: due.ReadAt})
		}
		if err == nil {
			prepared[key] = run
			out[due.ID], err = run.of(due).next(ctx, due)
		}
		if err != nil {
			delete(out, due.ID)
			failed = append(failed, fmt.Errorf("incident %d: %w", due.ID, tooSlow(err)))
		}
	}
	return out, errors.Join(failed...)
}

// of returns the simulation of an incident that has the same plan and application.
func (s *simulation) of(due escalation.Due) *simulation {
	run := *s
	run.Question.Dynamic, run.Question.At = due.Dynamic, due.ReadAt
	run.begin()
	return &run
}

func (s *simulation) next(ctx context.Context, due escalation.Due) (Next, error) {
	due.Progress.Unsettled = 0
	due.Progress.Notifications = slices.Clone(due.Progress.Notifications)
	for i := range due.Progress.Notifications {
		if r := &due.Progress.Notifications[i]; r.Unsettled > 0 {
			r.Unsettled, r.SettledAt = 0, due.ReadAt
		}
	}
	f, readAt := s.facts(), due.ReadAt
	for range maxAhead {
		w, err := s.decider.Decide(ctx, due, f)
		if err != nil {
			return Next{}, fmt.Errorf("simulate the next page: %w", err)
		}
		next, err := s.carryOut(ctx, w)
		if err != nil {
			return Next{}, err
		}
		pages := slices.DeleteFunc(slices.Clone(s.Pages), func(p SimulatedPage) bool {
			return p.Purpose == messages.TrackingMsg || p.Purpose.Kind() == messages.FollowUp
		})
		if len(pages) > 0 {
			return Next{At: w.At, Now: !w.At.After(readAt), Step: pages[0].Step, Pages: pages}, nil
		}
		if !w.Active {
			return Next{At: w.At, Now: !w.At.After(readAt), Ends: true}, nil
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

package planning

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// ownSchedule finds a schedule of a team whose administrator the caller is.
func (p *Planning) ownSchedule(ctx context.Context, by operation.Actor, id oncall.ScheduleID) (scheduling.StoredSchedule, error) {
	if err := by.Require(operation.Member); err != nil {
		return scheduling.StoredSchedule{}, err
	}
	s, err := p.deps.Schedules.ByID(ctx, id)
	if err == nil {
		err = p.mayAdminister(ctx, by, s.TeamID, s.Team)
	}
	return s, err
}

// DeleteSchedule deletes a rotation or a weekly schedule, as clients of Oncall do. Shifts that exist stay.
func (p *Planning) DeleteSchedule(ctx context.Context, by operation.Actor, id oncall.ScheduleID) error {
	s, err := p.ownSchedule(ctx, by, id)
	if err != nil {
		return err
	}
	return p.deps.Changes.Delete(ctx, s, Author(by, nil))
}

// Populate makes the shifts of a schedule again, from start on, as clients of Oncall do. Shifts that people have changed
// stay.
func (p *Planning) Populate(ctx context.Context, by operation.Actor, id oncall.ScheduleID, start time.Time) error {
	if _, err := p.ownSchedule(ctx, by, id); err != nil {
		return err
	}
	_, err := p.deps.Changes.Populate(ctx, id, start, Author(by, nil))
	return err
}

// CreateWeekly makes a weekly schedule of a team, as clients of Oncall do.
func (p *Planning) CreateWeekly(ctx context.Context, by operation.Actor, t oncall.Profile, d scheduling.ScheduleDraft) (oncall.ScheduleID, error) {
	if err := by.Require(operation.Member); err != nil {
		return 0, err
	}
	if err := p.mayAdminister(ctx, by, t.ID, t.Name); err != nil {
		return 0, err
	}
	d.TeamID = t.ID
	return p.deps.Changes.Create(ctx, d, Author(by, d))
}

// ChangeSchedule changes parts of a schedule in one of the states ifMatch (nil = any), as clients of Oncall do. The
// caller must be an administrator of its team, and of the team to which the change moves it.
func (p *Planning) ChangeSchedule(ctx context.Context, by operation.Actor, id oncall.ScheduleID, ifMatch []string, c scheduling.Patch) error {
	if err := by.Require(operation.Member); err != nil {
		return err
	}
	if c.Team != nil {
		to, err := p.deps.Teams.ByID(ctx, *c.Team)
		if err == nil {
			err = p.mayAdminister(ctx, by, to.ID, to.Name)
		}
		if err != nil {
			return err
		}
	}
	who, err := auth.PlannerOf(ctx, p.deps.Memberships, by)
	if err != nil {
		return err
	}
	return p.deps.Changes.Update(ctx, id, scheduling.Edit{Editor: who, IfMatch: ifMatch, Change: c}, Author(by, c))
}

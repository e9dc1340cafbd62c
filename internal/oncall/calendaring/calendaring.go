package calendaring

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Absences reads the times in which people cannot be on call.
type Absences interface {
	Absences(ctx context.Context, people []users.ID) ([]scheduling.StoredAbsence, error)
}

// Sealer encrypts the proofs of edits. Unseal returns an error unless Seal returned the text for the same value of
// about.
type Sealer interface {
	Seal(plain []byte, about string) []byte
	Unseal(sealed []byte, about string) ([]byte, error)
}

// Deps are the parts that the operations work on. All but Grace are required.
type Deps struct {
	Finder
	Memberships auth.Memberships
	Absences    Absences
	Sealer      Sealer
	Swaps       Swaps
	Imports     planning.Imports
	Members     planning.Members
	Rotations   Rotations
	Planning    *planning.Planning
	// Grace is the time after the start of a shift in which members of the team may still edit it.
	Grace time.Duration
}

// Calendaring are the operations. They are safe for concurrent use.
type Calendaring struct {
	Events  operation.Op[EventFilter, operation.Page[Event]]
	Preview operation.Op[EventEditing, EditAnswer]
	Edit    operation.Op[EventEditing, EditAnswer]
	Swap    operation.Op[EventSwap, operation.None]
	Take    operation.Op[PagerTaking, Taken]

	Swaps    operation.Op[SwapFilter, operation.Page[SwapRequest]]
	Ask      operation.Op[NewSwap, MadeSwap]
	Accept   operation.Op[OneSwap, SwapRequest]
	Decline  operation.Op[OneSwap, SwapRequest]
	Withdraw operation.Op[OneSwap, SwapRequest]

	Import          operation.Op[CalendarUpload, Imported]
	PreviewRotation operation.Op[DraftPreview, DraftShifts]
	PreviewSchedule operation.Op[DraftPreview, DraftShifts]

	deps Deps
}

// New returns the operations on the parts.
func New(d Deps) *Calendaring {
	c := &Calendaring{deps: d}
	c.Events = ListEvents.By(c.events)
	c.Preview, c.Edit, c.Swap, c.Take = PreviewEdit.By(c.preview), MakeEdit.By(c.edit), SwapEvents.By(c.swap), TakePager.By(c.take)
	c.Swaps, c.Ask, c.Import = ListSwaps.By(c.swaps), AskSwap.By(c.ask), ImportCalendar.By(c.importCalendar)
	c.Accept, c.Decline = AcceptSwap.By(c.decide(editing.RequestAccepted)), DeclineSwap.By(c.decide(editing.RequestDeclined))
	c.Withdraw = WithdrawSwap.By(c.decide(editing.RequestWithdrawn))
	c.PreviewRotation, c.PreviewSchedule = PreviewRotation.By(c.foresee), PreviewSchedule.By(c.foresee)
	return c
}

// Event is a shift.
type Event struct {
	ID       oncall.ShiftID     `json:"id" doc:"0 for a new shift in a preview."`
	Start    time.Time          `json:"start"`
	End      time.Time          `json:"end"`
	Role     string             `json:"role"`
	Team     string             `json:"team"`
	User     string             `json:"user"`
	FullName operation.Text     `json:"full_name"`
	Schedule *oncall.ScheduleID `json:"schedule_id" doc:"The schedule that made it; null = a person made it."`
	Link     operation.Text     `json:"link_id" doc:"The same id for all shifts that were made together; null = the shift is on its own."`
	Note     operation.Text     `json:"note"`
}

// EventOf returns a shift as /v1 shows it.
func EventOf(s oncall.ShiftRow) Event {
	out := Event{ID: s.ID, Start: s.Start.UTC(), End: s.End.UTC(), Role: s.Role, Team: s.Team, User: s.UserName,
		FullName: operation.Text(s.FullName), Link: operation.Text(s.Link), Note: operation.Text(s.Note)}
	if s.Schedule != 0 {
		out.Schedule = &s.Schedule
	}
	return out
}

func eventsOf(rows []oncall.ShiftRow) []Event {
	out := make([]Event, len(rows))
	for i, row := range rows {
		out[i] = EventOf(row)
	}
	return out
}

// access returns the permissions of the caller for edits of a team that the request names.
func (c *Calendaring) access(ctx context.Context, by operation.Actor) (editing.Access, error) {
	who, err := auth.PlannerOf(ctx, c.deps.Memberships, by)
	return editing.Access{Caller: who, By: users.ID(by.Person), Grace: c.deps.Grace, Named: true, Link: newLink()}, err
}

// person returns the person for whom a request acts: the caller, or the person whom an application names.
func (c *Calendaring) person(ctx context.Context, by operation.Actor, named string) (oncall.Person, error) {
	name := by.Name
	if by.Person == 0 {
		name = named
	}
	if name == "" {
		return oncall.Person{}, auth.ErrPersonNeeded
	}
	p, err := c.deps.People.ByName(ctx, name)
	return p, fault.When(err, fault.NotFound, fault.Invalidf("user", "there is no user %q", name))
}

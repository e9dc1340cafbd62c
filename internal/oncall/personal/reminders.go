package personal

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// NoticeStore stores which reminders and notices people want. What does not exist is a NotFound fault.
type NoticeStore interface {
	ByUser(ctx context.Context, user users.ID) ([]oncall.NoticeSetting, error)
	ByID(ctx context.Context, id int64) (oncall.NoticeSetting, error)
	// Create and Update return an Invalid fault for the field "roles" if a role does not exist.
	Create(ctx context.Context, s oncall.NoticeSetting) (int64, error)
	Update(ctx context.Context, id int64, p oncall.NoticePatch) error
	Delete(ctx context.Context, id int64) error
	Types(ctx context.Context) ([]oncall.NoticeType, error)
}

// MostBefore is the longest time between a reminder and its shift.
const MostBefore = 366 * 24 * time.Hour

// Reminder is a choice of a person: to be reminded of shifts, or to be notified of changes of a calendar.
type Reminder struct {
	ID            int64      `json:"id"`
	Team          string     `json:"team"`
	Type          string     `json:"type"`
	Mode          users.Mode `json:"mode"`
	BeforeSeconds *int64     `json:"before_seconds" nullable:"true" doc:"How long before the shift begins or ends, in seconds; null = it is a notice of changes."`
	OnlyMine      *bool      `json:"only_mine" nullable:"true" doc:"true: only changes of shifts of the person; null = it is a reminder."`
	Roles         []string   `json:"roles"`
}

// ReminderSettings are the members of a reminder or notice.
type ReminderSettings struct {
	Team          *string     `json:"team,omitempty" doc:"The name of the team. Required for a new one."`
	Type          *string     `json:"type,omitempty" doc:"oncall_reminder (before a shift begins), offcall_reminder (before it ends), event_created, event_edited, event_deleted, event_swapped or event_substituted (a change of the calendar). Required for a new one."`
	Mode          *users.Mode `json:"mode,omitempty" doc:"How the message is sent. Required for a new one."`
	BeforeSeconds *int64      `json:"before_seconds,omitempty" doc:"How long before the shift begins or ends, in seconds: 0 to 366 days. Required for reminders, not allowed for notices."`
	OnlyMine      *bool       `json:"only_mine,omitempty" doc:"true: only changes of shifts of the person. Required for notices, not allowed for reminders."`
	Roles         []string    `json:"roles,omitempty" maxItems:"100" doc:"The on-call roles that it is about: at least one. Required for a new one."`
}

// NewReminder adds a reminder or notice.
type NewReminder struct {
	users.OnePerson
	Body ReminderSettings `json:"body"`
}

// MadeReminder is the answer to NewReminder.
type MadeReminder struct {
	ID int64 `json:"id"`
}

// OneReminder names a reminder or notice.
type OneReminder struct {
	ID int64 `path:"id" json:"id"`
}

// ReminderEdit changes a reminder or notice. What is left out stays.
type ReminderEdit struct {
	OneReminder
	Body ReminderSettings `json:"body"`
}

// The operations on reminders and notices.
var (
	ListReminders = operation.Define[users.OnePerson, operation.Page[Reminder]](operation.Doc{Name: "reminder.list",
		Method: http.MethodGet, Path: "/v1/users/{user}/reminders", Needs: operation.Reader,
		Summary: "Which reminders of shifts and notices of changes a person wants"})
	AddReminder = operation.Define[NewReminder, MadeReminder](operation.Doc{Name: "reminder.add",
		Method: http.MethodPost, Path: "/v1/users/{user}/reminders", Needs: operation.Reader, Rule: operation.OfPerson,
		Audit: []audit.Action{audit.RemindersSet}, Errors: []int{http.StatusNotFound},
		Summary: "Remind a person of shifts, or notify them of changes"})
	ChangeReminder = operation.Define[ReminderEdit, operation.None](operation.Doc{Name: "reminder.change",
		Method: http.MethodPut, Path: "/v1/reminders/{id}", Status: http.StatusNoContent, Needs: operation.Reader,
		Rule: operation.OfPerson, Audit: []audit.Action{audit.RemindersSet},
		Summary: "Change a reminder or notice; members that are left out stay"})
	RemoveReminder = operation.Define[OneReminder, operation.None](operation.Doc{Name: "reminder.remove",
		Method: http.MethodDelete, Path: "/v1/reminders/{id}", Needs: operation.Reader, Rule: operation.OfPerson,
		Audit: []audit.Action{audit.RemindersSet}, Summary: "Remove a reminder or notice"})
)

func (p *Personal) reminders(ctx context.Context, _ operation.Actor, of users.OnePerson) (out operation.Page[Reminder], err error) {
	u, err := p.person(ctx, of.User)
	if err != nil {
		return out, err
	}
	found, err := p.deps.Notices.ByUser(ctx, u.ID)
	out.Items = []Reminder{}
	for _, s := range found {
		if len(s.Roles) == 0 { // its roles were deleted
			continue
		}
		r := Reminder{ID: s.ID, Team: s.Team, Type: s.Type, Mode: s.Mode, OnlyMine: s.OnlyMine, Roles: s.Roles}
		if s.Before != nil {
			seconds := int64(*s.Before / time.Second)
			r.BeforeSeconds = &seconds
		}
		out.Items = append(out.Items, r)
	}
	return out, err
}

func (p *Personal) addReminder(ctx context.Context, _ operation.Actor, n NewReminder) (out MadeReminder, err error) {
	u, err := p.owner(ctx, n.User)
	if err != nil {
		return out, err
	}
	var wrong fault.Wrong
	for name, missing := range map[string]bool{"team": n.Body.Team == nil, "roles": n.Body.Roles == nil,
		"mode": n.Body.Mode == nil, "type": n.Body.Type == nil} {
		wrong.If(missing, name, "%s is missing", name)
	}
	if err := wrong.Err(); err != nil {
		return out, err
	}
	patch, err := p.patch(ctx, n.Body)
	if err != nil {
		return out, err
	}
	s := patch.Apply(oncall.NoticeSetting{User: u.ID})
	switch {
	case (s.Before == nil) == (s.OnlyMine == nil):
		return out, fault.Invalidf("before_seconds", "exactly one of before_seconds and only_mine is required")
	case s.IsReminder && s.Before == nil:
		return out, fault.Invalidf("before_seconds", "a reminder needs before_seconds")
	case !s.IsReminder && s.OnlyMine == nil:
		return out, fault.Invalidf("only_mine", "a notice needs only_mine")
	}
	out.ID, err = p.deps.Notices.Create(ctx, s)
	return out, err
}

// patch checks each member that is given.
func (p *Personal) patch(ctx context.Context, s ReminderSettings) (out oncall.NoticePatch, err error) {
	if s.Type != nil {
		types, err := p.deps.Notices.Types(ctx)
		if err != nil {
			return out, err
		}
		i := slices.IndexFunc(types, func(t oncall.NoticeType) bool { return t.Name == *s.Type })
		if i < 0 {
			return out, fault.Invalidf("type", "notification type %s does not exist", *s.Type)
		}
		out.Type = &types[i]
	}
	if s.Team != nil {
		t, err := p.deps.Finder.ActiveTeam(ctx, *s.Team)
		if err != nil {
			return out, fault.When(err, fault.NotFound, fault.Invalidf("team", `team "%s" not found`, *s.Team))
		}
		out.TeamID = &t.ID
	}
	if s.Mode != nil {
		if !slices.Contains(p.deps.Modes, *s.Mode) {
			return out, fault.Invalidf("mode", "mode %s does not exist", *s.Mode)
		}
		out.Mode = s.Mode
	}
	if s.BeforeSeconds != nil {
		before := time.Duration(min(max(*s.BeforeSeconds, -1), 1<<31)) * time.Second
		if before < 0 || before > MostBefore {
			return out, fault.Invalidf("before_seconds", "before_seconds must be between 0 and 366 days, in seconds")
		}
		out.Before = &before
	}
	if s.Roles != nil && len(s.Roles) == 0 { // a setting without roles appears in no list, so nobody could delete it
		return out, fault.Invalidf("roles", "at least one role is required")
	}
	out.OnlyMine, out.Roles = s.OnlyMine, s.Roles
	return out, nil
}

// Own finds a reminder of a person whose settings the caller of the context may change.
func (p *Personal) Own(ctx context.Context, id int64) (oncall.NoticeSetting, error) {
	s, err := p.deps.Notices.ByID(ctx, id)
	if err == nil {
		_, err = p.owner(ctx, s.UserName)
	}
	return s, err
}

// changeReminder hands the change to storage, which applies it to the present setting.
func (p *Personal) changeReminder(ctx context.Context, _ operation.Actor, e ReminderEdit) (none operation.None, err error) {
	if _, err := p.Own(ctx, e.ID); err != nil {
		return none, err
	}
	patch, err := p.patch(ctx, e.Body)
	if err != nil {
		return none, err
	}
	return none, p.deps.Notices.Update(ctx, e.ID, patch)
}

func (p *Personal) removeReminder(ctx context.Context, _ operation.Actor, one OneReminder) (none operation.None, err error) {
	if _, err := p.Own(ctx, one.ID); err != nil {
		return none, err
	}
	return none, p.deps.Notices.Delete(ctx, one.ID)
}

package oncallapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a notices) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/notification_types", routing.Read, a.listNoticeTypes),
		routing.Get("/api/v0/users/{user}/notifications", routing.Read, a.listNotices),
		routing.Post("/api/v0/users/{user}/notifications", routing.Self, a.createNotice),
		routing.Put("/api/v0/notifications/{id}", routing.Self, a.updateNotice),
		routing.Delete("/api/v0/notifications/{id}", routing.Self, a.deleteNotice),
	}
}

// listNoticeTypes answers with the types of reminders and notices.
func (a notices) listNoticeTypes(w http.ResponseWriter, r *http.Request) error {
	types, err := a.Notices.Types(r.Context())
	if err != nil {
		return err
	}
	out := make([]map[string]any, len(types))
	for i, t := range types {
		out[i] = map[string]any{"name": t.Name, "is_reminder": Bool01(t.IsReminder)}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// listNotices answers with a person's notice settings that match the query.
func (a notices) listNotices(w http.ResponseWriter, r *http.Request) error {
	u, err := a.People.ByName(r.Context(), routing.Param(r, "user"))
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, []any{})
	}
	if err != nil {
		return err
	}
	settings, err := a.Notices.ByUser(r.Context(), u.ID)
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, s := range settings {
		if len(s.Roles) == 0 {
			continue
		}
		o := map[string]any{"id": s.ID, "team": s.Team, "mode": s.Mode, "type": s.Type, "time_before": nil,
			"only_if_involved": nil, "roles": s.Roles}
		if s.Before != nil {
			o["time_before"] = int64(*s.Before / time.Second)
		}
		if s.OnlyMine != nil {
			o["only_if_involved"] = Bool01(*s.OnlyMine)
		}
		out = append(out, o)
	}
	return routing.Answer(w, http.StatusOK, out)
}

const (
	badNotice       = "invalid notification setting"
	badNoticeUpdate = "invalid setting update"
	invalidRoles    = "unable to create notification: invalid roles"
)

// createNotice adds a notice setting to a person. A reminder needs time_before, a notice needs only_if_involved.
func (a notices) createNotice(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	u, b, err := WithBody(w, r, badNotice, a.Person)
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range []string{"team", "roles", "mode", "type"} {
		if !b.Given(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.Titled(badNotice, "missing required parameters: "+strings.Join(missing, ", "))
	}
	p, err := a.readNotice(ctx, b)
	if err != nil {
		return err
	}
	s := p.Apply(oncall.NoticeSetting{User: u.ID})
	switch {
	case (s.Before == nil) == (s.OnlyMine == nil):
		return fault.Titled(badNotice, "settings must define exactly one of {'time_before', 'only_if_involved'}")
	case s.IsReminder && s.Before == nil:
		return fault.Titled(badNotice, "reminder setting must define time_before")
	case !s.IsReminder && s.OnlyMine == nil:
		return fault.Titled(badNotice, "notification setting must define only_if_involved")
	}
	id, err := a.Notices.Create(ctx, s)
	if err != nil {
		return badRoles(err)
	}
	return routing.Answer(w, http.StatusCreated, map[string]any{"id": id})
}

// badRoles gives a fault of unknown roles the text that clients expect.
func badRoles(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "roles" {
		return err
	}
	return fault.When(err, fault.Invalid, fault.Titled("invalid request", invalidRoles))
}

// maxBefore is the longest time between a reminder and its shift.
const maxBefore = 366 * 24 * time.Hour

// readNotice reads the fields that the body has and checks each.
func (a notices) readNotice(ctx context.Context, b jsonbody.Object) (p oncall.NoticePatch, err error) {
	if b.Given("type") {
		name, err := b.Text("type")
		if err != nil {
			return p, err
		}
		types, err := a.Notices.Types(ctx)
		if err != nil {
			return p, err
		}
		i := slices.IndexFunc(types, func(t oncall.NoticeType) bool { return t.Name == name })
		if i < 0 {
			return p, fault.Titled(b.Title, "notification type "+name+" does not exist")
		}
		p.Type = &types[i]
	}
	if b.Given("team") {
		name, err := b.Text("team")
		if err != nil {
			return p, err
		}
		t, err := a.ActiveTeam(ctx, name)
		if err != nil {
			return p, fault.When(err, fault.NotFound, Integrity(`team "`+name+`" not found`))
		}
		p.TeamID = &t.ID
	}
	if b.Given("mode") {
		name, err := b.Text("mode")
		if err != nil {
			return p, err
		}
		mode := users.Mode(name)
		if !slices.Contains(a.Modes, mode) {
			return p, fault.Titled(b.Title, "mode "+name+" does not exist")
		}
		p.Mode = &mode
	}
	if n, given, err := b.Number("time_before"); err != nil {
		return p, err
	} else if given {
		before := time.Duration(min(max(n, -1), 1<<31)) * time.Second
		if before < 0 || before > maxBefore {
			return p, fault.Titled(b.Title, "time_before must be between 0 and 366 days, in seconds")
		}
		p.Before = &before
	}
	if only, given, err := b.Flag("only_if_involved"); err != nil {
		return p, err
	} else if given {
		p.OnlyMine = &only
	}
	roles, given, err := b.Texts("roles")
	if given {
		if len(roles) == 0 { // a setting without roles appears in no list, so nobody could delete it
			return p, fault.Titled("invalid request", invalidRoles)
		}
		p.Roles = roles
	}
	return p, err
}

// setting finds the notice setting of the path. It refuses callers who may not change its person's settings.
func (a notices) setting(r *http.Request) (oncall.NoticeSetting, error) {
	id, err := ShiftID(r, "id")
	if err != nil {
		return oncall.NoticeSetting{}, err
	}
	s, err := a.Notices.ByID(r.Context(), id)
	if err != nil {
		return s, err
	}
	_, err = a.PersonNamed(r.Context(), s.UserName, false)
	return s, err
}

// updateNotice changes the fields that the body has. Storage applies the change to the current setting.
func (a notices) updateNotice(w http.ResponseWriter, r *http.Request) error {
	found, err := a.setting(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, badNoticeUpdate)
	if err != nil {
		return err
	}
	p, err := a.readNotice(r.Context(), b)
	if err != nil {
		return err
	}
	if err := a.Notices.Update(r.Context(), found.ID, p); err != nil {
		return badRoles(err)
	}
	return routing.Empty(w, http.StatusOK)
}

// deleteNotice deletes a notice setting.
func (a notices) deleteNotice(w http.ResponseWriter, r *http.Request) error {
	s, err := a.setting(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Notices.Delete(r.Context(), s.ID))
}

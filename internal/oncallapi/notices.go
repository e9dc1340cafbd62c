package oncallapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func (a *API) noticeRoutes() []route {
	return []route{
		{get, v0 + "/notification_types", read, a.listNoticeTypes},
		{get, v0 + "/users/{user}/notifications", read, a.listNotices},
		{post, v0 + "/users/{user}/notifications", self, a.createNotice},
		{put, v0 + "/notifications/{id}", self, a.updateNotice},
		{del, v0 + "/notifications/{id}", self, a.deleteNotice},
	}
}

func (a *API) listNoticeTypes(w http.ResponseWriter, r *http.Request) error {
	types, err := a.Notices.Types(r.Context())
	if err != nil {
		return err
	}
	out := make([]map[string]any, len(types))
	for i, t := range types {
		out[i] = map[string]any{"name": t.Name, "is_reminder": bool01(t.IsReminder)}
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) listNotices(w http.ResponseWriter, r *http.Request) error {
	u, err := a.People.ByName(r.Context(), param(r, "user"))
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, []any{})
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
		o := map[string]any{"id": s.ID, "team": s.Team, "mode": s.Mode, "type": s.Type, "time_before": nil, "only_if_involved": nil, "roles": s.Roles}
		if s.Before != nil {
			o["time_before"] = int64(*s.Before / time.Second)
		}
		if s.OnlyMine != nil {
			o["only_if_involved"] = bool01(*s.OnlyMine)
		}
		out = append(out, o)
	}
	return answer(w, http.StatusOK, out)
}

const (
	badNotice       = "invalid notification setting"
	badNoticeUpdate = "invalid setting update"
	invalidRoles    = "unable to create notification: invalid roles"
)

func (a *API) createNotice(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	u, err := a.person(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, badNotice)
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range []string{"team", "roles", "mode", "type"} {
		if !b.given(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.Titled(badNotice, "missing required parameters: "+strings.Join(missing, ", "))
	}
	s := oncall.NoticeSetting{User: u.ID}
	if err := a.readNotice(ctx, b, &s); err != nil {
		return err
	}
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
	return answer(w, http.StatusCreated, map[string]any{"id": id})
}

func badRoles(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "roles" {
		return err
	}
	return when(err, fault.Invalid, fault.Titled("invalid request", invalidRoles))
}

// maxBefore bounds how long before a shift somebody is reminded.
const maxBefore = 366 * 24 * time.Hour

// readNotice reads what a body says of a setting into s.
func (a *API) readNotice(ctx context.Context, b body, s *oncall.NoticeSetting) error {
	if b.given("type") {
		name, err := b.text("type")
		if err != nil {
			return err
		}
		types, err := a.Notices.Types(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(types, func(t oncall.NoticeType) bool { return t.Name == name })
		if i < 0 {
			return fault.Titled(b.title, "notification type "+name+" does not exist")
		}
		s.Type, s.IsReminder = name, types[i].IsReminder
	}
	if b.given("team") {
		name, err := b.text("team")
		if err != nil {
			return err
		}
		t, err := a.activeTeam(ctx, name)
		if err != nil {
			return when(err, fault.NotFound, integrity(`team "`+name+`" not found`))
		}
		s.TeamID = t.ID
	}
	if b.given("mode") {
		mode, err := b.text("mode")
		if err != nil {
			return err
		}
		if !slices.Contains(a.Config.Modes, users.Mode(mode)) {
			return fault.Titled(b.title, "mode "+mode+" does not exist")
		}
		s.Mode = users.Mode(mode)
	}
	if n, given, err := b.number("time_before"); err != nil {
		return err
	} else if given {
		before := time.Duration(min(max(n, -1), 1<<31)) * time.Second
		if before < 0 || before > maxBefore {
			return fault.Titled(b.title, "time_before must be between 0 and 366 days, in seconds")
		}
		s.Before = &before
	}
	if only, given, err := b.flag("only_if_involved"); err != nil {
		return err
	} else if given {
		s.OnlyMine = &only
	}
	roles, given, err := b.texts("roles")
	if given {
		if len(roles) == 0 { // nobody could see such a setting, nor take it back
			return fault.Titled("invalid request", invalidRoles)
		}
		s.Roles = roles
	}
	return err
}

// setting finds the setting of the path for somebody who may change it.
func (a *API) setting(r *http.Request) (oncall.NoticeSetting, error) {
	id, err := shiftID(r, "id")
	if err != nil {
		return oncall.NoticeSetting{}, err
	}
	s, err := a.Notices.ByID(r.Context(), id)
	if err != nil {
		return s, err
	}
	_, err = a.personNamed(r.Context(), s.UserName)
	return s, err
}

// updateNotice changes what the body names, of the setting as it is when it is stored.
func (a *API) updateNotice(w http.ResponseWriter, r *http.Request) error {
	found, err := a.setting(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, badNoticeUpdate)
	if err != nil {
		return err
	}
	var p oncall.NoticeSetting
	if err := a.readNotice(r.Context(), b, &p); err != nil {
		return err
	}
	err = a.Notices.Update(r.Context(), found.ID, func(s *oncall.NoticeSetting) error { return changeNotice(s, p, b) })
	if err != nil {
		return badRoles(err)
	}
	return empty(w, http.StatusOK)
}

// changeNotice changes what a body names of a setting and checks the whole.
func changeNotice(s *oncall.NoticeSetting, p oncall.NoticeSetting, b body) error {
	before := s.IsReminder
	if b.given("type") {
		s.Type, s.IsReminder = p.Type, p.IsReminder
	}
	if b.given("team") {
		s.TeamID = p.TeamID
	}
	if b.given("mode") {
		s.Mode = p.Mode
	}
	if b.given("time_before") {
		s.Before = p.Before
	}
	if b.given("only_if_involved") {
		s.OnlyMine = p.OnlyMine
	}
	if b.given("roles") {
		s.Roles = p.Roles
	}
	if s.IsReminder {
		if b.given("only_if_involved") {
			return fault.Titled(badNoticeUpdate, "reminder setting must define only time_before")
		}
		s.OnlyMine = nil
	} else {
		if b.given("time_before") {
			return fault.Titled(badNoticeUpdate, "notification setting must define only only_if_involved")
		}
		s.Before = nil
	}
	if before != s.IsReminder && (s.Before == nil) == (s.OnlyMine == nil) {
		return fault.Titled(badNoticeUpdate, "settings must define exactly one of {'time_before', 'only_if_involved'}")
	}
	return nil
}

func (a *API) deleteNotice(w http.ResponseWriter, r *http.Request) error {
	s, err := a.setting(r)
	if err != nil {
		return err
	}
	if err := a.Notices.Delete(r.Context(), s.ID); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

package oncallapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall/personal"
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

// listNotices answers with a person's notice settings; an empty list for an unknown person.
func (a notices) listNotices(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Personal.Reminders.Do(r.Context(), a.Caller(r), users.OnePerson{User: routing.Param(r, "user")})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	out := make([]map[string]any, len(found.Items))
	for i, s := range found.Items {
		out[i] = map[string]any{"id": s.ID, "team": s.Team, "mode": s.Mode, "type": s.Type,
			"time_before": s.BeforeSeconds, "only_if_involved": nil, "roles": s.Roles}
		if s.OnlyMine != nil {
			out[i]["only_if_involved"] = Bool01(*s.OnlyMine)
		}
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
	settings, err := readNotice(b)
	if err != nil {
		return err
	}
	made, err := a.Personal.AddReminder.DoValid(r.Context(), a.Caller(r),
		personal.NewReminder{OnePerson: users.OnePerson{User: u.Name}, Body: settings})
	return routing.Reply(w, http.StatusCreated, map[string]any{"id": made.ID}, noticeRefusal(err, b))
}

// noticeRefusal gives the refusal of a reminder the title and the names of members that clients of Oncall know.
func noticeRefusal(err error, b jsonbody.Object) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid || f.Field == "" {
		return err
	}
	switch f.Field {
	case "roles":
		return fault.Titled("invalid request", invalidRoles)
	case "team":
		return Integrity(f.Message)
	}
	text := f.Message
	if better, known := noticeTexts[text]; known {
		text = better
	}
	return fault.Titled(b.Title, strings.ReplaceAll(text, "before_seconds", "time_before"))
}

// noticeTexts are refusals whose words clients of Oncall compare.
var noticeTexts = map[string]string{
	"exactly one of before_seconds and only_mine is required": "settings must define exactly one of {'time_before', 'only_if_involved'}",
	"a reminder needs before_seconds":                         "reminder setting must define time_before",
	"a reminder has no only_mine: leave it out":               "reminder setting must define only time_before",
	"a notice has no before_seconds: leave it out":            "notification setting must define only only_if_involved",
	"a notice needs only_mine":                                "notification setting must define only_if_involved",
}

// readNotice reads the fields that the body has.
func readNotice(b jsonbody.Object) (s personal.ReminderSettings, err error) {
	if b.Given("type") {
		name := jsonbody.Next(&err, b.Text, "type")
		s.Type = &name
	}
	if b.Given("team") {
		name := jsonbody.Next(&err, b.Text, "team")
		s.Team = &name
	}
	if b.Given("mode") {
		mode := users.Mode(jsonbody.Next(&err, b.Text, "mode"))
		s.Mode = &mode
	}
	if err != nil {
		return s, err
	}
	if n, given, err := b.Number("time_before"); err != nil {
		return s, err
	} else if given {
		s.BeforeSeconds = &n
	}
	if only, given, err := b.Flag("only_if_involved"); err != nil {
		return s, err
	} else if given {
		s.OnlyMine = &only
	}
	s.Roles, _, err = b.Texts("roles")
	return s, err
}

// updateNotice changes the fields that the body has.
func (a notices) updateNotice(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	if err != nil {
		return err
	}
	if _, err := a.Personal.Own(r.Context(), id); err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, badNoticeUpdate)
	if err != nil {
		return err
	}
	settings, err := readNotice(b)
	if err != nil {
		return err
	}
	_, err = a.Personal.ChangeReminder.DoValid(r.Context(), a.Caller(r),
		personal.ReminderEdit{OneReminder: personal.OneReminder{ID: id}, Body: settings})
	return routing.Done(w, http.StatusOK, noticeRefusal(err, b))
}

// deleteNotice deletes a notice setting.
func (a notices) deleteNotice(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	if err != nil {
		return err
	}
	_, err = a.Personal.RemoveReminder.Do(r.Context(), a.Caller(r), personal.OneReminder{ID: id})
	return routing.Done(w, http.StatusOK, err)
}

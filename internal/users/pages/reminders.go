package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// noticeTypes are the types of reminders and notices, in the order of the form.
var noticeTypes = []page.Option{
	{Value: "oncall_reminder", Label: "before my shift starts"}, {Value: "offcall_reminder",
		Label: "before my shift ends"},
	{Value: "event_created", Label: "a shift is created"}, {Value: "event_edited",
		Label: "a shift is changed"}, {Value: "event_deleted", Label: "a shift is deleted"},
	{Value: "event_swapped", Label: "shifts are swapped"}, {Value: "event_substituted", Label: "somebody is replaced"},
}

// notice is a reminder, or a notice of changes.
type notice struct{ personal.Reminder }

// Text describes the notice.
func (n notice) Text() string {
	what := n.Type
	for _, t := range noticeTypes {
		if t.Value == n.Type {
			what = t.Label
		}
	}
	if n.BeforeSeconds != nil {
		return "By " + string(n.Mode) + ", " + humanize.Duration(time.Duration(*n.BeforeSeconds)*time.Second) + " " + what
	}
	text := "By " + string(n.Mode) + ", when " + what
	if n.OnlyMine != nil && *n.OnlyMine {
		text += " and it concerns me"
	}
	return text
}

type remindersView struct {
	personView
	Notices []notice
	Feeds   []personal.Feed
	Teams   []page.Option
	Kinds   []page.Option
	Ways    []page.Option
	Units   []page.Option
	Roles   []calendaring.Role
	Origin  string // begins the address of a feed
}

func (h Handlers) reminders(rw http.ResponseWriter, r *http.Request) {
	h.showReminders(rw, r, page.Again{})
}

func (h Handlers) showReminders(rw http.ResponseWriter, r *http.Request, was page.Again) {
	p, ok := h.own(rw, r, "Reminders and calendars")
	if !ok {
		return
	}
	p.Again, p.Tabs = was, accountTabs(p.Person.Name, "/reminders", p.Own)
	v := remindersView{personView: p, Kinds: noticeTypes, Units: []page.Option{{Value: "60", Label: "minutes"},
		{Value: "3600", Label: "hours"}, {Value: "86400", Label: "days"}},
		Origin: h.PublicURL + "/api/v0/ical/"}
	if err := h.readReminders(r, &v); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, was.Status(), "reminders", v)
}

func (h Handlers) readReminders(r *http.Request, v *remindersView) error {
	ctx, by, of := r.Context(), page.Actor(r), users.OnePerson{User: v.Person.Name}
	reminders, err := h.Personal.Reminders.Do(ctx, by, of)
	if err != nil {
		return err
	}
	for _, one := range reminders.Items {
		v.Notices = append(v.Notices, notice{one})
	}
	roles, err := h.OnCallRoles.List.Do(ctx, by, operation.None{})
	if err != nil {
		return err
	}
	feeds, err := h.Personal.Feeds.Do(ctx, by, of)
	v.Roles, v.Feeds, v.Ways, v.Teams = roles.Items, feeds.Items, page.Options(h.NoticeModes...), page.Options(v.Person.Teams...)
	return err
}

// setReminder carries out a form of the page.
func (h Handlers) setReminder(r *http.Request, user string, form url.Values) (done, to string, err error) {
	ctx, by, of := r.Context(), page.Actor(r), users.OnePerson{User: user}
	switch form.Get("form") {
	case "reminder":
		settings, err := reminderOf(form)
		if err != nil {
			return "", "", err
		}
		_, err = h.Personal.AddReminder.Do(ctx, by, personal.NewReminder{OnePerson: of, Body: settings})
		return "The reminder is added.", "", err
	case "no-reminder":
		id, _ := strconv.ParseInt(form.Get("id"), 10, 64) // 0 does not exist
		_, err = h.Personal.RemoveReminder.Do(ctx, by, personal.OneReminder{ID: id})
		return "The reminder is removed.", "", err
	case "feed":
		if team := form.Get("team"); team != "" {
			_, err = h.Personal.NewTeamFeed.Do(ctx, by, users.OneTeam{Team: team})
		} else {
			_, err = h.Personal.NewPersonFeed.Do(ctx, by, of)
		}
		return "The calendar has a new address. An earlier one no longer works.", "", err
	case "no-feed":
		_, err = h.Personal.RemoveFeed.Do(ctx, by, personal.OneFeed{Key: form.Get("key")})
		return "The address no longer works.", "", err
	}
	return "", "", fault.Invalidf("form", "there is no such form")
}

// reminderOf reads the form of a new reminder. Its fields have the names of the operation. Only the time before the shift
// has two fields, a number and a unit.
func reminderOf(form url.Values) (s personal.ReminderSettings, err error) {
	team, kind, mode := form.Get("team"), form.Get("type"), users.Mode(form.Get("mode"))
	s = personal.ReminderSettings{Team: &team, Type: &kind, Mode: &mode, Roles: append([]string{}, form["roles"]...)}
	if !strings.HasSuffix(kind, "_reminder") {
		only := form.Get("only_mine") != ""
		s.OnlyMine = &only
		return s, nil
	}
	n, err := strconv.ParseInt(form.Get("before_seconds"), 10, 32)
	unit, errUnit := strconv.ParseInt(form.Get("unit"), 10, 32)
	if err != nil || errUnit != nil || n < 0 {
		return s, fault.Invalidf("before_seconds", "say how long before the shift, as a number")
	}
	seconds := n * unit
	s.BeforeSeconds = &seconds
	return s, nil
}

package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
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

// notice is a reminder, or a notice of changes, of the on-call API.
type notice struct {
	ID     int64    `json:"id"`
	Team   string   `json:"team"`
	Mode   string   `json:"mode"`
	Type   string   `json:"type"`
	Before *int64   `json:"time_before"`
	Mine   *int     `json:"only_if_involved"`
	Roles  []string `json:"roles"`
}

// Text describes the notice.
func (n notice) Text() string {
	what := n.Type
	for _, t := range noticeTypes {
		if t.Value == n.Type {
			what = t.Label
		}
	}
	if n.Before != nil {
		return "By " + n.Mode + ", " + humanize.Duration(time.Duration(*n.Before)*time.Second) + " " + what
	}
	text := "By " + n.Mode + ", when " + what
	if n.Mine != nil && *n.Mine == 1 {
		text += " and it concerns me"
	}
	return text
}

// feed is a secret address of a calendar.
type feed struct {
	Key  string `json:"key"`
	Name string `json:"name"`
	Type string `json:"type"`
	Made int64  `json:"time_created"`
}

// At returns when the address was made.
func (f feed) At() time.Time { return time.Unix(f.Made, 0) }

type remindersView struct {
	personView
	Notices []notice
	Feeds   []feed
	Teams   []page.Option
	Kinds   []page.Option
	Ways    []page.Option
	Units   []page.Option
	Roles   []page.Named
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
	if err := v.read(h.Pages.API(r)); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, was.Status(), "reminders", v)
}

func (v *remindersView) read(api page.API) error {
	var modes []string
	err := api.Get(page.Path("/api/v0/users/%s/notifications", v.Person.Name), &v.Notices)
	if err == nil {
		err = api.Get("/api/v0/modes", &modes)
	}
	if err == nil {
		err = api.Get("/api/v0/roles", &v.Roles)
	}
	if err == nil {
		err = fault.When(api.Get(page.Path("/api/v0/ical_key/requester/%s", v.Person.Name), &v.Feeds), fault.NotFound,
			nil)
	}
	v.Ways = page.Options(modes...)
	v.Teams = page.Options(v.Person.Teams...)
	return err
}

// setReminder carries out a form of the page.
func (h Handlers) setReminder(r *http.Request, user string, form url.Values) (done, to string, err error) {
	api := h.Pages.API(r)
	switch form.Get("form") {
	case "reminder":
		kind := form.Get("type")
		body := map[string]any{"team": form.Get("team"), "roles": append([]string{}, form["roles"]...),
			"mode": form.Get("mode"), "type": kind}
		if strings.HasSuffix(kind, "_reminder") {
			n, err := strconv.Atoi(form.Get("time_before"))
			unit, errUnit := strconv.Atoi(form.Get("unit"))
			if err != nil || errUnit != nil || n < 0 || n > 10_000 {
				return "", "", fault.Invalidf("time_before", "say how long before the shift, as a number")
			}
			body["time_before"] = n * unit
		} else {
			body["only_if_involved"] = form.Get("only_if_involved") != ""
		}
		if len(form["roles"]) == 0 {
			return "", "", fault.Invalidf("roles", "choose at least one role")
		}
		return "The reminder is added.", "", api.Send(http.MethodPost,
			page.Path("/api/v0/users/%s/notifications", user), body, nil)
	case "no-reminder":
		return "The reminder is removed.", "", api.Send(http.MethodDelete,
			page.Path("/api/v0/notifications/%s", form.Get("id")), nil, nil)
	case "feed":
		path := page.Path("/api/v0/ical_key/user/%s", user)
		if team := form.Get("team"); team != "" {
			path = page.Path("/api/v0/ical_key/team/%s", team)
		}
		return "The calendar has a new address. An earlier one no longer works.", "", api.Send(http.MethodPost, path,
			nil, nil)
	case "no-feed":
		return "The address no longer works.", "", api.Send(http.MethodDelete,
			page.Path("/api/v0/ical_key/key/%s", form.Get("key")), nil, nil)
	}
	return "", "", fault.Invalidf("form", "there is no such form")
}

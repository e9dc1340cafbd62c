package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// contact is a contact of /v1.
type contact struct {
	Mode        users.Mode `json:"mode"`
	Destination string     `json:"destination"`
	Verified    bool       `json:"verified"`
	Verifiable  bool       `json:"verifiable"`
	Managed     bool       `json:"managed"`
	Failing     string     `json:"failing"` // why no message can reach it; "" = nothing is known against it
}

// Label returns the mode as text.
func (c contact) Label() string { return modeTexts[c.Mode] }

// shift is a coming shift of the on-call API.
type shift struct {
	Team  string `json:"team"`
	Role  string `json:"role"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Count int    `json:"num_events"`
}

// Starts returns when the shift begins.
func (s shift) Starts() time.Time { return time.Unix(s.Start, 0) }

// Ends returns when the shift ends.
func (s shift) Ends() time.Time { return time.Unix(s.End, 0) }

type device struct {
	Platform string `json:"platform"`
}

// personView is the page of a person. Its forms are shown to those who may change the person's settings.
type personView struct {
	page.Frame
	page.Again
	Person   person
	Own      bool // the reader is the person
	Mine     bool // the reader may change the settings of the person
	At       string
	Tabs     []page.Tab
	Contacts []contact
	Summary  []line
	Rules    []ruleRow
	Quiet    quiet
	Devices  []device
	Shifts   []shift
	Missing  []page.Option // modes without a contact
	Modes    []page.Option
	Roles    []page.Option
	Test     page.Live
}

// accountTabs are the links between the pages of a person's account.
func accountTabs(user, current string, own bool) []page.Tab {
	at := page.Path("/people/%s", user)
	tabs := []page.Tab{{Label: "Contacts and modes", Href: at}, {Label: "Preferences", Href: at + "/preferences"},
		{Label: "Reminders and calendars", Href: at + "/reminders"}}
	if own {
		tabs = append(tabs, page.Tab{Label: "Tokens", Href: "/tokens"}, page.Tab{Label: "Sessions", Href: "/sessions"},
			page.Tab{Label: "Log-in", Href: "/account/second-factor"})
	}
	return page.Tabs(at+current, tabs...)
}

// open reads the person of the path, and whether the reader may change the person's settings. If it fails, it has
// answered the request.
func (h Handlers) open(rw http.ResponseWriter, r *http.Request, title string) (v personView, ok bool) {
	api := h.Pages.API(r)
	user, _ := path(r)
	err := api.Get(page.Path("/v1/users/%s", user), &v.Person)
	if err == nil {
		err = page.List(api, page.Path("/v1/users/%s/contacts", v.Person.Name), &v.Contacts)
		v.Mine = err == nil
		if fault.Is(err, fault.Forbidden) {
			err = nil
		}
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return v, false
	}
	v.Own = page.Reader(r).Name == v.Person.Name
	section := "people"
	if v.Own {
		section = "me-contacts"
	} else if title != "" {
		title += " of " + v.Person.Name
	}
	if title == "" {
		title = v.Person.Name
	}
	v.Frame, v.At = h.Pages.Frame(r, title, section), page.Path("/people/%s", v.Person.Name)
	return v, true
}

// own is open for pages that only those see who may change the person's settings.
func (h Handlers) own(rw http.ResponseWriter, r *http.Request, title string) (personView, bool) {
	v, ok := h.open(rw, r, title)
	if ok && !v.Mine {
		h.Pages.Fail(rw, r, fault.New(fault.Forbidden, "only the person and administrators see this page"))
		return v, false
	}
	return v, ok
}

func (h Handlers) person(rw http.ResponseWriter, r *http.Request) { h.showPerson(rw, r, page.Again{}) }

func (h Handlers) showPerson(rw http.ResponseWriter, r *http.Request, was page.Again) {
	if id := r.URL.Query().Get("test"); id != "" && page.IsRefresh(r) {
		h.test(rw, r, id)
		return
	}
	v, ok := h.open(rw, r, "")
	if !ok {
		return
	}
	v.Again, v.Tabs, v.Roles = was, accountTabs(v.Person.Name, "", v.Own), roleOptions()
	api, name := h.Pages.API(r), v.Person.Name
	err := api.Get(page.Path("/api/v0/users/%s/upcoming?limit=10", name), &v.Shifts)
	if err == nil && v.Mine {
		err = v.readRules(api)
	} else if err == nil {
		err = v.readContacts(api)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if id := r.URL.Query().Get("test"); id != "" {
		if v.Test, ok = h.test(rw, r, id); !ok {
			return
		}
	}
	h.Pages.Render(rw, r, was.Status(), "person", v)
}

// readContacts reads the contacts of somebody else, which the on-call API shows.
func (v *personView) readContacts(api page.API) error {
	var found struct {
		Contacts map[users.Mode]string `json:"contacts"`
	}
	err := api.Get(page.Path("/api/v0/users/%s?fields=contacts", v.Person.Name), &found)
	for _, m := range users.Modes {
		if to := found.Contacts[m]; to != "" {
			v.Contacts = append(v.Contacts, contact{Mode: m, Destination: to})
		}
	}
	return err
}

// readRules reads how pages reach the person.
func (v *personView) readRules(api page.API) error {
	var rules users.NotificationRules
	var profile struct {
		Devices []device `json:"device"`
	}
	defaults, err := defaultModes(api)
	for path, into := range map[string]any{"/v1/users/%s/notification-rules": &rules, "/v1/users/%s/quiet-limits": &v.Quiet, "/v0/users/%s": &profile} {
		if err == nil {
			err = api.Get(page.Path(path, v.Person.Name), into)
		}
	}
	v.Devices = profile.Devices
	contacts := map[users.Mode]string{}
	for _, c := range v.Contacts {
		contacts[c.Mode] = c.Destination
	}
	v.Summary, v.Rules, v.Modes = summary(rules.Rules, contacts, defaults), ruleRows(rules.Rules, defaults,
		v.Again), append([]page.Option{{Label: "none"}}, modeOptions(false)...)
	if contacts[users.SMS] == "" && contacts[users.Call] == "" {
		v.Missing = append(v.Missing, page.Option{Value: "phone", Label: "phone: calls and SMS"})
	}
	for _, o := range modeOptions(false) {
		if contacts[users.Mode(o.Value)] == "" {
			v.Missing = append(v.Missing, o)
		}
	}
	return err
}

// defaultModes returns the modes of the installation by priority.
func defaultModes(api page.API) (map[users.Priority]users.Mode, error) {
	var found []struct {
		Name users.Priority `json:"name"`
		Mode users.Mode     `json:"default_mode"`
	}
	err := api.Get("/v0/priorities", &found)
	out := map[users.Priority]users.Mode{}
	for _, f := range found {
		out[f.Name] = f.Mode
	}
	return out, err
}

// contactForm returns the name of the form that adds a contact, or of the one that changes a contact.
func contactForm(form url.Values) string {
	if form.Get("change") != "" {
		return "contact-" + form.Get("mode")
	}
	return "contact"
}

// setContact adds or replaces a contact. The choice phone means calls and texts.
func setContact(api page.API, user string, form url.Values) (done, to string, err error) {
	modes := []string{form.Get("mode")}
	if modes[0] == "phone" {
		modes = []string{string(users.SMS), string(users.Call)}
	}
	for _, m := range modes {
		if err == nil {
			err = api.Send(http.MethodPut, page.Path("/v1/users/%s/contacts/%s", user, m),
				map[string]string{"destination": form.Get("destination")}, nil)
		}
	}
	return "The contact is saved. Send a test message to see that it works.", "", err
}

// contact carries out a button of a contact.
func (h Handlers) contact(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	api, mode := h.Pages.API(r), wire.Param(r, "mode")
	user, to := path(r)
	at := page.Path("/v1/users/%s/contacts/%s", user, mode)
	var err error
	var done string
	switch wire.Param(r, "action") {
	case "remove":
		done, err = "The contact is removed.", api.Send(http.MethodDelete, at, nil, nil)
	case "code":
		done, err = "A code is on its way. Type it below.", api.Send(http.MethodPost, at+"/code", nil, nil)
	case "verify":
		done, err = "The contact is verified.", api.Send(http.MethodPost, at+"/verify",
			map[string]string{"code": form.Get("code")}, nil)
	case "test":
		var sent struct {
			ID int64 `json:"notification_id"`
		}
		if err = api.Send(http.MethodPost, at+"/test", nil, &sent); err == nil {
			http.Redirect(rw, r, to+"?test="+strconv.FormatInt(sent.ID, 10)+"#test", http.StatusSeeOther)
			return
		}
	default:
		err = fault.New(fault.NotFound, "there is no such action")
	}
	h.Pages.Finish(rw, r, done, to, err, func(refusal page.Refusal) {
		h.showPerson(rw, r, page.Again{Form: "contact-" + mode, Typed: form, Refusal: refusal})
	})
}

// sent is a message of /v1.
type sent struct {
	ID          int64      `json:"id"`
	State       string     `json:"state"`
	Mode        users.Mode `json:"mode"`
	Destination string     `json:"destination"`
	SentAt      time.Time  `json:"sent_at"`
	Attempts    []struct {
		Vendor  string `json:"vendor"`
		Outcome string `json:"outcome"`
		Detail  string `json:"detail"`
	} `json:"attempts"`
}

// Waits reports whether the message is not sent yet.
func (m sent) Waits() bool { return m.State == "pending" || m.State == "taken" || m.State == "sending" }

// Reason returns what the vendor said last; "" = nothing.
func (m sent) Reason() string {
	if n := len(m.Attempts); n > 0 {
		return m.Attempts[n-1].Detail
	}
	return ""
}

// Label returns the mode as text.
func (m sent) Label() string { return modeTexts[m.Mode] }

type testView struct {
	Messages []sent
	Mailbox  bool
}

// test renders what became of a test message. If the browser asked for this part only, it has answered the request and
// returns false.
func (h Handlers) test(rw http.ResponseWriter, r *http.Request, notification string) (page.Live, bool) {
	api := h.Pages.API(r)
	var found page.Listed[sent]
	err := api.Get(page.Query("/v1/messages", "notification_id", notification, "limit", "5"), &found)
	for i, m := range found.Items {
		if err == nil {
			err = api.Get(page.Path("/v1/messages/%v", m.ID), &found.Items[i])
		}
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return page.Live{}, false
	}
	return h.Pages.Live(rw, r, "test-message", testView{found.Items, h.Pages.Mailbox()})
}

// changeAccount changes the account of a person, for administrators.
func changeAccount(api page.API, user string, form url.Values) (done, to string, err error) {
	at := page.Path("/v1/users/%s", user)
	change := func(body map[string]any) error {
		return api.Send(http.MethodPut, page.Query(at, "force", form.Get("force")), body, nil)
	}
	switch form.Get("action") {
	case "role":
		role := form.Get("role")
		return "The role is changed.", "", change(map[string]any{"admin": role == users.RoleAdmin,
			"read_only": role == users.RoleReadOnly})
	case "name":
		return "The name is changed.", "", change(map[string]any{"full_name": form.Get("full_name")})
	case "off":
		return user + " is switched off: no log-in, and no pages.", "", change(map[string]any{"active": false})
	case "on":
		return user + " is active again.", "", change(map[string]any{"active": true})
	case "password":
		return "A link for a new password is on its way. It works for 30 minutes.", "", api.Send(http.MethodPost, at+
			"/password-link", nil, nil)
	case "second-factor":
		return "The second factor is removed. The password alone logs the person in.", "", api.Send(http.MethodDelete,
			at+"/second-factor", nil, nil)
	case "delete":
		return user + " is deleted.", "/people", api.Send(http.MethodDelete,
			page.Query(at, "force", form.Get("force")), nil, nil)
	}
	return "", "", fault.Invalidf("action", "there is no such action")
}

package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// contact is a contact as pages show it.
type contact struct{ users.ShownContact }

// missing are the modes without a contact, as choices.
type missing []page.Option

// Hints say what to type, for each of the modes.
func (m missing) Hints() (out []page.Option) {
	for _, o := range m {
		if hint := destinationHints[o.Value]; hint != "" {
			out = append(out, page.Option{Value: o.Value, Label: hint})
		}
	}
	return out
}

const phoneHint = "With the country code, such as +15551234567."

// destinationHints say what to type for a mode.
var destinationHints = map[string]string{"phone": phoneHint, string(users.SMS): phoneHint, string(users.Call): phoneHint,
	string(users.Email): "Such as ann@example.com.", string(users.Slack): "A name or id in Slack, or a #channel.",
	string(users.Webhook): "An address that begins with https://."}

// Label returns the mode as text.
func (c contact) Label() string { return modeTexts[c.Mode] }

// shownShifts is how many of the next shifts of a person are shown.
const shownShifts = 10

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
	Devices  []users.ShownDevice
	Shifts   []personal.NextShift
	Missing  missing // modes without a contact
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
	var err error
	user, _ := path(r)
	v.Person.Person, err = h.People.Get.Do(r.Context(), page.Actor(r), users.OnePerson{User: user})
	if err == nil {
		var found operation.Page[users.ShownContact]
		found, err = h.Contacts.List.Do(r.Context(), page.Actor(r), users.OnePerson{User: v.Person.Name})
		v.Mine = err == nil
		if fault.Is(err, fault.Forbidden) {
			err = nil
		}
		for _, one := range found.Items {
			v.Contacts = append(v.Contacts, contact{one})
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
	shifts, err := h.Personal.Shifts.Do(r.Context(), page.Actor(r),
		personal.ShiftFilter{OnePerson: users.OnePerson{User: v.Person.Name}, Limit: shownShifts})
	v.Shifts = shifts.Items
	if err == nil && v.Mine {
		err = h.readRules(r, &v)
	} else if err == nil {
		err = h.readContacts(r, &v)
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

// readContacts reads what the reader sees of the contacts of somebody else.
func (h Handlers) readContacts(r *http.Request, v *personView) error {
	found, err := h.Contacts.Visible.Do(r.Context(), page.Actor(r), users.OnePerson{User: v.Person.Name})
	for _, c := range found.Items {
		v.Contacts = append(v.Contacts, contact{users.ShownContact{Mode: c.Mode, Destination: c.Destination}})
	}
	return err
}

// readRules reads how pages reach the person.
func (h Handlers) readRules(r *http.Request, v *personView) error {
	ctx, by, one := r.Context(), page.Actor(r), users.OnePerson{User: v.Person.Name}
	rules, err := h.Preferences.Rules.Do(ctx, by, one)
	if err != nil {
		return err
	}
	if v.Quiet.QuietLimits, err = h.Preferences.Quiet.Do(ctx, by, one); err != nil {
		return err
	}
	devices, err := h.Preferences.Devices.Do(ctx, by, one)
	if err != nil {
		return err
	}
	priorities, err := h.Preferences.Priorities.Do(ctx, by, operation.None{})
	if err != nil {
		return err
	}
	defaults := map[users.Priority]users.Mode{}
	for _, p := range priorities.Items {
		defaults[p.Priority] = p.Mode
	}
	v.Devices = devices.Items
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
	return nil
}

// contactForm returns the name of the form that adds a contact, or of the one that changes a contact.
func contactForm(form url.Values) string {
	if form.Get("change") != "" {
		return "contact-" + form.Get("mode")
	}
	return "contact"
}

// setContact adds or replaces a contact. The choice phone means calls and texts.
func (h Handlers) setContact(r *http.Request, user string, form url.Values) (done, to string, err error) {
	modes := []string{form.Get("mode")}
	if modes[0] == "phone" {
		modes = []string{string(users.SMS), string(users.Call)}
	}
	for _, m := range modes {
		if err == nil {
			_, err = h.Contacts.Set.Do(r.Context(), page.Actor(r), users.ContactEdit{OneContact: oneContact(user, m),
				Body: users.Destination{Destination: form.Get("destination")}})
		}
	}
	return "The contact is saved. Send a test message to see that it works.", "", err
}

func oneContact(user, mode string) users.OneContact {
	return users.OneContact{OnePerson: users.OnePerson{User: user}, Mode: mode}
}

// contact carries out a button of a contact.
func (h Handlers) contact(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	mode := wire.Param(r, "mode")
	user, to := path(r)
	ctx, by, one := r.Context(), page.Actor(r), oneContact(user, mode)
	var err error
	var done string
	switch wire.Param(r, "action") {
	case "remove":
		done = "The contact is removed."
		_, err = h.Contacts.Remove.Do(ctx, by, one)
	case "code":
		done = "A code is on its way. Type it below."
		_, err = h.Contacts.SendCode.Do(ctx, by, one)
	case "verify":
		done = "The contact is verified."
		_, err = h.Contacts.Verify.Do(ctx, by,
			users.Verification{OneContact: one, Body: users.ContactCode{Code: form.Get("code")}})
	case "test":
		var sent users.SentTest
		if sent, err = h.Contacts.Test.Do(ctx, by, one); err == nil {
			http.Redirect(rw, r, to+"?test="+strconv.FormatInt(sent.Notification, 10)+"#test", http.StatusSeeOther)
			return
		}
	default:
		err = fault.New(fault.NotFound, "there is no such action")
	}
	h.Pages.Finish(rw, r, done, to, err, func(refusal page.Refusal) {
		h.showPerson(rw, r, page.Again{Form: "contact-" + mode, Typed: form, Refusal: refusal})
	})
}

// sent is a test message.
type sent struct{ messages.MessageDetail }

// Waits reports whether the message is not sent yet.
func (m sent) Waits() bool {
	return m.State == messages.Pending || m.State == messages.Taken || m.State == messages.Sending
}

// Reason returns what the vendor said last; "" = nothing.
func (m sent) Reason() string {
	if n := len(m.Attempts); n > 0 {
		return string(m.Attempts[n-1].Detail)
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
	all, err := h.testMessages(r, notification)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return page.Live{}, false
	}
	return h.Pages.Live(rw, r, "test-message", testView{all, h.Pages.Mailbox()})
}

// testMessages reads the messages of a test.
func (h Handlers) testMessages(r *http.Request, notification string) (all []sent, err error) {
	id, err := strconv.ParseInt(notification, 10, 64)
	if err != nil || id < 1 {
		return nil, fault.New(fault.NotFound, "there is no such test")
	}
	found, err := h.Messages.List.Do(r.Context(), page.Actor(r),
		messages.Filter{Paging: operation.Paging{Limit: 5}, NotificationID: id})
	for _, m := range found.Items {
		detail, err := h.Messages.Get.Do(r.Context(), page.Actor(r), messages.One{ID: m.ID})
		if err != nil {
			return nil, err
		}
		all = append(all, sent{detail})
	}
	return all, err
}

// changeAccount changes the account of a person, for administrators.
func (h Handlers) changeAccount(r *http.Request, user string, form url.Values) (done, to string, err error) {
	ctx, by, one, force := r.Context(), page.Actor(r), users.OnePerson{User: user}, form.Get("force") == "true"
	change := func(c users.AccountChange) error {
		_, err := h.People.Change.Do(ctx, by, users.PersonEdit{OnePerson: one, Force: force, Body: c})
		return err
	}
	on, off := true, false
	switch form.Get("action") {
	case "role":
		admin, readOnly := form.Get("role") == users.RoleAdmin, form.Get("role") == users.RoleReadOnly
		return "The role is changed.", "", change(users.AccountChange{Admin: &admin, ReadOnly: &readOnly})
	case "name":
		name := form.Get("full_name")
		return "The name is changed.", "", change(users.AccountChange{FullName: &name})
	case "off":
		return user + " is switched off: no log-in, and no pages.", "", change(users.AccountChange{Active: &off})
	case "on":
		return user + " is active again.", "", change(users.AccountChange{Active: &on})
	case "password":
		_, err = h.Accounts.SendPasswordLink.Do(ctx, by, accounts.Person{User: user})
		return "A link for a new password is on its way. It works for 30 minutes.", "", err
	case "second-factor":
		_, err = h.Accounts.RemoveFactor.Do(ctx, by, accounts.Person{User: user})
		return "The second factor is removed. The password alone logs the person in.", "", err
	case "delete":
		_, err = h.People.Delete.Do(ctx, by, users.PersonRemoval{OnePerson: one, Force: force})
		return user + " is deleted.", "/people", err
	}
	return "", "", fault.Invalidf("action", "there is no such action")
}

package users

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// ShownContact is a contact as those see it who may change it.
type ShownContact struct {
	Mode        Mode           `json:"mode"`
	Destination string         `json:"destination"`
	Verified    bool           `json:"verified" doc:"true: Iris accepts replies from the contact as answers of the person."`
	Verifiable  bool           `json:"verifiable" doc:"Replies can come from contacts of this mode."`
	Managed     bool           `json:"managed" doc:"A directory gave it."`
	Failing     operation.Text `json:"failing" doc:"Why no message can reach it, and what to do; null = nothing is known against it."`
}

// VisibleContact is a contact as everybody may see it who sees contacts.
type VisibleContact struct {
	Mode        Mode   `json:"mode"`
	Destination string `json:"destination" doc:"Of webhooks and push devices, only the person and administrators see all; others see the host and a fingerprint."`
}

// OneContact names the contact of a person in a mode.
type OneContact struct {
	OnePerson
	Mode string `path:"mode" json:"mode"`
}

// Destination is where a person is reached.
type Destination struct {
	Destination string `json:"destination" minLength:"1"`
}

// ContactEdit adds or replaces a contact.
type ContactEdit struct {
	OneContact
	Body Destination `json:"body"`
}

// ContactCode is the code that was sent to a contact.
type ContactCode struct {
	Code string `json:"code" minLength:"1"`
}

// Verification verifies a contact.
type Verification struct {
	OneContact
	Body ContactCode `json:"body"`
}

// SentTest is a test message.
type SentTest struct {
	Notification int64 `json:"notification_id"`
}

// The operations on contacts.
var (
	ListContacts = operation.Define[OnePerson, operation.Page[ShownContact]](operation.Doc{Name: "contact.list",
		Method: http.MethodGet, Path: "/v1/users/{user}/contacts", Needs: operation.Reader, Rule: operation.OfPerson,
		Summary: "Where a person is reached, and whether that is verified"})
	ListVisibleContacts = operation.Define[OnePerson, operation.Page[VisibleContact]](operation.Doc{
		Name: "contact.visible", Method: http.MethodGet, Path: "/v1/users/{user}/visible-contacts",
		Needs: operation.Reader, Rule: operation.Identified,
		Summary: "Where a person is reached, as far as the caller sees it",
		Note:    "Callers who may only read see contacts of people who are on call now. Only /v1/users/{user}/contacts says what is verified."})
	SetContact = operation.Define[ContactEdit, operation.None](operation.Doc{Name: "contact.replace",
		Method: http.MethodPut, Path: "/v1/users/{user}/contacts/{mode}", Status: http.StatusNoContent,
		Needs: operation.Reader, Rule: operation.OfPerson, Audit: []audit.Action{audit.ContactSet},
		Errors: []int{http.StatusConflict}, Summary: "Add or replace a contact",
		Note: "A contact that an application sets, or an administrator for somebody else, counts as verified. " +
			"409: a directory manages the contact."})
	RemoveContact = operation.Define[OneContact, operation.None](operation.Doc{Name: "contact.delete",
		Method: http.MethodDelete, Path: "/v1/users/{user}/contacts/{mode}",
		Needs: operation.Reader, Rule: operation.OfPerson, Audit: []audit.Action{audit.ContactSet},
		Errors: []int{http.StatusConflict}, Summary: "Remove a contact"})
	TestContact = operation.Define[OneContact, SentTest](operation.Doc{Name: "contact.test",
		Method: http.MethodPost, Path: "/v1/users/{user}/contacts/{mode}/test", Status: http.StatusAccepted,
		Needs: operation.Reader, Rule: operation.OfPerson, Audit: []audit.Action{audit.TestMessageSent},
		Errors: []int{http.StatusTooManyRequests}, Summary: "Send a test message to a contact",
		Note: "To see the result, read the message of the notification. Limits: one in 15 seconds and ten a day for a contact, 20 an hour for a person."})
	SendContactCode = operation.Define[OneContact, operation.None](operation.Doc{Name: "contact.send-code",
		Method: http.MethodPost, Path: "/v1/users/{user}/contacts/{mode}/code", Status: http.StatusAccepted,
		Needs: operation.Reader, Rule: operation.OfPerson,
		Errors:  []int{http.StatusConflict, http.StatusTooManyRequests},
		Summary: "Send a code to a contact that is not verified",
		Note:    "At most one a minute, five an hour and ten a day; it works for 15 minutes."})
	VerifyContact = operation.Define[Verification, operation.None](operation.Doc{Name: "contact.verify",
		Method: http.MethodPost, Path: "/v1/users/{user}/contacts/{mode}/verify", Status: http.StatusOK,
		Needs: operation.Reader, Rule: operation.OfPerson, Audit: []audit.Action{audit.ContactVerified},
		Errors: []int{http.StatusConflict}, Summary: "Verify a contact with the code that was sent to it"})
)

// ContactStore stores, verifies and tests contacts of people. Only a verified contact identifies the sender of a reply.
type ContactStore interface {
	List(ctx context.Context, id ID) ([]Contact, error)
	// Set stores a contact; an empty destination removes it. trusted: the destination needs no verification.
	Set(ctx context.Context, id ID, to Contact, trusted bool, by string) error
	// SendTest sends a test message in the name of an application, and returns the number of the notification.
	SendTest(ctx context.Context, application string, u User, mode Mode, by string) (int64, error)
	// SendCode sends a code to an unverified contact in the name of an application.
	SendCode(ctx context.Context, application string, id ID, mode Mode) error
	// Verify marks the contact as verified if the code is right.
	Verify(ctx context.Context, id ID, mode Mode, code string) error
}

// Callers is what the calendar APIs know of callers and people. A person who does not exist is a NotFound fault.
type Callers interface {
	// Editable finds a person, and refuses callers of the context who may not change the settings of the person;
	// reads: who may not read them.
	Editable(ctx context.Context, name string, reads bool) (User, error)
	ByName(ctx context.Context, name string) (User, error)
	// Sight returns what a caller sees of the contacts of the person with that name; "" = nothing.
	Sight(ctx context.Context, by operation.Actor, owner string) (func(Mode, string) string, error)
}

// Contacts are the operations on contacts. They are safe for concurrent use.
type Contacts struct {
	List     operation.Op[OnePerson, operation.Page[ShownContact]]
	Visible  operation.Op[OnePerson, operation.Page[VisibleContact]]
	Set      operation.Op[ContactEdit, operation.None]
	Remove   operation.Op[OneContact, operation.None]
	Test     operation.Op[OneContact, SentTest]
	SendCode operation.Op[OneContact, operation.None]
	Verify   operation.Op[Verification, operation.None]

	store   ContactStore
	callers Callers
	region  Region
}

// NewContacts returns the operations. region is that of phone numbers without a country code.
func NewContacts(store ContactStore, callers Callers, region Region) *Contacts {
	c := &Contacts{store: store, callers: callers, region: region}
	c.List, c.Set, c.Remove = ListContacts.By(c.list), SetContact.By(c.set), RemoveContact.By(c.remove)
	c.Visible = ListVisibleContacts.By(c.visible)
	c.Test, c.SendCode, c.Verify = TestContact.By(c.test), SendContactCode.By(c.sendCode), VerifyContact.By(c.verify)
	return c
}

func (c *Contacts) owner(ctx context.Context, one OnePerson, reads bool) (User, error) {
	u, err := c.callers.Editable(ctx, one.User, reads)
	return u, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no user %.100q", one.User))
}

// of finds the person and the mode. A mode that has no contacts is an Invalid fault.
func (c *Contacts) of(ctx context.Context, one OneContact) (User, Mode, error) {
	u, err := c.owner(ctx, one.OnePerson, false)
	mode, known := ParseMode(one.Mode)
	if err == nil && (!known || mode == Drop) {
		err = fault.Invalidf("mode", "nobody can be reached by %.40q: use email, sms, call, slack, push or webhook", one.Mode)
	}
	return u, mode, err
}

// verifiable is of for modes whose contacts are verified.
func (c *Contacts) verifiable(ctx context.Context, one OneContact) (User, Mode, error) {
	u, err := c.owner(ctx, one.OnePerson, false)
	if err == nil && !Identifies(Mode(one.Mode)) {
		err = fault.Invalidf("mode", "contacts of the mode %.40q need no verification: email, sms, call and slack do", one.Mode)
	}
	return u, Mode(one.Mode), err
}

func (c *Contacts) list(ctx context.Context, by operation.Actor, one OnePerson) (out operation.Page[ShownContact], err error) {
	u, err := c.owner(ctx, one, true)
	if err != nil {
		return out, err
	}
	found, see, err := c.read(ctx, by, u)
	out.Items = make([]ShownContact, len(found))
	for i, f := range found {
		out.Items[i] = ShownContact{f.Mode, see(f.Mode, f.Destination), f.Verified, Identifies(f.Mode), f.Managed,
			operation.Text(f.Failing)}
	}
	return out, err
}

// visible leaves out contacts of which the caller sees nothing.
func (c *Contacts) visible(ctx context.Context, by operation.Actor, one OnePerson) (out operation.Page[VisibleContact], err error) {
	u, err := c.callers.ByName(ctx, one.User)
	if err != nil {
		return out, fault.When(err, fault.NotFound, errNoPerson)
	}
	found, see, err := c.read(ctx, by, u)
	out.Items = []VisibleContact{}
	for _, f := range found {
		if shown := see(f.Mode, f.Destination); shown != "" {
			out.Items = append(out.Items, VisibleContact{f.Mode, shown})
		}
	}
	return out, err
}

// read returns the contacts of a person, and what the caller sees of each. With an error there are none.
func (c *Contacts) read(ctx context.Context, by operation.Actor, u User) ([]Contact, func(Mode, string) string, error) {
	see, err := c.callers.Sight(ctx, by, u.Name)
	if err != nil {
		return nil, nil, err
	}
	found, err := c.store.List(ctx, u.ID)
	return found, see, err
}

// Vouches reports whether a contact counts as verified without a code because the caller sets it. Applications vouch
// for contacts, and administrators for those of other people. Nobody vouches for their own.
func Vouches(by operation.Actor, owner ID) bool {
	return by.Program || by.Role == operation.Admin && by.Person != int64(owner)
}

// set adds or replaces a contact.
func (c *Contacts) set(ctx context.Context, by operation.Actor, e ContactEdit) (none operation.None, err error) {
	u, mode, err := c.of(ctx, e.OneContact)
	if err != nil {
		return none, err
	}
	to, err := c.region.Contact(mode, e.Body.Destination)
	if err != nil {
		return none, fault.Invalidf("destination", "%s", fault.Public(err))
	}
	return none, c.store.Set(ctx, u.ID, Contact{Mode: mode, Destination: to}, Vouches(by, u.ID), by.Name)
}

func (c *Contacts) remove(ctx context.Context, by operation.Actor, one OneContact) (none operation.None, err error) {
	u, mode, err := c.of(ctx, one)
	if err != nil {
		return none, err
	}
	return none, c.store.Set(ctx, u.ID, Contact{Mode: mode}, false, by.Name)
}

func (c *Contacts) test(ctx context.Context, by operation.Actor, one OneContact) (sent SentTest, err error) {
	u, mode, err := c.of(ctx, one)
	if err == nil {
		sent.Notification, err = c.store.SendTest(ctx, by.Through, u, mode, by.Name)
	}
	return sent, err
}

func (c *Contacts) sendCode(ctx context.Context, by operation.Actor, one OneContact) (none operation.None, err error) {
	u, mode, err := c.verifiable(ctx, one)
	if err != nil {
		return none, err
	}
	return none, c.store.SendCode(ctx, by.Through, u.ID, mode)
}

func (c *Contacts) verify(ctx context.Context, _ operation.Actor, v Verification) (none operation.None, err error) {
	u, mode, err := c.verifiable(ctx, v.OneContact)
	if err != nil {
		return none, err
	}
	return none, c.store.Verify(ctx, u.ID, mode, v.Body.Code)
}

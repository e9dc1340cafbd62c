package users

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Refusals of callers who may not change what belongs to a person.
var (
	ErrUsernameNeeded = &fault.Error{Kind: fault.Unauthenticated, EmptyDetail: true,
		Message: "Username must be specified for this action"}
	ErrAppUserPower = &fault.Error{Kind: fault.Unauthenticated, EmptyDetail: true,
		Message: "App must allow authentication as user for this action"}
	ErrServiceToken = fault.New(fault.Forbidden, "A service token may not do this: it belongs to a person")
)

// MaySelf allows what belongs to a person: to the person, administrators, and applications that may act for people and
// name no person. The person may be one who may only read.
func MaySelf(by operation.Actor, person ID) error {
	switch {
	case by.Role == operation.Nobody:
		return ErrUsernameNeeded
	case by.Role == operation.Admin, by.Program && by.ForAnybody, by.Person != 0 && ID(by.Person) == person:
		return nil
	case by.Program:
		return ErrAppUserPower
	case by.Session && by.Person == 0:
		return ErrServiceToken
	}
	return operation.ErrNotThisUser
}

// NotificationRules are how pages reach a person, by priority.
type NotificationRules struct {
	Rules []NotificationRule `json:"rules" maxItems:"4" doc:"A priority without a rule has its default."`
}

// RulesEdit replaces how pages reach a person.
type RulesEdit struct {
	OnePerson
	Body NotificationRules `json:"body"`
}

// QuietEdit replaces the quiet-time limits of a person.
type QuietEdit struct {
	OnePerson
	Body QuietLimits `json:"body"`
}

// Check implements operation.Checker.
func (e QuietEdit) Check() error { return e.Body.Check() }

// DisplaySettings are how pages show times to a person.
type DisplaySettings struct {
	TimeZone operation.Text `json:"time_zone" required:"false" doc:"null = that of the browser."`
	Clock    operation.Text `json:"clock" required:"false" doc:"12 or 24; null = 24."`
}

// DisplayEdit replaces how pages show times to a person.
type DisplayEdit struct {
	OnePerson
	Body DisplaySettings `json:"body"`
}

func (e DisplayEdit) display() Display {
	return Display{TimeZone: strings.TrimSpace(string(e.Body.TimeZone)), Clock: string(e.Body.Clock)}
}

// Check implements operation.Checker.
func (e DisplayEdit) Check() error { return e.display().Check() }

// The operations on what people choose for themselves.
var (
	RulesOfPerson = operation.Define[OnePerson, NotificationRules](operation.Doc{Name: "user.notification-rules",
		Method: http.MethodGet, Path: "/v1/users/{user}/notification-rules",
		Needs: operation.Reader, Rule: operation.OwnSettings, Summary: "How pages reach a person, by priority"})
	ReplaceRules = operation.Define[RulesEdit, NotificationRules](operation.Doc{Name: "user.set-notification-rules",
		Method: http.MethodPut, Path: "/v1/users/{user}/notification-rules",
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.NotificationRulesSet},
		Summary: "Replace how pages reach a person; a priority without a rule has its default"})
	QuietLimitsOfPerson = operation.Define[OnePerson, QuietLimits](operation.Doc{Name: "user.quiet-limits",
		Method: http.MethodGet, Path: "/v1/users/{user}/quiet-limits", Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "The quiet-time limits that a person chose"})
	ReplaceQuietLimits = operation.Define[QuietEdit, QuietLimits](operation.Doc{Name: "user.set-quiet-limits",
		Method: http.MethodPut, Path: "/v1/users/{user}/quiet-limits",
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.QuietTimeLimitsSet},
		Summary: "Replace the quiet-time limits of a person",
		Note:    "Urgent pages are not limited. Held pages are sent as one digest, on the next morning or working day."})
	DisplayOfPerson = operation.Define[OnePerson, DisplaySettings](operation.Doc{Name: "user.settings",
		Method: http.MethodGet, Path: "/v1/users/{user}/settings", Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "The time zone and the clock of a person's pages"})
	ReplaceDisplay = operation.Define[DisplayEdit, DisplaySettings](operation.Doc{Name: "user.set-settings",
		Method: http.MethodPut, Path: "/v1/users/{user}/settings",
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.TimesSet},
		Summary: "Replace the time zone and the clock of a person's pages"})
)

// Finder finds people by name, ignoring case. A person who does not exist is a NotFound fault.
type Finder interface {
	ByName(ctx context.Context, name string) (User, error)
}

// PreferenceStore stores what people choose for themselves. NotificationRules returns one rule for every priority.
// ModeChoices returns the choices for one application, or all of them with an empty name; SetModes and SetCategories
// store all choices or none, and an application or a category that does not exist is an Invalid fault. Categories is
// like ModeChoices, but an application that does not exist has none. RemoveReprioritisation returns a NotFound fault if
// there is no rule.
type PreferenceStore interface {
	NotificationRules(ctx context.Context, id ID) ([]NotificationRule, error)
	SetNotificationRules(ctx context.Context, u User, rules []NotificationRule, by string) error
	QuietLimits(ctx context.Context, id ID) (QuietLimits, error)
	SetQuietLimits(ctx context.Context, u User, limits QuietLimits, by string) error
	Display(ctx context.Context, id ID) (Display, error)
	SetDisplay(ctx context.Context, u User, d Display, by string) error
	ModeChoices(ctx context.Context, id ID, application string) ([]ModeChoice, error)
	SetModes(ctx context.Context, u User, choices []ModeChoice, by string) error
	Reprioritisations(ctx context.Context, id ID) ([]Reprioritisation, error)
	SetReprioritisation(ctx context.Context, u User, r Reprioritisation, by string) error
	RemoveReprioritisation(ctx context.Context, u User, source Mode, by string) error
	Categories(ctx context.Context, id ID, application string) ([]CategoryChoice, error)
	SetCategories(ctx context.Context, u User, choices []CategoryChoice, by string) error
	ClearCategories(ctx context.Context, u User, application, by string) error
	FixedTexts(ctx context.Context, id ID) ([]Mode, error)
	SetFixedText(ctx context.Context, u User, mode Mode, fixed bool, by string) error
	Devices(ctx context.Context, id ID) ([]Device, error)
	// PriorityModes returns the default mode of every priority.
	PriorityModes(ctx context.Context) (map[Priority]Mode, error)
}

// Preferences are the operations on what people choose for themselves. They are safe for concurrent use.
type Preferences struct {
	Rules        operation.Op[OnePerson, NotificationRules]
	ReplaceRules operation.Op[RulesEdit, NotificationRules]
	Quiet        operation.Op[OnePerson, QuietLimits]
	ReplaceQuiet operation.Op[QuietEdit, QuietLimits]
	Shown        operation.Op[OnePerson, DisplaySettings]
	ReplaceShown operation.Op[DisplayEdit, DisplaySettings]

	Modes                  operation.Op[ChoicesOf, operation.Page[ModeChoice]]
	ChooseModes            operation.Op[ModesEdit, operation.Page[ModeChoice]]
	Reprioritisations      operation.Op[OnePerson, operation.Page[ShownReprioritisation]]
	Reprioritisation       operation.Op[OneReprioritisation, ShownReprioritisation]
	SetReprioritisation    operation.Op[ReprioritisationEdit, ShownReprioritisation]
	RemoveReprioritisation operation.Op[OneReprioritisation, operation.None]
	Categories             operation.Op[ChoicesOf, operation.Page[CategoryChoice]]
	ChooseCategories       operation.Op[CategoriesEdit, operation.Page[CategoryChoice]]
	ClearCategories        operation.Op[ClearedCategories, operation.None]
	FixedTexts             operation.Op[OnePerson, FixedTexts]
	ReplaceFixedTexts      operation.Op[FixedTextsEdit, FixedTexts]
	Devices                operation.Op[OnePerson, operation.Page[ShownDevice]]
	Priorities             operation.Op[operation.None, operation.Page[PriorityRow]]

	people Finder
	store  PreferenceStore
}

// NewPreferences returns the operations.
func NewPreferences(people Finder, store PreferenceStore) *Preferences {
	p := &Preferences{people: people, store: store}
	p.Rules, p.ReplaceRules = RulesOfPerson.By(p.rules), ReplaceRules.By(p.replaceRules)
	p.Quiet, p.ReplaceQuiet = QuietLimitsOfPerson.By(p.quiet), ReplaceQuietLimits.By(p.replaceQuiet)
	p.Shown, p.ReplaceShown = DisplayOfPerson.By(p.shown), ReplaceDisplay.By(p.replaceShown)
	p.Modes, p.ChooseModes = ModesOfPerson.By(p.modes), ChooseModes.By(p.chooseModes)
	p.Reprioritisations, p.SetReprioritisation = ListReprioritisations.By(p.reprioritisations),
		SetReprioritisation.By(p.setReprioritisation)
	p.Reprioritisation, p.RemoveReprioritisation = GetReprioritisation.By(p.reprioritisation),
		RemoveReprioritisation.By(p.removeReprioritisation)
	p.Categories, p.ChooseCategories = CategoriesOfPerson.By(p.categories), ChooseCategories.By(p.chooseCategories)
	p.ClearCategories = ClearCategories.By(p.clearCategories)
	p.FixedTexts, p.ReplaceFixedTexts = FixedTextsOfPerson.By(p.fixedTexts), ReplaceFixedTexts.By(p.replaceFixedTexts)
	p.Devices, p.Priorities = DevicesOfPerson.By(p.devices), ListPriorities.By(p.priorities)
	return p
}

// owner finds a person. It refuses callers who may not change what belongs to the person.
func (p *Preferences) owner(ctx context.Context, by operation.Actor, one OnePerson) (User, error) {
	u, err := p.people.ByName(ctx, one.User)
	if err != nil {
		return u, fault.When(err, fault.NotFound, errNoPerson)
	}
	return u, MaySelf(by, u.ID)
}

func (p *Preferences) rules(ctx context.Context, by operation.Actor, one OnePerson) (out NotificationRules, err error) {
	u, err := p.owner(ctx, by, one)
	if err == nil {
		out.Rules, err = p.store.NotificationRules(ctx, u.ID)
	}
	return out, err
}

func (p *Preferences) replaceRules(ctx context.Context, by operation.Actor, e RulesEdit) (out NotificationRules, err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err != nil {
		return out, err
	}
	rules, err := CheckRules(e.Body.Rules)
	if err != nil {
		return out, err
	}
	if err := p.store.SetNotificationRules(ctx, u, rules, by.Name); err != nil {
		return out, err
	}
	return p.rules(ctx, by, e.OnePerson)
}

func (p *Preferences) quiet(ctx context.Context, by operation.Actor, one OnePerson) (out QuietLimits, err error) {
	u, err := p.owner(ctx, by, one)
	if err == nil {
		out, err = p.store.QuietLimits(ctx, u.ID)
	}
	out.WorkingDays = append([]Priority{}, out.WorkingDays...)
	return out, err
}

func (p *Preferences) replaceQuiet(ctx context.Context, by operation.Actor, e QuietEdit) (out QuietLimits, err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err == nil {
		err = p.store.SetQuietLimits(ctx, u, e.Body, by.Name)
	}
	if err != nil {
		return out, err
	}
	return p.quiet(ctx, by, e.OnePerson)
}

func (p *Preferences) shown(ctx context.Context, by operation.Actor, one OnePerson) (out DisplaySettings, err error) {
	u, err := p.owner(ctx, by, one)
	if err != nil {
		return out, err
	}
	found, err := p.store.Display(ctx, u.ID)
	return DisplaySettings{operation.Text(found.TimeZone), operation.Text(found.Clock)}, err
}

func (p *Preferences) replaceShown(ctx context.Context, by operation.Actor, e DisplayEdit) (out DisplaySettings, err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err == nil {
		err = p.store.SetDisplay(ctx, u, e.display(), by.Name)
	}
	if err != nil {
		return out, err
	}
	return p.shown(ctx, by, e.OnePerson)
}

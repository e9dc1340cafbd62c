package users

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// ModeChoice is a person's choice of a mode for a priority.
type ModeChoice struct {
	Application string   `json:"application" required:"false" nullable:"true" doc:"The name of an application; null = all applications without a choice of their own. That choice is the mode of the notification rule too."`
	Priority    Priority `json:"priority" doc:"urgent, high, medium or low."`
	Mode        Mode     `json:"mode" required:"false" nullable:"true" doc:"null = no choice: the default of the application or priority."`
}

// MarshalJSON implements json.Marshaler. What is not named or chosen is null.
func (c ModeChoice) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Application operation.Text `json:"application"`
		Priority    Priority       `json:"priority"`
		Mode        operation.Text `json:"mode"`
	}{operation.Text(c.Application), c.Priority, operation.Text(c.Mode)})
}

// String formats the choice for people: "high by sms", "low by default for shop".
func (c ModeChoice) String() string {
	s := string(c.Priority) + " by " + orDefault(c.Mode)
	if c.Application != "" {
		s += " for " + c.Application
	}
	return s
}

func orDefault(m Mode) string {
	if m == "" {
		return "default"
	}
	return string(m)
}

// CategoryChoice is a person's choice of a mode for an application's category.
type CategoryChoice struct {
	Application string `json:"application" doc:"The name of the application."`
	Category    string `json:"category" doc:"The name of the category, which the application must have."`
	Mode        Mode   `json:"mode" required:"false" nullable:"true" doc:"null = no choice: the mode of the category."`
}

// String formats the choice for people: "news of shop by sms".
func (c CategoryChoice) String() string {
	return c.Category + " of " + c.Application + " by " + orDefault(c.Mode)
}

// ChoicesOf selects choices of a person.
type ChoicesOf struct {
	OnePerson
	Application string `query:"application" json:"application,omitempty" doc:"Only choices for the application with this name; default: all choices."`
}

// ClearedCategories names the application whose choices are removed.
type ClearedCategories struct {
	OnePerson
	Application string `query:"application" json:"application" required:"true" minLength:"1" doc:"The name of the application. Without choices for it, nothing changes."`
}

// ModeChoices are choices of modes by priority.
type ModeChoices struct {
	Choices []ModeChoice `json:"choices" maxItems:"1000" doc:"The choices that change. If two are for the same application and priority, the later one counts."`
}

// ModesEdit changes choices of modes by priority.
type ModesEdit struct {
	OnePerson
	Body ModeChoices `json:"body"`
}

// Check implements operation.Checker.
func (e ModesEdit) Check() error {
	var wrong fault.Wrong
	for i, c := range e.Body.Choices {
		at := fmt.Sprintf("choices[%d].", i)
		wrong.If(!slices.Contains(Priorities, c.Priority), at+"priority",
			"%.40q is not a priority: use urgent, high, medium or low", c.Priority)
		checkMode(&wrong, at+"mode", c.Mode)
	}
	return wrong.Err()
}

// checkMode refuses what is neither a mode nor empty.
func checkMode(wrong *fault.Wrong, field string, m Mode) {
	wrong.If(m != "" && !slices.Contains(Modes, m), field,
		"%.40q is not a mode: use email, sms, call, slack, push, webhook or drop", m)
}

// CategoryChoices are choices of modes by category.
type CategoryChoices struct {
	Choices []CategoryChoice `json:"choices" maxItems:"1000" doc:"The choices that change. If two are for the same category, the later one counts."`
}

// CategoriesEdit changes choices of modes by category.
type CategoriesEdit struct {
	OnePerson
	Body CategoryChoices `json:"body"`
}

// Check implements operation.Checker.
func (e CategoriesEdit) Check() error {
	var wrong fault.Wrong
	for i, c := range e.Body.Choices {
		checkMode(&wrong, fmt.Sprintf("choices[%d].mode", i), c.Mode)
	}
	return wrong.Err()
}

// FixedTexts says by which modes a person gets the operator's text. Only SMS have one.
type FixedTexts struct {
	SMS bool `json:"sms" doc:"true: SMS have the operator's short text instead of the template's, for carriers that block messages; default: false."`
}

// FixedTextsEdit replaces FixedTexts.
type FixedTextsEdit struct {
	OnePerson
	Body FixedTexts `json:"body"`
}

// ShownDevice is a phone that takes push messages, without the secret by which it is reached.
type ShownDevice struct {
	Platform     string `json:"platform" doc:"As the phone reports it, such as iOS."`
	Registration string `json:"registration" doc:"A fingerprint of its registration, which tells two phones apart."`
}

// PriorityRow is a priority with its default.
type PriorityRow struct {
	Priority Priority `json:"priority"`
	Mode     Mode     `json:"default_mode" doc:"The mode of people and applications without a choice of their own."`
}

// The operations on modes that people choose, and on what belongs to modes.
var (
	ModesOfPerson = operation.Define[ChoicesOf, operation.Page[ModeChoice]](operation.Doc{Name: "user.modes",
		Method: http.MethodGet, Path: "/v1/users/{user}/modes", Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "The modes that a person chose, by application and priority",
		Note:    "First the choices for all applications, then those for single ones by name. What is left out has no choice."})
	ChooseModes = operation.Define[ModesEdit, operation.Page[ModeChoice]](operation.Doc{Name: "user.choose-modes",
		Method: http.MethodPost, Path: "/v1/users/{user}/modes", Status: http.StatusOK,
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.ModesSet},
		Summary: "Change the modes that a person chose: all of these, or none",
		Note:    "Choices that are left out stay. The answer has all choices. A choice for an application replaces the notification rule of the priority, with its follow-ups, for pages of this application."})
	CategoriesOfPerson = operation.Define[ChoicesOf, operation.Page[CategoryChoice]](operation.Doc{
		Name: "user.categories", Method: http.MethodGet, Path: "/v1/users/{user}/categories",
		Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "The modes that a person chose for categories of notifications"})
	ChooseCategories = operation.Define[CategoriesEdit, operation.Page[CategoryChoice]](operation.Doc{
		Name: "user.choose-categories", Method: http.MethodPost, Path: "/v1/users/{user}/categories",
		Status: http.StatusOK, Needs: operation.Reader, Rule: operation.OwnSettings,
		Audit:   []audit.Action{audit.CategoriesSet},
		Summary: "Change the modes that a person chose for categories of notifications: all of these, or none",
		Note:    "Choices that are left out stay. The answer has all choices."})
	ClearCategories = operation.Define[ClearedCategories, operation.None](operation.Doc{Name: "user.clear-categories",
		Method: http.MethodDelete, Path: "/v1/users/{user}/categories",
		Needs: operation.Reader, Rule: operation.OwnSettings, Audit: []audit.Action{audit.CategoriesCleared},
		Summary: "Remove the choices of a person for all categories of an application"})
	FixedTextsOfPerson = operation.Define[OnePerson, FixedTexts](operation.Doc{Name: "user.fixed-texts",
		Method: http.MethodGet, Path: "/v1/users/{user}/fixed-texts",
		Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "Whether a person gets SMS with the operator's fixed text"})
	ReplaceFixedTexts = operation.Define[FixedTextsEdit, FixedTexts](operation.Doc{Name: "user.set-fixed-texts",
		Method: http.MethodPut, Path: "/v1/users/{user}/fixed-texts",
		Needs: operation.Reader, Rule: operation.OwnSettings,
		Audit:   []audit.Action{audit.FixedTextSwitchedOn, audit.FixedTextSwitchedOff},
		Summary: "Choose whether a person gets SMS with the operator's fixed text"})
	DevicesOfPerson = operation.Define[OnePerson, operation.Page[ShownDevice]](operation.Doc{Name: "user.devices",
		Method: http.MethodGet, Path: "/v1/users/{user}/devices",
		Needs: operation.Reader, Rule: operation.OwnSettings,
		Summary: "The phones that take push messages to a person, in the order of their registration"})
	ListPriorities = operation.Define[operation.None, operation.Page[PriorityRow]](operation.Doc{
		Name: "priority.list", Method: http.MethodGet, Path: "/v1/priorities", Needs: operation.Reader,
		Summary: "The priorities with their default modes, most urgent first"})
)

func (p *Preferences) modes(ctx context.Context, by operation.Actor, of ChoicesOf) (out operation.Page[ModeChoice], err error) {
	u, err := p.owner(ctx, by, of.OnePerson)
	if err != nil {
		return out, err
	}
	found, err := p.store.ModeChoices(ctx, u.ID, of.Application)
	return whole(found), err
}

func (p *Preferences) chooseModes(ctx context.Context, by operation.Actor, e ModesEdit) (out operation.Page[ModeChoice], err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err == nil {
		err = p.store.SetModes(ctx, u, e.Body.Choices, by.Name)
	}
	if err != nil {
		return out, err
	}
	return p.modes(ctx, by, ChoicesOf{OnePerson: e.OnePerson})
}

func (p *Preferences) categories(ctx context.Context, by operation.Actor, of ChoicesOf) (out operation.Page[CategoryChoice], err error) {
	u, err := p.owner(ctx, by, of.OnePerson)
	if err != nil {
		return out, err
	}
	found, err := p.store.Categories(ctx, u.ID, of.Application)
	return whole(found), err
}

func (p *Preferences) chooseCategories(ctx context.Context, by operation.Actor, e CategoriesEdit) (out operation.Page[CategoryChoice], err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err == nil {
		err = p.store.SetCategories(ctx, u, e.Body.Choices, by.Name)
	}
	if err != nil {
		return out, err
	}
	return p.categories(ctx, by, ChoicesOf{OnePerson: e.OnePerson})
}

func (p *Preferences) clearCategories(ctx context.Context, by operation.Actor, c ClearedCategories) (none operation.None, err error) {
	u, err := p.owner(ctx, by, c.OnePerson)
	if err != nil {
		return none, err
	}
	return none, p.store.ClearCategories(ctx, u, c.Application, by.Name)
}

func (p *Preferences) fixedTexts(ctx context.Context, by operation.Actor, one OnePerson) (out FixedTexts, err error) {
	u, err := p.owner(ctx, by, one)
	if err != nil {
		return out, err
	}
	modes, err := p.store.FixedTexts(ctx, u.ID)
	return FixedTexts{SMS: slices.Contains(modes, SMS)}, err
}

func (p *Preferences) replaceFixedTexts(ctx context.Context, by operation.Actor, e FixedTextsEdit) (out FixedTexts, err error) {
	u, err := p.owner(ctx, by, e.OnePerson)
	if err == nil {
		err = p.store.SetFixedText(ctx, u, SMS, e.Body.SMS, by.Name)
	}
	return e.Body, err
}

func (p *Preferences) devices(ctx context.Context, by operation.Actor, one OnePerson) (out operation.Page[ShownDevice], err error) {
	u, err := p.owner(ctx, by, one)
	if err != nil {
		return out, err
	}
	found, err := p.store.Devices(ctx, u.ID)
	shown := make([]ShownDevice, len(found))
	for i, d := range found {
		shown[i] = ShownDevice{d.Platform, WithoutSecret(Push, d.RegistrationID)}
	}
	return whole(shown), err
}

func (p *Preferences) priorities(ctx context.Context, _ operation.Actor, _ operation.None) (operation.Page[PriorityRow], error) {
	modes, err := p.store.PriorityModes(ctx)
	rows := make([]PriorityRow, len(Priorities))
	for i, priority := range Priorities {
		rows[i] = PriorityRow{priority, modes[priority]}
	}
	return whole(rows), err
}

// whole returns a list that is never cut.
func whole[T any](all []T) operation.Page[T] { return operation.Page[T]{Items: append([]T{}, all...)} }

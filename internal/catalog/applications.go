package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// MaxVariables is the most variables of an application, and MaxVariable the longest name of one, in bytes.
const (
	MaxVariables = 1000
	MaxVariable  = 255
)

// IsVariable reports whether a variable can have this name.
func IsVariable(name string) bool { return name != "" && len(name) <= MaxVariable }

// ApplicationRow is an application as lists show it.
type ApplicationRow struct {
	ID                int64                         `json:"id"`
	Name              string                        `json:"name"`
	TitleVariable     operation.Text                `json:"title_variable"`
	Variables         []string                      `json:"variables"`
	RequiredVariables []string                      `json:"required_variables"`
	Modes             []users.Mode                  `json:"modes"`
	DefaultModes      map[users.Priority]users.Mode `json:"default_modes" doc:"The mode of each priority."`
	Owners            []string                      `json:"owners"`
	Team              operation.Text                `json:"team" doc:"The team that owns it and its integrations; null = none."`
	SenderEmail       operation.Text                `json:"sender_email" doc:"From which its e-mails come; null = the configured address."`
	CreatedAt         time.Time                     `json:"created_at"`
}

// Application is an application without its keys.
type Application struct {
	ApplicationRow
	SampleContext json.RawMessage `json:"sample_context" doc:"An object for previews of templates; null = none."`
	HasSecondKey  bool            `json:"has_second_key" doc:"It has two keys, while one replaces the other."`
	MayEdit       bool            `json:"may_edit" doc:"The caller may change it."`

	tag string
}

// Location is the address of an application.
func (a Application) Location() string { return operation.Path(GetApplication.Path, a.Name) }

// Tag names the state of its settings.
func (a Application) Tag() string { return a.tag }

// OneApplication names an application.
type OneApplication struct {
	Application string `path:"app" json:"application"`
}

// ApplicationFilter selects applications.
type ApplicationFilter struct {
	operation.Paging
	Team   string `query:"team" json:"team,omitempty" doc:"The team that owns it."`
	Search string `query:"search" json:"search,omitempty" doc:"A part of the name."`
	Mine   bool   `query:"mine" json:"mine,omitempty" doc:"true: only those that the caller or a team of the caller owns."`
}

// NewApplication is an application that does not exist.
type NewApplication struct {
	Name string `json:"name"`
}

// Check implements operation.Checker.
func (n NewApplication) Check() error {
	var wrong fault.Wrong
	wrong.If(strings.TrimSpace(n.Name) == "", "name", "name must not be empty")
	return wrong.Err()
}

// ApplicationSettings are the settings of an application. What is left out is cleared, except modes, owners and the
// sample context.
type ApplicationSettings struct {
	TitleVariable     operation.Text                      `json:"title_variable" required:"false" doc:"One of the variables."`
	Variables         []string                            `json:"variables" required:"false" maxItems:"1000"`
	RequiredVariables []string                            `json:"required_variables" required:"false" maxItems:"1000" doc:"Variables that senders should set; incidents without them are accepted. If it is left out, the remaining variables are required or not as before."`
	Modes             []users.Mode                        `json:"modes" required:"false" maxItems:"100" doc:"Administrators change them."`
	DefaultModes      map[users.Priority]operation.Text   `json:"default_modes,omitempty" nullable:"true" doc:"The mode of each priority."`
	Owners            []string                            `json:"owners" required:"false" maxItems:"100" doc:"Names of people. An owner who changes them stays one."`
	SenderEmail       operation.Text                      `json:"sender_email" required:"false"`
	SampleContext     operation.Optional[json.RawMessage] `json:"sample_context,omitzero" doc:"An object for previews of templates; null clears it."`
}

// ApplicationEdit replaces the settings of an application.
type ApplicationEdit struct {
	OneApplication
	operation.State
	Body ApplicationSettings `json:"body"`
}

// Check implements operation.Checker.
func (e ApplicationEdit) Check() error {
	var wrong fault.Wrong
	b := e.Body
	for i, name := range b.Variables {
		wrong.If(!IsVariable(name), fmt.Sprintf("variables[%d]", i), "variables must be names of 1 to %d bytes", MaxVariable)
	}
	for i, name := range b.RequiredVariables {
		wrong.If(!slices.Contains(b.Variables, name), fmt.Sprintf("required_variables[%d]", i),
			"required_variables must be among the variables: %.100q is not", name)
	}
	wrong.If(b.TitleVariable != "" && !slices.Contains(b.Variables, string(b.TitleVariable)), "title_variable",
		"title_variable must be one of the variables")
	for i, name := range b.Modes {
		_, known := users.ParseMode(string(name))
		wrong.If(!known, fmt.Sprintf("modes[%d]", i), "there is no mode %.40q", string(name))
	}
	for priority := range b.DefaultModes {
		wrong.If(!slices.Contains(users.Priorities, priority), "default_modes."+string(priority),
			"there is no priority %.60q", string(priority))
	}
	wrong.If(b.SenderEmail != "" && !IsEmail(string(b.SenderEmail)), "sender_email",
		"sender_email must be an e-mail address")
	if b.SampleContext.Value != nil {
		var object map[string]json.RawMessage
		wrong.If(json.Unmarshal(*b.SampleContext.Value, &object) != nil, "sample_context",
			"sample_context must be an object")
	}
	return wrong.Err()
}

// ApplicationRemoval deletes an application.
type ApplicationRemoval struct {
	OneApplication
	operation.State
}

// ApplicationGiving gives an application to a team.
type ApplicationGiving struct {
	OneApplication
	operation.State
	Body Owner `json:"body"`
}

// ApplicationPausing pauses an application, or lets it go on.
type ApplicationPausing struct {
	OneApplication
	Body Pause `json:"body"`
}

// ApplicationFallback is the fallback of an application.
type ApplicationFallback struct {
	OneApplication
	Body Fallback `json:"body"`
}

// Renaming gives an application another name.
type Renaming struct {
	OneApplication
	Body NewName `json:"body"`
}

// NewName is another name of an application.
type NewName struct {
	Name string `json:"name" doc:"1 to 255 bytes without a colon. Programs sign with the name."`
}

// ErrSameName refuses the name that an application has.
var ErrSameName = fault.Invalidf("name", "the application has this name already")

// The operations on applications.
var (
	ListApplications = operation.Define[ApplicationFilter,
		operation.Page[ApplicationRow]](operation.Doc{Name: "application.list", Method: http.MethodGet,
		Path: "/v1/applications", Needs: operation.Reader, Summary: "Applications by name"})
	CreateApplication = operation.Define[NewApplication, Application](operation.Doc{Name: "application.create",
		Method: http.MethodPost, Path: "/v1/applications",
		Needs: operation.Admin, Audit: []audit.Action{audit.ApplicationAdded}, Summary: "Make an application", Errors: []int{409, 422}})
	GetApplication = operation.Define[OneApplication, Application](operation.Doc{Name: "application.get",
		Method: http.MethodGet, Path: "/v1/applications/{app}",
		Needs: operation.Reader, Summary: "An application", Note: "ETag names the state of its settings."})
	ReplaceApplication = operation.Define[ApplicationEdit, Application](operation.Doc{Name: "application.replace",
		Method: http.MethodPut, Path: "/v1/applications/{app}",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.ApplicationSettingsChanged}, Summary: "Replace the settings of an application",
		Errors: []int{409, 412, 422}, Note: "What is left out is cleared, except modes, owners and the sample context. Send the ETag of a GET as If-Match: the answer is 412 if somebody changed the settings meanwhile."})
	DeleteApplication = operation.Define[ApplicationRemoval,
		operation.None](operation.Doc{Name: "application.delete", Method: http.MethodDelete,
		Path:  "/v1/applications/{app}",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.ApplicationDeleted}, Summary: "Delete an application that was never used",
		Errors: []int{409, 412}, Note: "409 when it has variables, texts, incidents or messages. With the ETag of a GET as If-Match, 412 when somebody changed the settings meanwhile."})
	RenameApplication = operation.Define[Renaming, Application](operation.Doc{Name: "application.rename",
		Method: http.MethodPost, Path: "/v1/applications/{app}/rename", Status: http.StatusOK,
		Needs: operation.Member, Rule: operation.OfApplicationByPeople, Audit: []audit.Action{audit.ApplicationRenamed},
		Summary: "Give an application another name", Errors: []int{409, 422},
		Note: "Programs sign with the name: change it in them at the same time. 409: another application has the name."})
	OwnerOfApplication = operation.Define[OneApplication, Owner](operation.Doc{Name: "application.owner",
		Method: http.MethodGet, Path: "/v1/applications/{app}/owner",
		Needs: operation.Reader, Summary: "The team that owns an application and its integrations", Note: "ETag names the team."})
	GiveApplication = operation.Define[ApplicationGiving, Owner](operation.Doc{Name: "application.give",
		Method: http.MethodPut, Path: "/v1/applications/{app}/owner",
		Needs: operation.Member, Rule: operation.OfApplication, Audit: []audit.Action{audit.ApplicationGivenToATeam},
		Summary: "Give an application and its integrations to a team, or to none", Errors: []int{412,
			422}, Note: noteOwner})
	PauseApplication = operation.Define[ApplicationPausing, Pause](operation.Doc{Name: "application.pause",
		Method: http.MethodPut, Path: "/v1/applications/{app}/paused",
		Needs: operation.Admin, Audit: []audit.Action{audit.ApplicationPaused,
			audit.ApplicationResumed}, Errors: []int{409, 422},
		Summary: "Pause an application, so that its incidents and messages wait, or resume it", Note: "In a browser it needs a recent log-in."})
	FallbackOfApplication = operation.Define[OneApplication,
		Fallback](operation.Doc{Name: "application.fallback", Method: http.MethodGet,
		Path: "/v1/applications/{app}/fallback", Needs: operation.Reader, Summary: "Who is paged when the plan has no fallback; 404 when the application has none"})
	ChangeApplicationFallback = operation.Define[ApplicationFallback,
		Fallback](operation.Doc{Name: "application.set-fallback", Method: http.MethodPut,
		Path: "/v1/applications/{app}/fallback", Needs: operation.Member, Rule: operation.OfApplicationByPeople, Audit: []audit.Action{audit.ApplicationFallbackChanged},
		Summary: "Set the fallback of the application"})
	RemoveApplicationFallback = operation.Define[OneApplication,
		operation.None](operation.Doc{Name: "application.remove-fallback", Method: http.MethodDelete,
		Path: "/v1/applications/{app}/fallback", Needs: operation.Member, Rule: operation.OfApplicationByPeople, Audit: []audit.Action{audit.ApplicationFallbackChanged},
		Summary: "Remove the fallback of the application"})
)

// ApplicationKind has what all kinds of objects have.
var ApplicationKind = operation.Kind(ListApplications, GetApplication, ReplaceApplication, DeleteApplication,
	"NAME=name", "TEAM=team", "OWNERS=owners", "MODES=modes", "CREATED=created_at").MadeBy(CreateApplication.Doc)

// ApplicationStore stores applications. An application that does not exist is a NotFound fault. by is the actor of the
// audit log.
type ApplicationStore interface {
	List(ctx context.Context, q filters.Query) ([]applications.Application, error)
	Describe(ctx context.Context, name string) (applications.Application, error)
	Add(ctx context.Context, name, by string) (int64, error)
	Change(ctx context.Context, id int64, c applications.Change, by string) error
	Delete(ctx context.Context, id int64, ifMatch []string, by string) error
	// Rename refuses the name of another application with a Conflict fault.
	Rename(ctx context.Context, id int64, name, by string) error
	// Key returns "" for a key that the application lacks.
	Key(ctx context.Context, id int64) (primary, secondary string, err error)
	// AddSecondary returns the new key. If there is a secondary key, it returns a Conflict fault.
	AddSecondary(ctx context.Context, id int64, by string) (string, error)
	// Rekey makes the secondary key the primary one. Without a secondary key it returns a Conflict fault.
	Rekey(ctx context.Context, id int64, by string) error
	// Quota of an application without one is a NotFound fault.
	Quota(ctx context.Context, id int64) (applications.Quota, error)
	// SetQuota returns applications.ErrQuotaPlan if there is no such active plan, applications.ErrQuotaTarget if there
	// is no such target.
	SetQuota(ctx context.Context, id int64, q applications.Quota, by string) error
	RemoveQuota(ctx context.Context, id int64, by string) error
	SetCategories(ctx context.Context, id int64, all []applications.Category, by string) error
	// IncidentEmails returns the plan of each incident address.
	IncidentEmails(ctx context.Context, id int64) (map[string]string, error)
	// SetIncidentEmails returns an Invalid fault if a plan or an address cannot be used. The field of a fault about a
	// plan is the address.
	SetIncidentEmails(ctx context.Context, id int64, plans map[string]string, by string) error
	// SetFallback removes the stored fallback if to is nil.
	SetFallback(ctx context.Context, id int64, to *escalation.Target) error
}

// ApplicationDeps are what Applications works on.
type ApplicationDeps struct {
	Store  ApplicationStore
	People users.Finder
	Teams  Teams
	Owners Owners
	// Fallbacks reads what escalation knows of applications, by number.
	Fallbacks func(ctx context.Context, ids []int64) (map[int64]escalation.Application, error)
	// Pause pauses or resumes an application. A name that does not exist is a NotFound fault.
	Pause func(ctx context.Context, name string, paused bool, by string) error
	// Statistics are shared with other users.
	Statistics *applications.RecentStatistics
}

// Applications are the operations on applications. They are safe for concurrent use.
type Applications struct {
	List              operation.Op[ApplicationFilter, operation.Page[ApplicationRow]]
	Create            operation.Op[NewApplication, Application]
	Get               operation.Op[OneApplication, Application]
	Replace           operation.Op[ApplicationEdit, Application]
	Rename            operation.Op[Renaming, Application]
	Delete            operation.Op[ApplicationRemoval, operation.None]
	Key               operation.Op[OneApplication, Key]
	SecondaryKey      operation.Op[OneApplication, Key]
	AddSecondaryKey   operation.Op[OneApplication, Key]
	RotateKey         operation.Op[OneApplication, operation.None]
	Quota             operation.Op[OneApplication, Quota]
	ReplaceQuota      operation.Op[QuotaEdit, Quota]
	RemoveQuota       operation.Op[OneApplication, operation.None]
	Categories        operation.Op[OneApplication, Categories]
	ReplaceCategories operation.Op[CategoryEdit, Categories]
	Addresses         operation.Op[OneApplication, IncidentAddresses]
	ReplaceAddresses  operation.Op[AddressEdit, IncidentAddresses]
	Statistics        operation.Op[OneApplication, WeeklyFigures]
	Owner             operation.Op[OneApplication, Owner]
	Give              operation.Op[ApplicationGiving, Owner]
	Pause             operation.Op[ApplicationPausing, Pause]
	Fallback          operation.Op[OneApplication, Fallback]
	ChangeFallback    operation.Op[ApplicationFallback, Fallback]
	RemoveFallback    operation.Op[OneApplication, operation.None]

	deps ApplicationDeps
}

// NewApplications returns the operations.
func NewApplications(d ApplicationDeps) *Applications {
	a := &Applications{deps: d}
	a.List, a.Create, a.Get, a.Replace = ListApplications.By(a.list), CreateApplication.By(a.create), GetApplication.By(a.get), ReplaceApplication.By(a.replace)
	a.Rename, a.Delete = RenameApplication.By(a.rename), DeleteApplication.By(a.remove)
	a.Key, a.SecondaryKey = KeyOfApplication.By(a.key), SecondaryKeyOfApplication.By(a.secondaryKey)
	a.AddSecondaryKey, a.RotateKey = AddSecondaryKey.By(a.addSecondaryKey), RotateKey.By(a.rotateKey)
	a.Quota, a.ReplaceQuota, a.RemoveQuota = QuotaOfApplication.By(a.quota), ReplaceQuota.By(a.replaceQuota), RemoveQuota.By(a.removeQuota)
	a.Categories, a.ReplaceCategories = CategoriesOfApplication.By(a.categories), ReplaceCategories.By(a.replaceCategories)
	a.Addresses, a.ReplaceAddresses = AddressesOfApplication.By(a.addresses), ReplaceAddresses.By(a.replaceAddresses)
	a.Statistics = FiguresOfApplication.By(a.figures)
	a.Owner, a.Give = OwnerOfApplication.By(a.owner), GiveApplication.By(a.give)
	a.Pause, a.Fallback = PauseApplication.By(a.pause), FallbackOfApplication.By(a.fallback)
	a.ChangeFallback, a.RemoveFallback = ChangeApplicationFallback.By(a.changeFallback), RemoveApplicationFallback.By(a.removeFallback)
	return a
}

func rowOfApplication(a applications.Application) ApplicationRow {
	out := ApplicationRow{ID: a.ID, Name: a.Name, TitleVariable: operation.Text(a.TitleVariable),
		Variables:         append([]string{}, a.Variables...),
		RequiredVariables: append([]string{}, a.RequiredVariables...), Modes: append([]users.Mode{},
			a.Modes...), DefaultModes: a.DefaultModes,
		Owners: append([]string{}, a.Owners...), Team: operation.Text(a.Team.Name), SenderEmail: operation.Text(a.SenderAddresses[users.Email]), CreatedAt: a.CreatedAt.UTC()}
	if out.DefaultModes == nil {
		out.DefaultModes = map[users.Priority]users.Mode{}
	}
	return out
}

func applicationOf(a applications.Application, by operation.Actor) Application {
	out := Application{ApplicationRow: rowOfApplication(a), HasSecondKey: a.SecondKey,
		MayEdit: MayEdit(by, a.OwnerIDs, a.Team), tag: a.Tag()}
	if a.SampleContext != nil && json.Valid([]byte(*a.SampleContext)) {
		out.SampleContext = json.RawMessage(*a.SampleContext)
	}
	return out
}

// MayEdit reports whether a caller may change an application: administrators, its owners, and members of the team that
// owns it. The key of the application is not enough.
func MayEdit(by operation.Actor, owners []users.ID, team users.OwningTeam) bool {
	return by.Role == operation.Admin || writes(by) && slices.ContainsFunc(owners,
		func(u users.ID) bool { return is(by, u) }) || inTeam(by, team)
}

func (a *Applications) list(ctx context.Context, by operation.Actor, f ApplicationFilter) (operation.Page[ApplicationRow], error) {
	var q filters.Query
	if f.Team != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "team", Op: filters.Eq, Values: []any{f.Team}})
	}
	if f.Search != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "name", Op: filters.Contains,
			Values: []any{f.Search}})
	}
	found, err := a.deps.Store.List(ctx, q)
	if err != nil {
		return operation.Page[ApplicationRow]{}, err
	}
	rows := make([]ApplicationRow, 0, len(found))
	for _, one := range found {
		if !f.Mine || slices.Contains(one.OwnerIDs, users.ID(by.Person)) || inTeam(by, one.Team) {
			rows = append(rows, rowOfApplication(one))
		}
	}
	slices.SortFunc(rows, func(a, b ApplicationRow) int { return strings.Compare(a.Name, b.Name) })
	return operation.PageByName(f.Paging, rows, func(one ApplicationRow) string { return one.Name })
}

// create makes an application without settings.
func (a *Applications) create(ctx context.Context, by operation.Actor, n NewApplication) (Application, error) {
	if _, err := a.deps.Store.Add(ctx, n.Name, by.Name); err != nil {
		return Application{}, err
	}
	return a.get(ctx, by, OneApplication{strings.TrimSpace(n.Name)})
}

func (a *Applications) find(ctx context.Context, name string) (applications.Application, error) {
	found, err := a.deps.Store.Describe(ctx, name)
	return found, fault.When(err, fault.NotFound, fault.New(fault.NotFound, "there is no such application"))
}

// Owned finds an application that the caller may change. It refuses other callers with operation.ErrOwnerOnly, also for
// an application that does not exist. /v0 calls it to refuse them in its own words before it reads a body.
func (a *Applications) Owned(ctx context.Context, by operation.Actor, name string) (applications.Application, error) {
	found, err := a.find(ctx, name)
	if (err == nil || fault.Is(err, fault.NotFound)) && !MayEdit(by, found.OwnerIDs, found.Team) {
		return found, operation.ErrOwnerOnly
	}
	return found, err
}

func (a *Applications) get(ctx context.Context, by operation.Actor, one OneApplication) (Application, error) {
	found, err := a.find(ctx, one.Application)
	return applicationOf(found, by), err
}

func (a *Applications) replace(ctx context.Context, by operation.Actor, e ApplicationEdit) (Application, error) {
	found, err := a.Owned(ctx, by, e.Application)
	if err != nil {
		return Application{}, err
	}
	c, err := a.change(ctx, by, found, e.Body)
	if err != nil {
		return Application{}, err
	}
	c.IfMatch = e.Tags()
	if err := a.deps.Store.Change(ctx, found.ID, c, by.Name); err != nil {
		return Application{}, err
	}
	return a.get(ctx, by, OneApplication{found.Name})
}

// change returns the change to new settings, which also keeps the texts that only /v0 has.
func (a *Applications) change(ctx context.Context, by operation.Actor, found applications.Application, b ApplicationSettings) (applications.Change, error) {
	c := applications.Change{ContextTemplate: found.ContextTemplate, SummaryTemplate: found.SummaryTemplate,
		MobileTemplate: found.MobileTemplate,
		SampleContext:  found.SampleContext, TitleVariable: string(b.TitleVariable), Variables: b.Variables, DefaultModes: map[users.Priority]users.Mode{},
		SenderAddresses: map[users.Mode]string{users.Email: strings.TrimSpace(string(b.SenderEmail))}}
	if b.SampleContext.Given {
		c.SampleContext = nil
		if b.SampleContext.Value != nil {
			text := string(*b.SampleContext.Value)
			c.SampleContext = &text
		}
	}
	if b.RequiredVariables != nil {
		c.Required = &b.RequiredVariables
	}
	if b.Owners != nil {
		owners, err := a.owners(ctx, by, b.Owners)
		if err != nil {
			return c, err
		}
		c.Owners = &owners
	}
	modes := found.Modes
	if b.Modes != nil {
		modes = make([]users.Mode, len(b.Modes))
		for i, name := range b.Modes {
			modes[i], _ = users.ParseMode(string(name)) // see Check
		}
		if !slices.Equal(slices.Sorted(slices.Values(modes)), slices.Sorted(slices.Values(found.Modes))) {
			if err := by.Require(operation.Admin); err != nil {
				return c, err
			}
			c.Modes = &modes
		}
	}
	var wrong fault.Wrong
	for _, p := range users.Priorities {
		if name := b.DefaultModes[p]; name != "" {
			mode, _ := users.ParseMode(string(name))
			wrong.If(!slices.Contains(modes, mode), "default_modes."+string(p),
				"%s must be a mode that the application may use", p)
			c.DefaultModes[p] = mode
		}
	}
	return c, wrong.Err()
}

// owners checks the new owners and returns them, see keepOwner.
func (a *Applications) owners(ctx context.Context, by operation.Actor, names []string) ([]string, error) {
	for i, name := range names {
		if _, err := a.deps.People.ByName(ctx, name); err != nil {
			return nil, fault.When(err, fault.NotFound, fault.Invalidf(fmt.Sprintf("owners[%d]", i),
				"there is no user %.100q", name))
		}
	}
	return keepOwner(by, names), nil
}

// keepOwner returns the new owners with the caller: an owner who changes the owners stays one.
func keepOwner(by operation.Actor, names []string) []string {
	if by.Role == operation.Admin || by.Person == 0 || slices.Contains(names, by.Name) {
		return names
	}
	return append(slices.Clone(names), by.Name)
}

// Change replaces the settings that /v0 has, which are more than those of Replace. It skips owners that do not exist and
// default modes that the application may not use. It changes the modes only if the caller is an administrator.
func (a *Applications) Change(ctx context.Context, by operation.Actor, name string, c applications.Change) error {
	found, err := a.Owned(ctx, by, name)
	if err != nil {
		return err
	}
	if by.Role != operation.Admin {
		c.Modes = nil
	}
	if c.Owners != nil {
		owners := keepOwner(by, *c.Owners)
		c.Owners = &owners
	}
	return a.deps.Store.Change(ctx, found.ID, c, by.Name)
}

// rename gives an application another name, which may differ in case only.
func (a *Applications) rename(ctx context.Context, by operation.Actor, r Renaming) (Application, error) {
	found, err := a.ownedByPerson(ctx, by, r.Application)
	name := strings.TrimSpace(r.Body.Name)
	if err == nil && name == found.Name {
		err = ErrSameName
	}
	if err == nil {
		err = a.deps.Store.Rename(ctx, found.ID, name, by.Name)
	}
	if err != nil {
		return Application{}, err
	}
	return a.get(ctx, by, OneApplication{name})
}

// remove deletes an application. One that has variables, texts, incidents or messages stays.
func (a *Applications) remove(ctx context.Context, by operation.Actor, r ApplicationRemoval) (none operation.None, err error) {
	found, err := a.Owned(ctx, by, r.Application)
	if err != nil {
		return none, err
	}
	return none, a.deps.Store.Delete(ctx, found.ID, r.Tags(), by.Name)
}

func (a *Applications) owner(ctx context.Context, _ operation.Actor, one OneApplication) (Owner, error) {
	found, err := a.find(ctx, one.Application)
	return ownerOf(found.Team), err
}

func (a *Applications) give(ctx context.Context, by operation.Actor, g ApplicationGiving) (Owner, error) {
	found, err := a.find(ctx, g.Application)
	if err != nil {
		return g.Body, err
	}
	return giving{"application", found.Name, found.Team, MayEdit(by, found.OwnerIDs, users.OwningTeam{})}.to(ctx, by,
		a.deps.Teams, a.deps.Owners, g.Body, g.State)
}

func (a *Applications) pause(ctx context.Context, by operation.Actor, p ApplicationPausing) (Pause, error) {
	return p.Body, a.deps.Pause(ctx, p.Application, p.Body.Paused, by.Name)
}

func (a *Applications) fallback(ctx context.Context, _ operation.Actor, one OneApplication) (Fallback, error) {
	found, err := a.find(ctx, one.Application)
	if err != nil {
		return Fallback{}, err
	}
	all, err := a.deps.Fallbacks(ctx, []int64{found.ID})
	to := all[found.ID].Fallback
	if err == nil && to == nil {
		err = fault.Newf(fault.NotFound, "application %s has no fallback", found.Name)
	}
	if err != nil {
		return Fallback{}, err
	}
	return Fallback{to.Role, to.Name}, nil
}

func (a *Applications) changeFallback(ctx context.Context, by operation.Actor, f ApplicationFallback) (Fallback, error) {
	return f.Body, a.setFallback(ctx, by, f.Application, &escalation.Target{Role: f.Body.Role, Name: f.Body.Target})
}

func (a *Applications) removeFallback(ctx context.Context, by operation.Actor, one OneApplication) (none operation.None, err error) {
	return none, a.setFallback(ctx, by, one.Application, nil)
}

func (a *Applications) setFallback(ctx context.Context, by operation.Actor, name string, to *escalation.Target) error {
	found, err := a.ownedByPerson(ctx, by, name)
	if err != nil {
		return err
	}
	return a.deps.Store.SetFallback(ctx, found.ID, to)
}

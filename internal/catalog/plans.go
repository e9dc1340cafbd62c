package catalog

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// PlanRow is a plan as lists show it.
type PlanRow struct {
	Version
	Description string `json:"description"`
	Paused      bool   `json:"paused" doc:"It pages nobody."`
}

// Plan is a version of a plan.
type Plan struct {
	PlanRow
	Content
	Fallback *Target `json:"fallback" doc:"Paged when nobody of a step can be reached; null = the application's, else the creator."`
	warnings []string
}

// Location is the address of a plan.
func (p Plan) Location() string { return operation.Path("/v1/plans/{plan}", p.Name) }

// Warnings name what would page nobody.
func (p Plan) Warnings() []string { return p.warnings }

// OnePlan names a plan.
type OnePlan struct {
	Plan string `path:"plan" json:"plan"`
}

// PlanDraft is a version of a plan that is to be saved. A new plan has a name, and may have a team.
type PlanDraft struct {
	Name        operation.Text `json:"name" required:"false" maxLength:"1000"`
	Team        operation.Text `json:"team" required:"false" doc:"The team that owns a new plan."`
	Creator     operation.Text `json:"creator" required:"false" doc:"The person who counts as its creator; default: the caller. Required if the caller is not a person."`
	Description operation.Text `json:"description" required:"false"`
	Content
}

// NewPlan is a plan that does not exist.
type NewPlan PlanDraft

// Check implements operation.Checker.
func (p NewPlan) Check() error {
	var wrong fault.Wrong
	wrong.If(p.Name == "", "name", "name is missing")
	p.check(&wrong)
	return wrong.Err()
}

// PlanVersion replaces the active version of a plan.
type PlanVersion struct {
	OnePlan
	operation.State
	Body PlanContent `json:"body"`
}

// PlanContent is what a new version of a plan brings.
type PlanContent struct {
	Creator     operation.Text `json:"creator" required:"false" doc:"The person who counts as its creator; default: the caller. Required if the caller is not a person."`
	Description operation.Text `json:"description" required:"false"`
	Content
}

// Check implements operation.Checker.
func (p PlanVersion) Check() error {
	var wrong fault.Wrong
	p.Body.check(&wrong)
	return wrong.Err()
}

// Activation makes a version the active one.
type Activation struct {
	OnePlan
	operation.State
	Version int64 `path:"version" json:"version"`
}

// Removal deletes a plan.
type Removal struct {
	OnePlan
	operation.State
	Force bool `query:"force" json:"force,omitempty" doc:"true: even if it is in use."`
}

// Giving gives a plan to a team.
type Giving struct {
	OnePlan
	operation.State
	Body Owner `json:"body"`
}

// Uses is how a version of a plan is used.
type Uses struct {
	ID         int64      `json:"id" doc:"Of the version."`
	LastUsedAt *time.Time `json:"last_used_at" doc:"null = never."`
	Escalating int        `json:"escalating_incidents"`
	Steps      int        `json:"steps"`
	Warnings   []string   `json:"warnings" doc:"What needs attention, the worst first."`
	UsedBy     []string   `json:"used_by,omitempty" doc:"Quotas, applications, integrations and escalating incidents; not in lists."`
}

// UsesOf asks for the use of versions.
type UsesOf struct {
	IDs []int64 `query:"id,explode" json:"id" minItems:"1" maxItems:"100" required:"true" doc:"Numbers of versions."`
}

// ChangedSettings are the settings of all versions of a plan. Those that are left out get their standard.
type ChangedSettings struct {
	OnePlan
	operation.State
	Body escalation.SettingsPatch `json:"body"`
}

// Check implements operation.Checker.
func (c ChangedSettings) Check() error { return c.Body.Check() }

// Pause says whether a plan is paused.
type Pause struct {
	Paused bool `json:"paused"`
}

// Pausing pauses all versions of a plan, or lets them go on.
type Pausing struct {
	OnePlan
	Body Pause `json:"body"`
}

// Fallback is who is paged when nobody of a step can be reached.
type Fallback struct {
	Role   string `json:"role" minLength:"1"`
	Target string `json:"target" minLength:"1"`
}

// ChangedFallback is the fallback of all versions of a plan.
type ChangedFallback struct {
	OnePlan
	Body Fallback `json:"body"`
}

// The operations on plans.
var (
	ListPlans = operation.Define[Filter, operation.Page[PlanRow]](operation.Doc{Name: "plan.list",
		Method: http.MethodGet, Path: "/v1/plans",
		Needs: operation.Reader, Summary: "Plans, newest first"})
	CreatePlan = operation.Define[NewPlan, Plan](operation.Doc{Name: "plan.create", Method: http.MethodPost,
		Path:  "/v1/plans",
		Needs: operation.Member, Rule: operation.InTheNameOf, Audit: []audit.Action{audit.PlanSaved,
			audit.PlanVersionActivated}, Summary: "Make a plan; 409 when there is one of that name",
		Errors: []int{409, 422}, Note: "X-Iris-Warning names what would page nobody."})
	GetPlan = operation.Define[OnePlan, Plan](operation.Doc{Name: "plan.get", Method: http.MethodGet,
		Path:  "/v1/plans/{plan}",
		Needs: operation.Reader, Summary: "A plan with its steps: the active version of a name, or any by its number", Note: "ETag is the number of the version."})
	ReplacePlan = operation.Define[PlanVersion, Plan](operation.Doc{Name: "plan.replace", Method: http.MethodPut,
		Path:  "/v1/plans/{plan}",
		Needs: operation.Member, Rule: operation.InTheNameOf, Audit: []audit.Action{audit.PlanSaved,
			audit.PlanVersionActivated}, Summary: "Save a new version of a plan, which becomes the active one",
		Errors: []int{409, 412, 422}, Note: noteState})
	DeletePlan = operation.Define[Removal, operation.None](operation.Doc{Name: "plan.delete",
		Method: http.MethodDelete, Path: "/v1/plans/{plan}",
		Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.PlanDeleted}, Summary: "Delete a plan; its versions stay as history", Errors: []int{409, 412}, Note: noteDelete})
	ActivatePlan = operation.Define[Activation, Plan](operation.Doc{Name: "plan.activate", Method: http.MethodPost,
		Status: http.StatusOK,
		Path:   "/v1/plans/{plan}/versions/{version}/activate", Needs: operation.Member, Rule: operation.People, Audit: []audit.Action{audit.PlanVersionActivated}, Summary: "Make a stored version of a plan the active one",
		Errors: []int{409, 412, 422}, Note: "With the ETag of a GET as If-Match, 412 if another version is active. A plan that was deleted is active again."})
	OwnerOfPlan = operation.Define[OnePlan, Owner](operation.Doc{Name: "plan.owner", Method: http.MethodGet,
		Path:  "/v1/plans/{plan}/owner",
		Needs: operation.Reader, Summary: "The team that owns all versions of a plan", Note: "ETag names the team."})
	GivePlan = operation.Define[Giving, Owner](operation.Doc{Name: "plan.give", Method: http.MethodPut,
		Path:  "/v1/plans/{plan}/owner",
		Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.PlanGivenToATeam}, Summary: "Give all versions of a plan to a team, or to none", Errors: []int{412, 422}, Note: noteOwner})
	UsesOfPlans = operation.Define[UsesOf, operation.Page[Uses]](operation.Doc{Name: "plan.uses",
		Method: http.MethodGet, Path: "/v1/plan-uses",
		Needs: operation.Reader, Summary: "How versions of plans are used, and what is wrong with them now", Note: "Numbers that do not exist are left out."})
	UsesOfPlan = operation.Define[OnePlan, Uses](operation.Doc{Name: "plan.use", Method: http.MethodGet,
		Path:  "/v1/plans/{plan}/uses",
		Needs: operation.Reader, Summary: "How a plan is used, and what uses it"})
	SettingsOfPlan = operation.Define[OnePlan, escalation.SettingsPatch](operation.Doc{Name: "plan.settings",
		Method: http.MethodGet,
		Path:   "/v1/plans/{plan}/settings", Needs: operation.Reader, Summary: "Settings of all versions of the plan", Note: "ETag names the state of the settings."})
	ChangeSettings = operation.Define[ChangedSettings, escalation.SettingsPatch](operation.Doc{Name: "plan.set",
		Method: http.MethodPut,
		Path:   "/v1/plans/{plan}/settings", Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.PlanSettingsChanged},
		Summary: "Replace the settings of all versions of the plan; a setting that the body leaves out gets its standard",
		Errors:  []int{412}, Note: "Send the ETag of a GET as If-Match: the answer is 412 if somebody changed the settings meanwhile."})
	PausePlan = operation.Define[Pausing, Pause](operation.Doc{Name: "plan.pause", Method: http.MethodPut,
		Path:  "/v1/plans/{plan}/paused",
		Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.PlanPaused,
			audit.PlanResumed}, Summary: "Pause all versions of a plan, or let them go on: a paused plan pages nobody"})
	FallbackOfPlan = operation.Define[OnePlan, Fallback](operation.Doc{Name: "plan.fallback", Method: http.MethodGet,
		Path:  "/v1/plans/{plan}/fallback",
		Needs: operation.Reader, Summary: "Who is paged when nobody of a step of the plan can be reached; 404 when the plan has no fallback"})
	ChangeFallback = operation.Define[ChangedFallback, Fallback](operation.Doc{Name: "plan.set-fallback",
		Method: http.MethodPut,
		Path:   "/v1/plans/{plan}/fallback", Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.PlanFallbackChanged}, Summary: "Set the fallback of every version of the plan"})
	RemoveFallback = operation.Define[OnePlan, operation.None](operation.Doc{Name: "plan.remove-fallback",
		Method: http.MethodDelete,
		Path:   "/v1/plans/{plan}/fallback", Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.PlanFallbackChanged}, Summary: "Remove the fallback of every version of the plan"})
)

// PlanKind has what all kinds of objects have.
var PlanKind = operation.Kind(ListPlans, GetPlan, ReplacePlan, DeletePlan,
	"NAME=name", "VERSION=id", "TEAM=team", "CREATOR=creator", "SAVED=created_at", "DESCRIPTION=description").MadeBy(CreatePlan.Doc)

const (
	noteState  = "Send the ETag of a GET as If-Match: the answer is 412 if another version is active by now."
	noteDelete = "For administrators, the creator, and members of the team that owns it. 409: it is in use, and the detail names the uses; force=true deletes it anyway. Send the ETag of a GET as If-Match: the answer is 412 if another version is active by now."
	noteOwner  = "For administrators and administrators of the owning team. If no team owns it, also for its owners, who may name a team of theirs. Send the ETag of a GET as If-Match: the answer is 412 if somebody changed the owner meanwhile."
)

// PlanStore stores versions of plans. A plan that does not exist is a NotFound fault.
type PlanStore interface {
	versionStore[escalation.Plan, escalation.PlanSteps, escalation.PlanID]
	Reach(ctx context.Context, targets, templates []string) (escalation.Reach, error)
	// Roles returns all roles that plans can name, in a fixed order.
	Roles(ctx context.Context) ([]escalation.TargetRole, error)
	Create(ctx context.Context, d escalation.PlanContent) (escalation.PlanID, error)
	// Delete deletes all versions of a plan. If incidents or a quota have one, it returns an Invalid fault.
	Delete(ctx context.Context, name string) error
	// Uses leaves out numbers that do not exist.
	Uses(ctx context.Context, ids []escalation.PlanID) ([]applications.PlanUse, error)
	// The changes of all versions of a plan. A nil fallback removes the stored one. by is the actor of the audit log.
	SetFallback(ctx context.Context, plan string, to *escalation.Target) error
	// SetSettings returns etag.ErrStale if the settings have none of the tags of ifMatch; nil = any state is changed.
	SetSettings(ctx context.Context, plan string, p escalation.SettingsPatch, ifMatch []string, by string) error
	SetPaused(ctx context.Context, plan string, paused bool, by string) error
}

// Simulator computes what would happen to an incident. It stores and sends nothing.
type Simulator interface {
	Ask(ctx context.Context, a simulation.TypedQuestion) (simulation.Simulation, error)
}

// PlanDeps are what Plans works on.
type PlanDeps struct {
	Store     PlanStore
	Authors   Authors
	Owners    Owners
	Simulator Simulator
	// Syntax returns the syntax error of a Jinja2 template; nil if there is none.
	Syntax func(source string) error
	// MaxLength refuses plans that take longer; 0 = any length.
	MaxLength time.Duration
	// ListLimit is the size from which a mailing list pages nobody; 0 = any size is paged.
	ListLimit int
	// CatchAll is the plan that the configuration names for alerts without one; it is in use. "" = none.
	CatchAll string
}

// Plans are the operations on plans. They are safe for concurrent use.
type Plans struct {
	List           operation.Op[Filter, operation.Page[PlanRow]]
	Create         operation.Op[NewPlan, Plan]
	Get            operation.Op[OnePlan, Plan]
	Replace        operation.Op[PlanVersion, Plan]
	Delete         operation.Op[Removal, operation.None]
	Activate       operation.Op[Activation, Plan]
	Owner          operation.Op[OnePlan, Owner]
	Give           operation.Op[Giving, Owner]
	UsesOf         operation.Op[UsesOf, operation.Page[Uses]]
	Uses           operation.Op[OnePlan, Uses]
	Settings       operation.Op[OnePlan, escalation.SettingsPatch]
	ChangeSettings operation.Op[ChangedSettings, escalation.SettingsPatch]
	Pause          operation.Op[Pausing, Pause]
	Fallback       operation.Op[OnePlan, Fallback]
	ChangeFallback operation.Op[ChangedFallback, Fallback]
	RemoveFallback operation.Op[OnePlan, operation.None]
	Simulate       operation.Op[PlanQuestion, simulation.Report]
	Preview        operation.Op[PlanPreview, Foreseen]
	Roles          operation.Op[operation.None, operation.Page[TargetRole]]

	deps     PlanDeps
	versions versions[escalation.Plan, escalation.PlanSteps, escalation.PlanID]
}

// NewPlans returns the operations.
func NewPlans(d PlanDeps) *Plans {
	p := &Plans{deps: d, versions: versions[escalation.Plan, escalation.PlanSteps, escalation.PlanID]{"plan", d.Store,
		d.Owners, d.Authors,
		func(p escalation.PlanSteps) (escalation.PlanID, Version) { return p.ID, versionOfPlan(p.Plan) },
		func(p escalation.Plan) filters.Place { return filters.Place{At: p.CreatedAt, ID: int64(p.ID)} }}}
	p.List, p.Create, p.Get, p.Replace = ListPlans.By(p.list), CreatePlan.By(p.create), GetPlan.By(p.get), ReplacePlan.By(p.replace)
	p.Delete, p.Activate, p.Owner, p.Give = DeletePlan.By(p.remove), ActivatePlan.By(p.activate), OwnerOfPlan.By(p.owner), GivePlan.By(p.give)
	p.UsesOf, p.Uses = UsesOfPlans.By(p.usesOf), UsesOfPlan.By(p.uses)
	p.Settings, p.ChangeSettings, p.Pause = SettingsOfPlan.By(p.settings), ChangeSettings.By(p.changeSettings), PausePlan.By(p.pause)
	p.Fallback, p.ChangeFallback, p.RemoveFallback = FallbackOfPlan.By(p.fallback), ChangeFallback.By(p.changeFallback), RemoveFallback.By(p.removeFallback)
	p.Simulate, p.Preview, p.Roles = SimulatePlan.By(p.simulate), PreviewPlan.By(p.preview), ListTargetRoles.By(p.roles)
	return p
}

func versionOfPlan(p escalation.Plan) Version {
	return Version{ID: int64(p.ID), Name: p.Name, Active: p.Active, Creator: p.Creator,
		Team: operation.Text(p.Team.Name), CreatedAt: p.CreatedAt.UTC(),
		kind: "plan", creatorID: p.CreatorID, owner: p.Team}
}

func rowOfPlan(p escalation.Plan) PlanRow { return PlanRow{versionOfPlan(p), p.Description, p.Paused} }

func planOf(p escalation.Plan, by operation.Actor) Plan {
	out := Plan{PlanRow: rowOfPlan(p), Content: ContentOf(p), Fallback: targetOf(p.Fallback)}
	out.Version = out.seenBy(by)
	return out
}

func (p *Plans) list(ctx context.Context, _ operation.Actor, f Filter) (out operation.Page[PlanRow], err error) {
	found, next, err := p.versions.list(ctx, f)
	return operation.PageTo(found, next, rowOfPlan), err
}

func (p *Plans) get(ctx context.Context, by operation.Actor, one OnePlan) (Plan, error) {
	found, err := p.versions.find(ctx, one.Plan)
	return planOf(found.Plan, by), err
}

// create stores the first version of a plan. A name that has an active version is a Conflict fault.
func (p *Plans) create(ctx context.Context, by operation.Actor, n NewPlan) (Plan, error) {
	name, err := PlanName(string(n.Name))
	if err != nil {
		return Plan{}, err
	}
	return p.save(ctx, by, PlanDraft(n), name, new(escalation.PlanID))
}

func (p *Plans) replace(ctx context.Context, by operation.Actor, v PlanVersion) (Plan, error) {
	name, replaces, err := p.versions.replaces(ctx, v.Plan, v.State)
	if err != nil {
		return Plan{}, err
	}
	return p.save(ctx, by, PlanDraft{Creator: v.Body.Creator, Description: v.Body.Description,
		Content: v.Body.Content}, name, replaces)
}

func (p *Plans) save(ctx context.Context, by operation.Actor, d PlanDraft, name string, replaces *escalation.PlanID) (Plan, error) {
	creator, err := p.deps.Authors.creator(ctx, by, string(d.Creator))
	if err != nil {
		return Plan{}, err
	}
	content, err := p.content(ctx, by, d, name)
	if err != nil {
		return Plan{}, err
	}
	content.Replaces = replaces
	id, warnings, err := p.Save(ctx, by, creator, content, d.Tracking)
	if err != nil {
		return Plan{}, err
	}
	saved, err := p.deps.Store.ByID(ctx, id)
	out := planOf(saved.Plan, by)
	out.warnings = warnings
	return out, err
}

func (p *Plans) content(ctx context.Context, by operation.Actor, d PlanDraft, name string) (c escalation.PlanContent, err error) {
	c.Name, c.Description = name, string(d.Description)
	d.fill(&c)
	c.Team, err = p.deps.Authors.team(ctx, by, string(d.Team))
	return c, err
}

// Save stores a new version of a plan, which becomes the active one of its name. The targets of content need no ids:
// Save fills them in. creator is the result of Creator. tracking is nil for a plan without tracking notifications. The
// warnings name targets that reach nobody. A wrong plan is an Invalid fault. A caller who may not replace the active
// version gets a Forbidden fault.
func (p *Plans) Save(ctx context.Context, by operation.Actor, creator users.User, content escalation.PlanContent, tracking *Tracking) (id escalation.PlanID, warnings []string, err error) {
	if warnings, err = p.check(ctx, by, creator, &content, tracking); err != nil {
		return 0, nil, err
	}
	id, err = p.deps.Store.Create(ctx, content)
	return id, warnings, err
}

// check is Save without storing the version. It completes content as Save would store it.
func (p *Plans) check(ctx context.Context, by operation.Actor, creator users.User, content *escalation.PlanContent, tracking *Tracking) (warnings []string, err error) {
	content.CreatorID = creator.ID
	if err := CheckShape(content.Steps, p.deps.MaxLength); err != nil {
		return nil, err
	}
	if warnings, err = p.checkSteps(ctx, content.Steps); err != nil {
		return nil, err
	}
	if !creator.Active {
		warnings = append(warnings, "the creator "+creator.Name+" is not active, so nobody is the last resort")
	}
	if tracking != nil {
		if content.Tracking, err = tracking.Check(p.deps.Syntax); err != nil {
			return nil, err
		}
		if content.Tracking.Mode == users.Call {
			warnings = append(warnings, "a tracking notification is never a call, so none is sent")
		}
	}
	active, found := p.deps.Store.ByName(ctx, content.Name)
	if err := p.deps.Authors.mayReplace(ctx, by, versionOfPlan(active.Plan), found); err != nil {
		return nil, err
	}
	if content.Team == 0 {
		content.Team = by.Service
	}
	return warnings, nil
}

func (p *Plans) activate(ctx context.Context, by operation.Actor, a Activation) (Plan, error) {
	found, err := p.versions.activate(ctx, by, a.Plan, a.Version, a.State)
	return planOf(found.Plan, by), err
}

func (p *Plans) remove(ctx context.Context, by operation.Actor, r Removal) (none operation.None, err error) {
	return none, p.versions.remove(ctx, by, r.Plan, r.Force, r.State, func(ctx context.Context, id escalation.PlanID) ([]string, error) {
		if p.deps.CatchAll == "" {
			return nil, nil
		}
		catchAll, err := p.deps.Store.ByName(ctx, p.deps.CatchAll)
		if err == nil && catchAll.ID == id {
			return []string{"the setting intake.catch_all_plan"}, nil
		}
		return nil, fault.When(err, fault.NotFound, nil)
	})
}

// SetActive activates or deactivates a version of a plan, as clients of /v0 do. Callers for whom MayChange is false get a
// Forbidden fault.
func (p *Plans) SetActive(ctx context.Context, by operation.Actor, id escalation.PlanID, active bool) error {
	return p.versions.setActive(ctx, by, id, active)
}

// Erase deletes all versions of the plan that has a version, as clients of /v0 do, if no incident and no quota has it. Callers for
// whom MayChange is false get a Forbidden fault.
func (p *Plans) Erase(ctx context.Context, by operation.Actor, id escalation.PlanID) error {
	found, err := p.deps.Store.ByID(ctx, id)
	if err == nil {
		err = versionOfPlan(found.Plan).changeableBy(by, "delete")
	}
	if err == nil {
		err = p.deps.Store.Delete(ctx, found.Name)
	}
	return err
}

func (p *Plans) owner(ctx context.Context, _ operation.Actor, one OnePlan) (Owner, error) {
	return p.versions.owner(ctx, one.Plan)
}

func (p *Plans) give(ctx context.Context, by operation.Actor, g Giving) (Owner, error) {
	return p.versions.give(ctx, by, g.Plan, g.Body, g.State)
}

func (p *Plans) usesOf(ctx context.Context, _ operation.Actor, of UsesOf) (operation.Page[Uses], error) {
	ids := make([]escalation.PlanID, len(of.IDs))
	for i, id := range of.IDs {
		ids[i] = escalation.PlanID(id)
	}
	found, err := p.deps.Store.Uses(ctx, ids)
	out := operation.Page[Uses]{Items: make([]Uses, len(found))}
	for i, u := range found {
		out.Items[i] = useOf(u)
	}
	return out, err
}

func useOf(u applications.PlanUse) Uses {
	out := Uses{ID: u.ID, Escalating: u.Escalating, Steps: u.Steps, Warnings: append([]string{}, u.Warnings()...)}
	if !u.LastAt.IsZero() {
		at := u.LastAt.UTC()
		out.LastUsedAt = &at
	}
	return out
}

func (p *Plans) uses(ctx context.Context, _ operation.Actor, one OnePlan) (out Uses, err error) {
	plan, err := p.versions.find(ctx, one.Plan)
	if err != nil {
		return out, err
	}
	found, err := p.deps.Store.Uses(ctx, []escalation.PlanID{plan.ID})
	if err != nil {
		return out, err
	}
	by, err := p.deps.Store.UsedBy(ctx, plan.Name)
	if err != nil {
		return out, err
	}
	if len(found) == 0 {
		return out, p.versions.missing(one.Plan)
	}
	out = useOf(found[0])
	out.UsedBy = by
	return out, nil
}

// named finds the active version of a name.
func (p *Plans) named(ctx context.Context, name string) (escalation.Plan, error) {
	found, err := p.deps.Store.ByName(ctx, name)
	return found.Plan, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no active plan %.100q",
		name))
}

func (p *Plans) settings(ctx context.Context, _ operation.Actor, one OnePlan) (escalation.SettingsPatch, error) {
	found, err := p.named(ctx, one.Plan)
	if found.ResolvedNotice == nil {
		found.ResolvedNotice = map[users.Mode]bool{}
	}
	return found.Patch(), err
}

func (p *Plans) changeSettings(ctx context.Context, by operation.Actor, c ChangedSettings) (out escalation.SettingsPatch, err error) {
	_, head, err := p.versions.changeable(ctx, by, c.Plan)
	if err == nil {
		err = p.deps.Store.SetSettings(ctx, head.Name, c.Body.OverStandard(), c.Tags(), by.Name)
	}
	if err != nil {
		return out, err
	}
	return p.settings(ctx, by, OnePlan{head.Name})
}

func (p *Plans) pause(ctx context.Context, by operation.Actor, c Pausing) (Pause, error) {
	_, head, err := p.versions.changeable(ctx, by, c.Plan)
	if err == nil {
		err = p.deps.Store.SetPaused(ctx, head.Name, c.Body.Paused, by.Name)
	}
	return c.Body, err
}

func (p *Plans) fallback(ctx context.Context, _ operation.Actor, one OnePlan) (Fallback, error) {
	found, err := p.named(ctx, one.Plan)
	if err == nil && found.Fallback == nil {
		err = fault.Newf(fault.NotFound, "plan %s has no fallback", found.Name)
	}
	if err != nil {
		return Fallback{}, err
	}
	return Fallback{found.Fallback.Role, found.Fallback.Name}, nil
}

func (p *Plans) changeFallback(ctx context.Context, by operation.Actor, c ChangedFallback) (Fallback, error) {
	_, head, err := p.versions.changeable(ctx, by, c.Plan)
	to := escalation.Target{Role: c.Body.Role, Name: c.Body.Target}
	if err == nil {
		err = p.deps.Store.SetFallback(ctx, head.Name, &to)
	}
	return Fallback{to.Role, to.Name}, err
}

func (p *Plans) removeFallback(ctx context.Context, by operation.Actor, one OnePlan) (none operation.None, err error) {
	_, head, err := p.versions.changeable(ctx, by, one.Plan)
	if err == nil {
		err = p.deps.Store.SetFallback(ctx, head.Name, nil)
	}
	return none, err
}

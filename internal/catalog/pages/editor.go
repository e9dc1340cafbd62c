package pages

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// editorView is the editor. Draft is the part below the form that shows what the typed plan would do.
type editorView struct {
	page.Frame
	F           form
	Action      string
	Roles       []role
	Modes       []page.Option
	Priorities  []page.Option
	Teams       []string      // suggestions
	Owners      []page.Option // the teams of the reader
	AnyTeam     bool          // the reader may choose any team
	Templates   []string
	Yes         []page.Option
	Days        []string
	PreviewZone string // of the time in the form
	Draft       draftView
	// Assumptions are the choices of the preview in addition to "never".
	Assumptions []assumption
	// OpenSettings: the part with the settings is open, because something in it is wrong.
	OpenSettings bool
}

// draftView is the result of a check of the typed plan.
type draftView struct {
	Refusal  page.Refusal
	Step     int // number of the step that is wrong; 0 = none
	Warnings []page.Warning
	Sim      simulationView
	Checked  bool
}

// role is a role that plans can name, with the kind of target that fits.
type role struct{ Name, Kind, Label string }

// create shows the editor for a new plan. ?from=NAME copies a plan.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	f := formOf(plan{}, escalation.StandardSettings().Patch())
	f.Base = ""
	f = f.change("add-step")
	if from := r.URL.Query().Get("from"); from != "" {
		p, err := h.objects().Named(r, from)
		var s escalation.SettingsPatch
		if err == nil {
			s, err = h.settingsOf(r, p)
		}
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		opened := f.values.Get("opened")
		f = formOf(p, s)
		f.Base = ""
		f.values.Set("opened", opened)
		f.values.Set("name", "copy of "+p.Name)
		if !page.Reader(r).Admin && !slices.Contains(pagesusers.TeamsOf(r, h.People), string(p.Team)) {
			f.values.Del("team")
		}
	} else if team := r.URL.Query().Get("team"); team != "" {
		f.values.Set("team", page.Storable(team))
	} else if len(pagesusers.TeamNames(r, h.Teams)) == 0 { // nobody can be on call yet: the first plan pages its author
		f.Steps[0].Rows[0].Role, f.Steps[0].Rows[0].Name = "user", page.Reader(r).Name
	}
	h.editor(rw, r, http.StatusOK, f, draftView{})
}

// edit shows the editor for a new version of the active one.
func (h Handlers) edit(rw http.ResponseWriter, r *http.Request) {
	p, err := h.objects().Find(r)
	var s escalation.SettingsPatch
	if err == nil {
		s, err = h.settingsOf(r, p)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	f := formOf(p, s)
	if !f.fits() {
		h.Pages.Fail(rw, r, fault.Newf(fault.Conflict,
			"The plan %s has too many notifications for a form: change it with PUT /v1/plans/%s", p.Name, p.Name))
		return
	}
	f.Plan = p.Name
	if !p.Active { // the new version begins with the content of an older one
		active, err := h.Plans.Get.Do(r.Context(), page.Actor(r), one(p.Name))
		if err != nil {
			h.Pages.Fail(rw, r, fault.When(err, fault.NotFound,
				fault.New(fault.Conflict, "The plan is retired. Make a version of it active, then edit it.")))
			return
		}
		f.Base = active.Tag()
	}
	h.editor(rw, r, http.StatusOK, f, draftView{})
}

// settingsOf returns the settings of a plan. A plan without an active version has the standard.
func (h Handlers) settingsOf(r *http.Request, p plan) (escalation.SettingsPatch, error) {
	s, err := h.Plans.Settings.Do(r.Context(), page.Actor(r), one(p.Name))
	if fault.Is(err, fault.NotFound) {
		return escalation.StandardSettings().Patch(), nil
	}
	return s, err
}

// edited answers the form of the editor: it changes the form, checks it, or saves the plan.
func (h Handlers) edited(rw http.ResponseWriter, r *http.Request) {
	values := page.Typed(r)
	f := typed(values)
	if chi.URLParam(r, "plan") != "" {
		f.Plan = page.Storable(wire.Param(r, "plan"))
	}
	do := values.Get("do")
	switch {
	case do == "save":
		h.save(rw, r, f)
	case do == "check" && page.IsRefresh(r):
		d, err := h.check(r, f)
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		h.Pages.Render(rw, r, http.StatusOK, "plan-draft", d)
	default:
		if do != "preview" && do != "check" {
			f = f.change(do)
		}
		d, err := h.check(r, f)
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		h.editor(rw, r, http.StatusOK, f, d)
	}
}

var stepNumber = regexp.MustCompile(`(?i)\bstep (\d{1,3})\b`)

// refused returns the view of a refusal, with the step that it is about.
func refused(refusal page.Refusal) draftView {
	d := draftView{Refusal: refusal, Checked: true}
	d.Refusal.Field = strings.TrimPrefix(d.Refusal.Field, "settings.")
	if m := stepField.FindStringSubmatch(refusal.Field); m != nil {
		n, _ := strconv.Atoi(m[1])
		d.Step = n + 1
	} else if m := stepNumber.FindStringSubmatch(refusal.Text); m != nil {
		d.Step, _ = strconv.Atoi(m[1])
	}
	return d
}

// check checks the typed plan as saving would, and simulates it.
func (h Handlers) check(r *http.Request, f form) (draftView, error) {
	read := &reader{}
	c, s := f.content(read), f.settings(read)
	d := catalog.PlanPreview{PlanDraft: catalog.PlanDraft{Description: c.Description, Content: c.Content},
		Plan: operation.Text(f.Plan), Settings: &s,
		Fallback: operation.Optional[catalog.Target]{Given: true, Value: f.fallback(read)}}
	if f.Plan == "" {
		d.Name, d.Team = operation.Text(f.Value("name")), operation.Text(f.Value("team"))
	}
	zone := page.Zone(r)
	if text := f.Value("at"); text != "" {
		at, err := oncall.PassOn(text, zone, time.Now())
		if err != nil {
			read.wrong("at", "%s", fault.Public(err))
		}
		d.At = operation.Text(at)
	}
	d.Assume, d.Applied = operation.Text(f.Value("assume")), operation.Text(f.Value("application"))
	for _, t := range f.Targets {
		d.Targets = append(d.Targets, t.Value)
	}
	for n := len(d.Targets); n > 0 && d.Targets[n-1] == ""; n-- {
		d.Targets = d.Targets[:n-1] // empty targets at the end are not given
	}
	if read.problem.Text != "" {
		return refused(read.problem), nil
	}
	answer, err := h.Plans.Preview.Do(r.Context(), page.Actor(r), d)
	if err != nil {
		if refusal, ok := correctable(err); ok {
			return refused(refusal), nil
		}
		return draftView{}, err
	}
	v := draftView{Checked: true, Sim: simulationView{Zone: zone.String()}}
	for _, w := range answer.Warnings {
		v.Warnings = append(v.Warnings, page.Warning{Text: w})
	}
	v.Sim.fill(answer.Simulation, zone, len(f.Steps), s.Settings().Repeat)
	return v, nil
}

// correctable returns what a person can correct.
func correctable(err error) (page.Refusal, bool) {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Mismatch, fault.TooLarge, fault.Forbidden:
		return page.Refusal{Status: wire.Status(err), Field: fault.FieldOf(err), Text: text(err)}, true
	}
	return page.Refusal{}, false
}

// text returns the text of a fault, with its detail.
func text(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Detail != "" {
		return f.Detail
	}
	return fault.Public(err)
}

// save checks everything, then stores the typed plan, and then the settings and the fallback if the person changed
// them. If only a part could be stored, the form keeps the rest, and the person can save again.
func (h Handlers) save(rw http.ResponseWriter, r *http.Request, f form) {
	d, err := h.check(r, f)
	if err == nil && d.Refusal.Text != "" {
		h.editor(rw, r, d.Refusal.Status, f, d)
		return
	}
	var saved plan
	if err == nil {
		saved, err = h.store(r, f)
	}
	if err == nil {
		var missing string
		if missing, err = h.storeRest(r, f, saved); err != nil {
			f.Plan, f.Base = saved.Name, saved.Tag()
			h.editor(rw, r, wire.Status(err), f,
				refused(page.Refusal{Status: wire.Status(err), Field: fault.FieldOf(err),
					Text: "The steps are stored, as version " + f.Base + ". Not stored: " + missing +
						". Save again. The reason: " + fault.Public(err)}))
			return
		}
	}
	h.Pages.Finish(rw, r, fmt.Sprintf("The plan is saved. Version %d is the active one.", saved.ID), saved.Path(), err, func(refusal page.Refusal) {
		if fault.Is(err, fault.Stale) {
			refusal.Text = "Somebody else saved a version of this plan since you opened it. Nothing of yours is stored. Compare it on the page of the plan in another tab. Then save again: your version replaces theirs."
			if p, err := h.objects().Named(r, f.Plan); err == nil {
				f.Base = p.Tag()
			}
		}
		h.editor(rw, r, refusal.Status, f, refused(refusal))
	})
}

// store saves the steps and what belongs to a version.
func (h Handlers) store(r *http.Request, f form) (plan, error) {
	c, by := f.content(&reader{}), page.Actor(r)
	if f.Plan == "" {
		made, err := h.Plans.Create.Do(r.Context(), by, catalog.NewPlan{Name: operation.Text(f.Value("name")),
			Team:        operation.Text(f.Value("team")),
			Description: c.Description, Content: c.Content})
		return plan{made}, err
	}
	v := catalog.PlanVersion{OnePlan: one(f.Plan), Body: c}
	if f.Base != "" {
		v.State = operation.In(f.Base)
	}
	saved, err := h.Plans.Replace.Do(r.Context(), by, v)
	return plan{saved}, err
}

// storeRest stores the settings and the fallback, but only what the person changed, so that it does not overwrite
// changes of other people. With an error, missing says what is not stored.
func (h Handlers) storeRest(r *http.Request, f form, saved plan) (missing string, err error) {
	read, by := &reader{}, page.Actor(r)
	typed, fallback := f.settings(read), f.fallback(read)
	now, err := h.settingsOf(r, saved)
	if err != nil {
		return "the settings and the fallback", err
	}
	opened := f.opened(common{now, saved.Fallback})
	if changed := over(typed, opened.Settings, now); !reflect.DeepEqual(changed, now) {
		if _, err := h.Plans.ChangeSettings.Do(r.Context(), by, catalog.ChangedSettings{OnePlan: one(saved.Name), Body: changed}); err != nil {
			return "the settings and the fallback", err
		}
	}
	if reflect.DeepEqual(fallback, opened.Fallback) || reflect.DeepEqual(fallback, saved.Fallback) {
		return "", nil
	}
	if fallback == nil {
		_, err = h.Plans.RemoveFallback.Do(r.Context(), by, one(saved.Name))
	} else {
		_, err = h.Plans.ChangeFallback.Do(r.Context(), by, catalog.ChangedFallback{OnePlan: one(saved.Name),
			Body: catalog.Fallback{Role: fallback.Role, Target: fallback.Name}})
	}
	return "the fallback", err
}

// editor renders the editor, or its part for the script.
func (h Handlers) editor(rw http.ResponseWriter, r *http.Request, status int, f form, d draftView) {
	title, action := "New plan", "/plans/new"
	if f.Plan != "" {
		title, action = "Edit "+f.Plan, page.Path("/plans/%s/edit", f.Plan)
	}
	roles, err := h.Plans.Roles.Do(r.Context(), page.Actor(r), operation.None{})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	view := editorView{F: f, Action: action, Draft: d, Templates: page.Suggest(r, h.Templates.List,
		catalog.Filter{Paging: operation.Paging{Limit: page.Longest}}, func(t catalog.TemplateRow) string { return t.Name }),
		Days: weekdays, Assumptions: assumptions(),
		Yes: []page.Option{{Value: "", Label: "standard"}, {Value: "true", Label: "yes"},
			{Value: "false", Label: "no"}},
		Priorities: page.Options(users.Priorities...), Modes: page.OptionsOr("none", users.ContactModes...)}
	for _, one := range roles.Items {
		view.Roles = append(view.Roles, role{one.Name, one.Kind, one.Name})
	}
	field := d.Refusal.Field
	view.OpenSettings = field != "" && d.Step == 0 &&
		!slices.Contains([]string{"name", "team", "description", "steps", "at", "assume", "application", "target"},
			field)
	view.PreviewZone = page.Zone(r).String()
	view.Teams = pagesusers.TeamsOf(r, h.People)
	if page.Reader(r).Admin { // who may choose any team
		view.Teams = pagesusers.TeamNames(r, h.Teams)
	}
	view.Owners = page.OptionsOr("no team: only you", view.Teams...)
	if team := f.Value("team"); team != "" && !slices.Contains(view.Teams, team) {
		view.Owners = append(view.Owners, page.Option{Value: team, Label: team})
	}
	view.AnyTeam = page.Reader(r).Admin
	if page.IsRefresh(r) {
		h.Pages.Render(rw, r, http.StatusOK, "plan-editor", view)
		return
	}
	view.Frame = h.Pages.Frame(r, title, "plans")
	if !view.ReadOnly { // the API previews drafts only for people who may write
		view.Modules = []string{"plan.js"}
	}
	h.Pages.Render(rw, r, cmp.Or(status, http.StatusOK), "plan-edit", view)
}

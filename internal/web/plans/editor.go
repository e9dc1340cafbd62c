package plans

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

// editorView is the editor. Draft is the part below the form that shows what the typed plan would do.
type editorView struct {
	page.Frame
	F           form
	Action      string
	Roles       []role
	Modes       []page.Option
	Priorities  []page.Option
	Teams       []page.Option
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
	f := form{values: url.Values{"repage_after_seconds": {"1h"}}}.change("add-step")
	if from := r.URL.Query().Get("from"); from != "" {
		p, err := h.named(r, from)
		var s settings
		if err == nil {
			s, err = h.settingsOf(r, p)
		}
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		f = formOf(p, s)
		f.Base = ""
		f.values.Set("name", "copy of "+p.Name)
	} else if team := r.URL.Query().Get("team"); team != "" {
		f.values.Set("team", page.Storable(team))
	}
	h.editor(rw, r, http.StatusOK, f, draftView{})
}

// edit shows the editor for a new version of the active one.
func (h Handlers) edit(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	var s settings
	if err == nil {
		s, err = h.settingsOf(r, p)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if !p.fits() {
		h.Pages.Fail(rw, r, fault.Newf(fault.Conflict, "The plan %s has more than %d steps, or notifications in a step. This form would lose some: change it with PUT /v1/plans/%s", p.Name, most, p.Name))
		return
	}
	f := formOf(p, s)
	f.Plan = p.Name
	if !p.Active { // the new version begins with the content of an older one
		var active plan
		if err := h.Pages.API(r).Get(page.Path("/v1/plans/%s", p.Name), &active); err != nil {
			h.Pages.Fail(rw, r, fault.When(err, fault.NotFound, fault.New(fault.Conflict, "The plan is retired. Make a version of it active, then edit it.")))
			return
		}
		f.Base = strconv.FormatInt(active.ID, 10)
	}
	h.editor(rw, r, http.StatusOK, f, draftView{})
}

// settingsOf returns the settings of a plan. A plan without an active version has the standard.
func (h Handlers) settingsOf(r *http.Request, p plan) (s settings, err error) {
	err = h.Pages.API(r).Get(page.Path("/v1/plans/%s/settings", p.Name), &s)
	if fault.Is(err, fault.NotFound) {
		return settings{RepageAfter: 3600}, nil
	}
	return s, err
}

// edited answers the form of the editor: it changes the form, checks it, or saves the plan.
func (h Handlers) edited(rw http.ResponseWriter, r *http.Request) {
	f := typed(r.PostForm)
	if chi.URLParam(r, "plan") != "" {
		f.Plan = page.Storable(wire.Param(r, "plan"))
	}
	do := r.PostForm.Get("do")
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
	body := f.content(read)
	s := f.settings(read)
	body["settings"], body["fallback"] = s, f.fallback(read)
	if f.Plan != "" {
		body["plan"] = f.Plan
	} else {
		body["name"] = f.Value("name")
		if team := f.Value("team"); team != "" {
			body["team"] = team
		}
	}
	zone := page.Zone(r)
	if text := f.Value("at"); text != "" {
		at, err := oncall.ParseInstant(text, zone, time.Now())
		if err != nil {
			read.wrong("at", "%s", fault.Public(err))
		}
		body["at"] = at.UTC().Format(time.RFC3339)
	}
	body["assume"], body["application"] = f.Value("assume"), strings.TrimSpace(f.Value("application"))
	var targets []string
	for _, t := range f.Targets {
		targets = append(targets, t.Value)
	}
	for n := len(targets); n > 0 && targets[n-1] == ""; n-- {
		targets = targets[:n-1] // empty targets at the end are not given
	}
	body["targets"] = targets
	if read.problem.Text != "" {
		return refused(read.problem), nil
	}
	var answer struct {
		Warnings   []string          `json:"warnings"`
		Simulation simulation.Report `json:"simulation"`
	}
	err := h.Pages.API(r).Send(http.MethodPost, "/v1/plans/preview", body, &answer)
	if err != nil {
		if refusal, ok := correctable(err); ok {
			return refused(refusal), nil
		}
		return draftView{}, err
	}
	d := draftView{Checked: true, Sim: simulationView{Zone: zone.String()}}
	for _, w := range answer.Warnings {
		d.Warnings = append(d.Warnings, page.Warning{Text: w})
	}
	d.Sim.fill(answer.Simulation, zone, len(f.Steps), s.Repeat)
	return d, nil
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

// save stores the typed plan, and then the settings and the fallback if they changed. Everything is checked before.
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
		h.done(rw, r, saved.Path(), "The plan is saved. Version "+strconv.FormatInt(saved.ID, 10)+" is the active one.", nil)
		return
	}
	refusal, ok := h.Pages.Refused(rw, r, err)
	if !ok {
		return
	}
	if fault.Is(err, fault.Stale) {
		refusal.Text = "Somebody else saved a version of this plan since you opened it. Nothing of yours is stored. Compare it on the page of the plan in another tab. Then save again: your version replaces theirs."
		if p, err := h.named(r, f.Plan); err == nil {
			f.Base = strconv.FormatInt(p.ID, 10)
		}
	}
	h.editor(rw, r, refusal.Status, f, refused(refusal))
}

// store sends the plan to /v1.
func (h Handlers) store(r *http.Request, f form) (saved plan, err error) {
	read := &reader{}
	body, s, fallback := f.content(read), f.settings(read), f.fallback(read)
	api, before, standard := h.Pages.API(r), (*target)(nil), settings{RepageAfter: 3600, ResolvedNotice: map[string]bool{}}
	if f.Plan != "" {
		var now plan
		if err := api.Get(page.Path("/v1/plans/%s", f.Plan), &now); err != nil {
			return saved, err
		}
		before = now.Fallback
		if standard, err = h.settingsOf(r, now); err != nil {
			return saved, err
		}
		if f.Base != "" {
			api = api.IfMatch(strconv.Quote(f.Base))
		}
		err = api.Send(http.MethodPut, page.Path("/v1/plans/%s", f.Plan), body, &saved)
	} else {
		body["name"] = f.Value("name")
		if team := f.Value("team"); team != "" {
			body["team"] = team
		}
		err = api.Send(http.MethodPost, "/v1/plans", body, &saved)
	}
	api = h.Pages.API(r)
	if err == nil && !reflect.DeepEqual(s, standard) {
		err = api.Send(http.MethodPut, page.Path("/v1/plans/%s/settings", saved.Name), s, nil)
	}
	if err == nil && !reflect.DeepEqual(fallback, before) {
		path := page.Path("/v1/plans/%s/fallback", saved.Name)
		if fallback == nil {
			err = api.Send(http.MethodDelete, path, nil, nil)
		} else {
			err = api.Send(http.MethodPut, path, values{"role": fallback.Role, "target": fallback.Name}, nil)
		}
	}
	return saved, err
}

// editor renders the editor, or its part for the script.
func (h Handlers) editor(rw http.ResponseWriter, r *http.Request, status int, f form, d draftView) {
	title, action := "New plan", "/plans/new"
	if f.Plan != "" {
		title, action = "Edit "+f.Plan, page.Path("/plans/%s/edit", f.Plan)
	}
	var roles []struct {
		Name string `json:"name"`
		Kind string `json:"type"`
	}
	if err := h.Pages.API(r).Get("/v0/target_roles", &roles); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	view := editorView{F: f, Action: action, Draft: d, Templates: h.namesOf(r, "templates"), Days: weekdays, Assumptions: assumptions(),
		Yes: []page.Option{{Value: "", Label: "standard"}, {Value: "true", Label: "yes"}, {Value: "false", Label: "no"}}, Modes: []page.Option{{Value: "", Label: "none"}}}
	for _, one := range roles {
		view.Roles = append(view.Roles, role{one.Name, one.Kind, one.Name})
	}
	// The roles that the list of /v0 leaves out.
	view.Roles = append(view.Roles, role{oncall.RoleNextOnCall, "team", oncall.RoleNextOnCall}, role{oncall.RoleRoundRobin, "team", oncall.RoleRoundRobin})
	field := d.Refusal.Field
	view.OpenSettings = field != "" && d.Step == 0 && !slices.Contains([]string{"name", "team", "description", "steps", "at", "assume", "application", "target"}, field)
	view.PreviewZone = page.Zone(r).String()
	for _, p := range users.Priorities {
		view.Priorities = append(view.Priorities, page.Option{Value: string(p), Label: string(p)})
	}
	for _, m := range users.Modes {
		if m != users.Drop {
			view.Modes = append(view.Modes, page.Option{Value: string(m), Label: string(m)})
		}
	}
	view.Teams = append([]page.Option{{Value: "", Label: "no team: only you"}}, h.teamsOf(r, f.Value("team"))...)
	if page.IsRefresh(r) {
		h.Pages.Render(rw, r, http.StatusOK, "plan-editor", view)
		return
	}
	view.Frame = h.Pages.Frame(r, title, "plans")
	view.Modules = []string{"plan.js"}
	h.Pages.Render(rw, r, cmp.Or(status, http.StatusOK), "plan-edit", view)
}

// teamsOf returns the teams that can own a new plan. chosen is among them.
func (h Handlers) teamsOf(r *http.Request, chosen string) []page.Option {
	names := h.namesOf(r, "teams")
	if chosen != "" && !strings.Contains("\n"+strings.Join(names, "\n")+"\n", "\n"+chosen+"\n") {
		names = append(names, chosen)
	}
	return page.Options(names...)
}

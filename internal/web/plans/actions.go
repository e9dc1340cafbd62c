package plans

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/web/page"
)

var errOtherPlan = fault.New(fault.NotFound, "a version of another plan")

type values map[string]any

// done redirects to a page with a message, or shows why a change was refused.
func (h Handlers) done(rw http.ResponseWriter, r *http.Request, to, text string, err error) {
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Sessions.Put(r.Context(), "flash", text)
	http.Redirect(rw, r, to, http.StatusSeeOther)
}

// pause pauses a plan, or lets it go on.
func (h Handlers) pause(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	paused := r.PostFormValue("paused") == "true"
	if err == nil {
		err = h.Pages.API(r).Send(http.MethodPut, page.Path("/v1/plans/%s/paused", p.Name), values{"paused": paused}, nil)
	}
	text := "The plan goes on: its incidents page people again."
	if paused {
		text = "The plan is paused: it pages nobody until it goes on."
	}
	h.done(rw, r, p.Path(), text, err)
}

// retire deletes a plan. Its versions stay. A plan that is in use is deleted only with force.
func (h Handlers) retire(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	path := page.Path("/v1/plans/%s", p.Name)
	if r.PostFormValue("force") == "true" {
		path += "?force=true"
	}
	h.done(rw, r, p.Path(), "The plan is retired: no incident can use it. Its versions stay, and you can make one active again.",
		h.Pages.API(r).Send(http.MethodDelete, path, nil, nil))
}

// activate makes an older version the active one.
func (h Handlers) activate(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	if err == nil {
		err = h.Pages.API(r).Send(http.MethodPost, page.Path("/v1/plans/%s/versions/%s/activate", p.Name, p.ID), values{}, nil)
	}
	h.done(rw, r, p.Path(), fmt.Sprintf("Version %d is the active one now.", p.ID), err)
}

type testView struct {
	page.Frame
	P          plan
	Priorities []string
	Refusal    page.Refusal
}

// priorities returns the priorities of the first step, each once.
func (p plan) priorities() []string {
	var out []string
	if len(p.Steps) > 0 {
		for _, n := range p.Steps[0] {
			if !slices.Contains(out, n.Priority) {
				out = append(out, n.Priority)
			}
		}
	}
	return out
}

// askTest says what a test does before it is sent.
func (h Handlers) askTest(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "plan-test", testView{Frame: h.Pages.Frame(r, "Test "+p.Name, "plans"), P: p, Priorities: p.priorities()})
}

// test sends one message for each priority of the first step to the reader, and to nobody else.
func (h Handlers) test(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	me := page.Reader(r).Name
	for _, priority := range p.priorities() {
		subject := fmt.Sprintf("TEST of plan %s, priority %s", p.Name, priority)
		body := fmt.Sprintf("This is a test that %s started. There is no incident, and nobody else was paged. The first step of plan %s pages with priority %s; this is how such a page reaches you.",
			me, p.Name, priority)
		err = h.Pages.API(r).Send(http.MethodPost, "/v1/notifications", values{"targets": []target{{"user", me}}, "subject": subject, "body": body, "priority": priority}, nil)
		if err != nil {
			break
		}
	}
	if err == nil {
		h.done(rw, r, p.Path(), "The test is on its way to you. Nobody else gets it.", nil)
		return
	}
	refusal, ok := h.Pages.Refused(rw, r, err)
	if ok {
		h.Pages.Render(rw, r, refusal.Status, "plan-test", testView{Frame: h.Pages.Frame(r, "Test "+p.Name, "plans"), P: p, Priorities: p.priorities(), Refusal: refusal})
	}
}

// namesOf returns the names of a list of /v1, for suggestions.
func (h Handlers) namesOf(r *http.Request, list string) []string {
	var found page.Listed[struct {
		Name string `json:"name"`
	}]
	if h.Pages.API(r).Get("/v1/"+list+"?"+url.Values{"limit": {"200"}}.Encode(), &found) != nil {
		return nil // suggestions are a convenience
	}
	names := make([]string, len(found.Items))
	for i, item := range found.Items {
		names[i] = item.Name
	}
	slices.Sort(names)
	return names
}

package pages

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// ChangeRoutes mounts the forms. The operations refuse people who are not administrators.
func (h SystemPages) ChangeRoutes(r chi.Router) {
	r.Post("/system/members/{process}/draining", h.drain)
	r.Post("/system/pauses", h.pause)
	r.Post("/system/pauses/end", h.endPause)
	r.Post("/system/applications", h.pauseApplication)
	r.Post("/system/purge", h.purge)
}

// formsView is what the forms of a tab show.
type formsView struct {
	Refusal      page.Refusal
	Typed        url.Values // of the form that was refused
	Modes        []page.Option
	Pausable     []page.Option // keys of modes and accounts
	Minutes      []page.Option
	Applications []string // names, for suggestions
}

// Value returns what was typed into a field.
func (f formsView) Value(name string) string { return f.Typed.Get(name) }

func (h SystemPages) forms(r *http.Request, data any, refusal page.Refusal) formsView {
	f := formsView{Refusal: refusal, Typed: url.Values{}, Modes: page.OptionsOr("any mode", users.ContactModes...),
		Minutes: []page.Option{{Value: "15", Label: "15 minutes"}, {Value: "60", Label: "1 hour"},
			{Value: "240", Label: "4 hours"}, {Value: "1440", Label: "24 hours"}}}
	if refusal.Text != "" {
		f.Typed = page.Typed(r)
	}
	switch v := data.(type) {
	case vendorsView:
		for _, mode := range users.ContactModes {
			f.Pausable = append(f.Pausable, page.Option{Value: "mode:" + string(mode), Label: "all " + string(mode)})
		}
		for _, a := range v.Items {
			if o := (page.Option{Value: "account:" + a.Vendor + "/" + a.Account, Label: strings.TrimSuffix(a.Vendor+"/"+a.Account, "/")}); !slices.Contains(f.Pausable, o) {
				f.Pausable = append(f.Pausable, o)
			}
		}
		f.Applications = pagescatalog.ApplicationNames(r, h.Applications)
	case queuesView:
		f.Applications = pagescatalog.ApplicationNames(r, h.Applications)
	}
	return f
}

// done shows the reader the result of a form, or the tab again with the reason of the refusal.
func (h SystemPages) done(rw http.ResponseWriter, r *http.Request, tab, text string, err error) {
	h.Pages.Finish(rw, r, text, systemAddress+"?tab="+tab, err, func(refusal page.Refusal) {
		again := r.Clone(r.Context()) // the tab refreshes itself at its own address
		again.URL = &url.URL{Path: systemAddress, RawQuery: "tab=" + tab}
		h.render(rw, again, tab, refusal)
	})
}

func (h SystemPages) drain(rw http.ResponseWriter, r *http.Request) {
	draining := r.PostFormValue("draining") == "true"
	text := "The processor takes buckets again."
	if draining {
		text = "The processor gives its buckets to the others."
	}
	_, err := h.System.Drain.Do(r.Context(), page.Actor(r),
		system.Draining{Process: wire.Param(r, "process"), Body: system.Drain{Draining: draining}})
	h.done(rw, r, "members", text, err)
}

func (h SystemPages) pause(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	minutes, _ := strconv.ParseInt(form.Get("minutes"), 10, 32) // the operation refuses 0
	key := form.Get("key")
	_, err := h.System.Pause.Do(r.Context(), page.Actor(r),
		system.Pausing{Key: key, Body: system.NewPause{Seconds: 60 * minutes, Reason: form.Get("reason")}})
	h.done(rw, r, "vendors", key+" is paused.", err)
}

func (h SystemPages) endPause(rw http.ResponseWriter, r *http.Request) {
	key := page.Typed(r).Get("key")
	_, err := h.System.Resume.Do(r.Context(), page.Actor(r), system.Resuming{Key: key})
	h.done(rw, r, "vendors", key+" is resumed.", err)
}

func (h SystemPages) pauseApplication(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	paused, name := form.Get("paused") == "true", form.Get("application")
	text := "Application " + name + " is resumed."
	if paused {
		text = "Application " + name + " is paused: its incidents and messages wait."
	}
	_, err := h.Applications.Pause.Do(r.Context(), page.Actor(r), catalog.ApplicationPausing{
		OneApplication: catalog.OneApplication{Application: name}, Body: catalog.Pause{Paused: paused}})
	h.done(rw, r, "vendors", text, err)
}

func (h SystemPages) purge(rw http.ResponseWriter, r *http.Request) {
	in, err := page.Decode[struct {
		system.Purge
		Minutes int64 `json:"minutes"`
	}](r)
	if err == nil && r.PostFormValue("incident_id") != "" && in.IncidentID < 1 {
		err = fault.Invalidf("incident_id", "incident_id must be the number of an incident")
	}
	var out system.Purged
	if err == nil {
		in.OlderThan = 60 * min(max(in.Minutes, -1), mostMinutes)
		out, err = h.System.Purge.Do(r.Context(), page.Actor(r), in.Purge)
	}
	text := humanize.Count(out.Dropped, "message was", "messages were") + " dropped."
	if out.More {
		text += " There are more: drop again."
	}
	h.done(rw, r, "queues", text, err)
}

// mostMinutes keeps seconds within an int64; the operation refuses so many, and negative ones.
const mostMinutes = math.MaxInt64 / 60

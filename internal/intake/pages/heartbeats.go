package pages

import (
	"cmp"
	"net/http"
	"time"

	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// beat is a heartbeat as its page shows it.
type beat struct{ integrations.Heartbeat }

func beatsOf(all []integrations.Heartbeat) []beat {
	out := make([]beat, len(all))
	for k, b := range all {
		out[k] = beat{b}
	}
	return out
}

// oneBeatOf names the heartbeat of the address of r.
func oneBeatOf(r *http.Request) integrations.OneHeartbeat {
	return integrations.OneHeartbeat{One: oneOf(r), Heartbeat: page.Storable(wire.Param(r, "heartbeat"))}
}

// Href is the address of the heartbeat's page.
func (b beat) Href() string {
	return page.Path("/integrations/%s/heartbeats/%s", b.Integration, b.Name)
}

// IntegrationHref is the address of the page of the heartbeat's integration.
func (b beat) IntegrationHref() string { return href(b.Integration) }

// Health is the state in words.
func (b beat) Health() health {
	switch b.State {
	case heartbeats.Missed:
		if b.Failure != "" {
			return health{Text: "failed", Kind: "bad"}
		}
		return health{Text: "late", Kind: "bad"}
	case heartbeats.Waiting:
		return health{Text: "never seen", Kind: "info"}
	case heartbeats.Off:
		return health{Text: "switched off", Kind: "warn"}
	}
	return health{Text: "on time", Kind: "good"}
}

// EveryText and GraceText are the periods in words.
func (b beat) EveryText() string { return page.Period(b.EverySeconds) }

// LastRunText is how long the last run took; "" = none has ended.
func (b beat) LastRunText() string { return took(b.LastRun) }

// took is a time in words, in whole seconds, or in milliseconds if it is shorter.
func took(seconds *float64) string {
	if seconds == nil {
		return ""
	}
	d := time.Duration(*seconds * float64(time.Second))
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return page.Period(int64(d.Round(time.Second) / time.Second))
}

// runRow is a run as the page of the heartbeat shows it.
type runRow struct{ integrations.Run }

// RunRows are the latest runs.
func (b beat) RunRows() []runRow {
	out := make([]runRow, len(b.Runs))
	for k, r := range b.Runs {
		out[k] = runRow{r}
	}
	return out
}

// Took is how long the run took; "" = it has not ended.
func (r runRow) Took() string { return took(r.Seconds) }

// Health is the outcome in words.
func (r runRow) Health() health {
	kind := map[heartbeats.Outcome]string{heartbeats.Running: "info", heartbeats.Succeeded: "good"}[r.Outcome]
	return health{Text: string(r.Outcome), Kind: cmp.Or(kind, "bad")}
}

// GraceText is how much later a ping may come.
func (b beat) GraceText() string { return page.Period(b.GraceSeconds) }

type beatsView struct {
	page.Frame
	Tabs []page.Tab
	Rows []beat
	More string // address of the next rows; "" = there are none
}

// heartbeats shows the heartbeats of all integrations.
func (h Handlers) heartbeats(rw http.ResponseWriter, r *http.Request) {
	found, err := h.Integrations.Heartbeats.List.Do(r.Context(), page.Actor(r),
		operation.Paging{Limit: page.ListLength, Cursor: r.URL.Query().Get("after")})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := beatsView{Frame: h.Pages.Frame(r, "Heartbeats", "integrations"), Tabs: tabs("/heartbeats"), Rows: beatsOf(found.Items)}
	if found.Next != nil {
		v.More = page.Query("/heartbeats", "after", *found.Next)
	}
	h.Pages.Render(rw, r, http.StatusOK, "heartbeats", v)
}

// beatView has the typed periods as texts, so that a refused form keeps them.
type beatView struct {
	page.Frame
	B            beat
	New          bool
	May          bool // the reader may change the heartbeat
	ETag         string
	Every, Grace string
	Refusal      page.Refusal
	Severities   []page.Option
	Plans        []string // suggestions
	Address      string   // with the place of the token
	Command      string
	Signals      bool // the address takes signals
}

// newHeartbeat shows the form for a further heartbeat.
func (h Handlers) newHeartbeat(rw http.ResponseWriter, r *http.Request) {
	i, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.showBeat(rw, r, i, beatView{New: true, B: beat{integrations.Heartbeat{Integration: i.Name, Enabled: true}},
		Every: "24h", Grace: "1h"})
}

// heartbeat shows a heartbeat with the command that calls it, and the form that changes it.
func (h Handlers) heartbeat(rw http.ResponseWriter, r *http.Request) {
	v := beatView{}
	i, err := h.read(r)
	if err == nil {
		v.B.Heartbeat, err = h.Integrations.Heartbeats.Get.Do(r.Context(), page.Actor(r), oneBeatOf(r))
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.ETag, v.Every, v.Grace = page.ETag(v.B), v.B.EveryText(), v.B.GraceText()
	h.showBeat(rw, r, i, v)
}

func (h Handlers) showBeat(rw http.ResponseWriter, r *http.Request, i integration, v beatView) {
	title := "Add a heartbeat"
	v.Plans = pagescatalog.PlanNames(r, h.Plans)
	if !v.New {
		title, v.Address = v.B.Name, h.ping(i, v.B.Name)
		v.Command, v.Signals = "curl -fsS --retry 5 "+v.Address, i.Type == intake.Heartbeat
		if i.Type == intake.Opsgenie {
			v.Command = `curl -fsS --retry 5 -H "Authorization: GenieKey TOKEN" ` + v.Address
		}
	}
	v.Severities = severities("that of the integration, else error")
	v.Frame = h.Pages.Frame(r, title, "integrations")
	v.May = i.MayEdit && !v.ReadOnly
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "heartbeat", v)
}

// ping is the address that the program calls, with TOKEN in place of the token.
func (h Handlers) ping(i integration, name string) string {
	if i.Type == intake.Opsgenie {
		return h.PublicURL + page.Path("/v2/heartbeats/%s/ping", name)
	}
	_, address := intake.Address(i.Type, "TOKEN")
	return h.PublicURL + address + page.Path("/%s", name)
}

// addHeartbeat adds a heartbeat.
func (h Handlers) addHeartbeat(rw http.ResponseWriter, r *http.Request) {
	h.storeBeat(rw, r, beatView{New: true}, page.Typed(r).Get("name"))
}

// saveHeartbeat stores the typed settings of a heartbeat.
func (h Handlers) saveHeartbeat(rw http.ResponseWriter, r *http.Request) {
	h.storeBeat(rw, r, beatView{ETag: page.Typed(r).Get("etag")}, oneBeatOf(r).Heartbeat)
}

func (h Handlers) storeBeat(rw http.ResponseWriter, r *http.Request, v beatView, name string) {
	i, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	now := ""
	if !v.New {
		// If it is gone, the change is refused too.
		if stored, err := h.Integrations.Heartbeats.Get.Do(r.Context(), page.Actor(r), oneBeatOf(r)); err == nil {
			v.B.Heartbeat, now = stored, page.ETag(stored)
		}
	}
	b, form := &v.B.Heartbeat, page.Typed(r)
	b.Integration, b.Name, b.Description, b.Enabled = i.Name, name, form.Get("description"), form.Get("enabled") != ""
	b.Plan, b.Severity = operation.Text(form.Get("plan")), operation.Text(form.Get("severity"))
	v.Every, v.Grace = form.Get("every_seconds"), form.Get("grace_seconds")
	h.Pages.Finish(rw, r, "The heartbeat is stored.", v.B.Href(), h.sendBeat(r, v), func(refusal page.Refusal) {
		v.Refusal, v.ETag = refusal, refusal.Tag(v.ETag, now)
		h.showBeat(rw, r, i, v)
	})
}

func (h Handlers) sendBeat(r *http.Request, v beatView) error {
	every, err := page.Seconds("every_seconds", v.Every)
	if err != nil {
		return err
	}
	grace, err := page.Seconds("grace_seconds", v.Grace)
	if err != nil {
		return err
	}
	in := integrations.HeartbeatEdit{State: operation.State{IfMatch: v.ETag},
		OneHeartbeat: integrations.OneHeartbeat{One: oneOf(r), Heartbeat: v.B.Name},
		Body: integrations.HeartbeatContent{EverySeconds: every, GraceSeconds: grace, Plan: v.B.Plan, Severity: v.B.Severity,
			Description: operation.Text(v.B.Description), Enabled: &v.B.Enabled}}
	if v.New {
		if v.B.Name == "" {
			return fault.Invalidf("name", "the heartbeat needs a name")
		}
		in.IfNoneMatch = "*"
	}
	_, err = h.Integrations.Heartbeats.Replace.Do(r.Context(), page.Actor(r), in)
	if v.New {
		err = nameInUse(err, "a heartbeat", v.B.Name)
	}
	return err
}

// removeHeartbeat deletes a heartbeat.
func (h Handlers) removeHeartbeat(rw http.ResponseWriter, r *http.Request) {
	_, err := h.Integrations.Heartbeats.Delete.Do(r.Context(), page.Actor(r),
		integrations.HeartbeatRemoval{OneHeartbeat: oneBeatOf(r)})
	h.acted(rw, r, err, "The heartbeat is removed. Its incidents stay.")
}

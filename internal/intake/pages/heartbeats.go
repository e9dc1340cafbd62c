package pages

import (
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// beat is a heartbeat of /v1.
type beat struct {
	Integration string    `json:"integration"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Every       int       `json:"every_seconds"`
	Grace       int       `json:"grace_seconds"`
	Plan        string    `json:"plan"`
	Severity    string    `json:"severity"`
	Enabled     bool      `json:"enabled"`
	State       string    `json:"state"`
	LastPingAt  time.Time `json:"last_ping_at"`
	Deadline    time.Time `json:"deadline"`
	MissedAt    time.Time `json:"missed_at"`
	Incident    int64     `json:"incident_id"`
	CreatedBy   string    `json:"created_by"`
	CreatedAt   time.Time `json:"created_at"`
}

// Href is the address of the heartbeat's page.
func (b beat) Href() string {
	return page.Path("/integrations/%s/heartbeats/%s", b.Integration, b.Name)
}

// Path is the path of the heartbeat's API.
func (b beat) Path() string {
	return page.Path("/v1/integrations/%s/heartbeats/%s", b.Integration, b.Name)
}

// IntegrationHref is the address of the page of the heartbeat's integration.
func (b beat) IntegrationHref() string { return integration{Name: b.Integration}.Href() }

// Health is the state in words.
func (b beat) Health() health {
	switch b.State {
	case "missed":
		return health{Text: "late", Kind: "bad"}
	case "waiting":
		return health{Text: "never seen", Kind: "info"}
	case "off":
		return health{Text: "switched off", Kind: "warn"}
	}
	return health{Text: "on time", Kind: "good"}
}

// EveryText and GraceText are the periods in words.
func (b beat) EveryText() string { return page.Period(int64(b.Every)) }

// GraceText is how much later a ping may come.
func (b beat) GraceText() string { return page.Period(int64(b.Grace)) }

type beatsView struct {
	page.Frame
	Tabs []page.Tab
	Rows []beat
	More string // address of the next rows; "" = there are none
}

// heartbeats shows the heartbeats of all integrations.
func (h Handlers) heartbeats(rw http.ResponseWriter, r *http.Request) {
	var found page.Listed[beat]
	if err := h.Pages.API(r).Get(page.Query("/v1/heartbeats", "limit", listLength, "cursor", r.URL.Query().Get("after")), &found); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := beatsView{Frame: h.Pages.Frame(r, "Heartbeats", "integrations"), Tabs: tabs("/heartbeats"), Rows: found.Items}
	if found.Next != "" {
		v.More = page.Query("/heartbeats", "after", found.Next)
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
}

// newHeartbeat shows the form for a further heartbeat.
func (h Handlers) newHeartbeat(rw http.ResponseWriter, r *http.Request) {
	i, _, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.showBeat(rw, r, i, beatView{New: true, B: beat{Integration: i.Name, Enabled: true}, Every: "24h", Grace: "1h"})
}

// heartbeat shows a heartbeat with the command that calls it, and the form that changes it.
func (h Handlers) heartbeat(rw http.ResponseWriter, r *http.Request) {
	v := beatView{}
	i, _, err := h.read(r)
	if err == nil {
		v.ETag, err = h.Pages.API(r).Read(beat{Integration: i.Name, Name: wire.Param(r, "heartbeat")}.Path(), &v.B)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Every, v.Grace = v.B.EveryText(), v.B.GraceText()
	h.showBeat(rw, r, i, v)
}

func (h Handlers) showBeat(rw http.ResponseWriter, r *http.Request, i integration, v beatView) {
	title := "Add a heartbeat"
	v.Plans = h.Pages.API(r).Names("/v1/plans")
	if !v.New {
		title, v.Address = v.B.Name, h.ping(i, v.B.Name)
		v.Command = "curl -fsS --retry 5 " + v.Address
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
	h.storeBeat(rw, r, beatView{New: true, B: beat{Name: page.Typed(r).Get("name")}})
}

// saveHeartbeat stores the typed settings of a heartbeat.
func (h Handlers) saveHeartbeat(rw http.ResponseWriter, r *http.Request) {
	h.storeBeat(rw, r, beatView{ETag: page.Typed(r).Get("etag"), B: beat{Name: wire.Param(r, "heartbeat")}})
}

func (h Handlers) storeBeat(rw http.ResponseWriter, r *http.Request, v beatView) {
	i, _, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	b, form := &v.B, page.Typed(r)
	b.Integration, b.Description, b.Plan, b.Severity, b.Enabled = i.Name, form.Get("description"), form.Get("plan"), form.Get("severity"), form.Get("enabled") != ""
	v.Every, v.Grace = form.Get("every_seconds"), form.Get("grace_seconds")
	now := ""
	if !v.New {
		now, _ = h.Pages.API(r).Read(b.Path(), nil) // if it is gone, the change is refused too
	}
	h.Pages.Finish(rw, r, "The heartbeat is stored.", b.Href(), h.sendBeat(r, v), func(refusal page.Refusal) {
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
	api := h.Pages.API(r).IfMatch(v.ETag)
	if v.New {
		if v.B.Name == "" {
			return fault.Invalidf("name", "the heartbeat needs a name")
		}
		api = api.New()
	}
	err = api.Send(http.MethodPut, v.B.Path(), map[string]any{"description": v.B.Description, "every_seconds": every,
		"grace_seconds": grace, "plan": v.B.Plan,
		"severity": v.B.Severity, "enabled": v.B.Enabled}, nil)
	if v.New {
		err = nameInUse(err, "a heartbeat", v.B.Name)
	}
	return err
}

// removeHeartbeat deletes a heartbeat.
func (h Handlers) removeHeartbeat(rw http.ResponseWriter, r *http.Request) {
	h.act(rw, r, http.MethodDelete, page.Path("/heartbeats/%s", wire.Param(r, "heartbeat")), nil,
		"The heartbeat is removed. Its incidents stay.")
}
